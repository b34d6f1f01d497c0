// SPDX-License-Identifier: BSD-3-Clause
// The cards of other processes: how each is reached, and whether it is fit to be spoken to.
//
// A card is checked when it is read. A peer that runs another version of the library, or that would
// choose other algorithms, is refused here with a message that says what to change.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/p2p/carriers.h"
#include "runtime/p2p/peer_table.h"

namespace lamina::p2p {

class Cards {
 public:
  // `bootstrap` is null in a process that nobody started; then there is no other process.
  Cards(PeerId self, const Carriers& carriers, const PeerTable& peers,
        bootstrap::Bootstrap* bootstrap)
      : self_(self), carriers_(carriers), peers_(peers), bootstrap_(bootstrap) {}

  // Sets what all ranks must have in common so that they choose the same algorithms: the components
  // loaded from outside the library, and the settings of collectives. Precedes Publish().
  void SetAgreed(std::string components, std::string settings) {
    components_ = std::move(components);
    settings_ = std::move(settings);
  }
  // Publishes this process's card, with one address for each carrier.
  Status Publish();
  // The card of `peer`. Waits until the peer has published it. kInvalid: it does not fit ours.
  Result<bootstrap::Card> Of(PeerId peer);
  // The same as bytes, to be told to others. Waits likewise.
  Result<std::vector<std::byte>> BytesOf(PeerId peer);
  // Reads a card. kInvalid: it is damaged, or does not fit ours.
  Result<bootstrap::Card> Read(std::span<const std::byte> bytes, bool of_other_job) const;

 private:
  Status Check(const bootstrap::Card& card, bool of_other_job) const;
  bootstrap::Card Own() const;

  const PeerId self_;
  const Carriers& carriers_;
  const PeerTable& peers_;
  bootstrap::Bootstrap* const bootstrap_;
  std::string components_;
  std::string settings_;
};

}  // namespace lamina::p2p
