// SPDX-License-Identifier: BSD-3-Clause
// A node's part in keeping the generations of a job where each host has a directory of its own: it
// does what the launcher says (wire::StoreWord) to the directory of its host.
//
// Where nodes share a directory, one of them is told what concerns all of them.
//
// Images go from node to node by way of the launcher, in pieces. So many bytes as were written on
// the other side may follow, so nothing gathers.
//
// Threads: the event loop's. What waits for a disk is done aside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/store/claim.h"
#include "checkpoint/store/generation.h"
#include "launcher/saving/aside.h"
#include "launcher/saving/image_sender.h"
#include "launcher/saving/mark.h"
#include "launcher/wire/messages.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

struct event_base;

namespace lamina::launcher {

class NodeStore {
 public:
  struct Outlets {
    std::function<void(const wire::StoreWord& word)> say;  // to the launcher
    // Returns why what was saved in these folders cannot be revived together; "": it can. It is
    // called in another thread.
    std::function<std::string(std::span<const int> folders)> torn;
    std::function<void()> complete;  // the images of all ranks of the node are there
  };
  static Result<std::unique_ptr<NodeStore>> Open(event_base* loop, Outlets outlets);
  ~NodeStore();
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;

  // Looks who shares the directory, claims it if it is not the launcher's, and says so.
  void SayHere(const std::string& path, const std::string& mark, std::uint32_t host);
  // All hosts have come.
  void EndMark() { mark_.reset(); }
  void Take(const wire::StoreWord& word);

 private:
  explicit NodeStore(Outlets outlets) : outlets_(std::move(outlets)) {}
  Status LeaveMark(const std::string& path, const std::string& mark, std::uint32_t host);
  void TakePiece(const wire::StoreWord& word);
  Status Write(const wire::StoreWord& word) const;
  // These are done aside.
  wire::StoreWord Do(const wire::StoreWord& word);
  Status Begin(const wire::StoreWord& word);
  Status Measure(const wire::StoreWord& word, wire::StoreWord* answer);
  Status Keep(const wire::StoreWord& word);
  Status Commit();
  Status Forward(const wire::StoreWord& word) const;
  Status Fetch(const wire::StoreWord& word);
  void Look(const wire::StoreWord& word, wire::StoreWord* answer);
  Status OpenSaved(const wire::StoreWord& word, Descriptor* folder);
  Result<Descriptor> OpenEither(std::uint32_t generation) const;
  Status EndImage(const wire::StoreWord& word, wire::StoreWord* answer);

  const Outlets outlets_;
  Descriptor directory_;
  checkpoint::Claim claim_;  // taken aside
  std::unique_ptr<Mark> mark_;
  std::unique_ptr<ImageSender> sender_;
  std::set<std::uint32_t> spoilt_;  // ranks whose images could not be written here
  std::unique_ptr<checkpoint::Generation> generation_;  // what is being written; used aside alone
  Epoch since_{};                                       // the first of the job; likewise
  bool prepared_ = false;                               // it may be valid already; likewise
  std::unique_ptr<Aside> aside_;                        // ends before the others
};

}  // namespace lamina::launcher
