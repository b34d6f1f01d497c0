// SPDX-License-Identifier: BSD-3-Clause
// The directories in which the hosts of a job keep its generations. They have one path; whether
// they are one directory is found out while the job starts (launcher/saving/mark.h).
//
// Where they are not, each host keeps the images of its own ranks, the next one has copies of them,
// and every directory has the manifest and the plan. Hosts that share a directory have one of them
// act for all. A generation is valid when the launcher's directory has it; the others have written
// all of theirs before, and change its name afterwards.
//
//   Begin ── Measure ── Copy ── Keep ── (the launcher's directory) ── Commit
//     └─────────┴────────┴───────┴── Drop
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/store/manifest.h"
#include "launcher/plan/plan.h"
#include "launcher/saving/mark.h"
#include "launcher/wire/messages.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class HostStores {
 public:
  using Send = std::function<void(std::uint32_t rank, const wire::StoreWord& word)>;
  // Is told what has become of what was begun. One thing at a time is under way.
  using Done = std::function<void(Status)>;
  using Say = std::function<void(const std::string& sentence)>;

  // `plan` must outlive it. `send` tells the node of a rank, `say` the user.
  HostStores(const Plan& plan, Send send, Say say);

  // Marks the launcher's directory; mark() is then what hosts are told to look for.
  Status Open(int directory);
  const std::string& mark() const { return name_; }
  // Takes what the node of a rank says.
  void Take(std::uint32_t rank, const wire::StoreWord& word);
  // The host is lost, and what is under way with it.
  void Lost(std::uint32_t host);

  // Every host has said what it has.
  bool known() const { return known_; }
  // Says why a host has no directory. Ok: all have one, as far as is known.
  const Status& fit() const { return fit_; }
  // Hosts have directories of their own. Needs known().
  bool apart() const { return apart_; }
  // The host of this rank has the launcher's directory.
  bool IsShared(std::uint32_t rank) const;

  // These do what has to be done in directories that are not the launcher's.
  void Begin(Epoch epoch, Done done);
  // Adds the files of all images to the manifest, which must stay where it is.
  void Measure(checkpoint::Manifest* manifest, Done done);
  // Has the next host write copies of the images, which are compared with the manifest.
  void Copy(const checkpoint::Manifest& manifest, Done done);
  void Keep(const checkpoint::Manifest& manifest, const std::string& plan, Done done);
  void Commit(Epoch epoch, Done done);
  // Has hosts copy their images into the generation that was begun in the directory `path`.
  void Forward(Epoch epoch, const std::string& path, Done done);
  void Drop();
  // Finds the images of the generation that the job goes on from, has each sent to where its rank
  // goes, and tells the hosts that they may go on.
  void Find(const checkpoint::Manifest& manifest, const std::string& plan, Done done);

 private:
  struct Store {
    std::uint32_t first = 0;           // who has marked it
    std::uint32_t host = 0;            // acts for it
    std::vector<std::uint32_t> ranks;  // of its hosts
    std::set<std::uint32_t> images;    // that it has
  };
  bool IsLaunchers(const Store& store) const { return store.first == wire::StoreWord::kLauncher; }
  void TakeHere(std::uint32_t host, const wire::StoreWord& word);
  void MakeStores();
  std::uint32_t AnyRankOf(std::uint32_t host) const;
  const Store& StoreOf(std::uint32_t rank) const {
    return stores_[store_of_.at(plan_.ranks[rank].host)];
  }
  void Ask(std::vector<std::pair<std::uint32_t, wire::StoreWord>> words, Done done);
  // Does so with the stores that are not the launcher's.
  void AskOthers(const wire::StoreWord& word, Done done);
  void Answered(Status status);
  Status WhoIsLost() const;
  // An image, and the rank to whose node it goes.
  struct Transfer {
    std::uint32_t rank = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  void SendImages(const checkpoint::Manifest& manifest, const std::vector<Transfer>& transfers,
                  Done done);
  Status CheckImage(std::uint32_t rank, const std::vector<wire::StoreWord::File>& files) const;
  void PassOn(std::uint32_t rank, const wire::StoreWord& word) const;
  void Found(const checkpoint::Manifest& manifest, const std::string& plan, Done done);

  const Plan& plan_;
  const Send send_;
  const Say say_;
  std::string name_;
  std::unique_ptr<Mark> mark_;                     // until all have come
  std::map<std::uint32_t, std::uint32_t> firsts_;  // by host that has answered
  std::set<std::uint32_t> hosts_;                  // those that have ranks
  std::vector<Store> stores_;                      // once known()
  std::map<std::uint32_t, std::size_t> store_of_;  // by host
  bool known_ = false;
  bool apart_ = false;
  Status fit_;
  std::set<std::uint32_t> lost_;
  std::size_t awaited_ = 0;  // answers
  Status outcome_;           // the first of them that was bad
  Done done_;
  checkpoint::Manifest* measured_ = nullptr;
  std::set<std::uint32_t> sent_;                   // images that are on their way
  std::vector<checkpoint::Manifest::Part> parts_;  // what they must be
};

}  // namespace lamina::launcher
