// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/resting_lanes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runtime/p2p/header.h"

namespace lamina::p2p {
namespace {

// An endpoint that has no room for anything.
class ClosedEndpoint final : public transport::Endpoint {
 public:
  transport::EndpointCaps caps() const override { return {}; }
  Code SendShort(const transport::Frame&) override { return Code::kAgain; }
  Code SendZeroCopy(const transport::Frame&, transport::Completion*) override {
    return Code::kAgain;
  }
  Code Get(const transport::Region&, std::uint64_t, std::span<std::byte>,
           transport::Completion*) override {
    return Code::kAgain;
  }
  transport::OneSided* one_sided() override { return nullptr; }
};

// It is never deleted, because a lane that was lost may point to it until the process ends.
transport::Endpoint* TheClosedEndpoint() {
  static ClosedEndpoint* const endpoint = new ClosedEndpoint;
  return endpoint;
}

}  // namespace

void RestingLanes::Close(std::uint32_t epoch, std::span<const std::uint32_t> ended) {
  epoch_ = epoch;
  markers_sent_ = 0;
  const auto has_ended = [&](PeerId peer) {
    return std::find(ended.begin(), ended.end(), Index(peer)) != ended.end();
  };
  lanes_.closed_ = TheClosedEndpoint();
  for (const auto& lane : lanes_.storage_) {
    lane->fast_bytes_max = -1;
    if (lane->lost || lane->owned == nullptr) continue;
    lane->endpoint = lanes_.closed_;
    if (!has_ended(lane->peer)) unmarked_.push_back(lane.get());
  }
}

bool RestingLanes::SendMarkers() {
  for (std::size_t at = 0; at < unmarked_.size();) {
    const Code code = unmarked_[at]->owned->SendShort({PackToken(FrameKind::kMarker, epoch_), {}});
    if (code == Code::kOk) ++markers_sent_;
    if (code == Code::kAgain) {
      ++at;
    } else {
      unmarked_[at] = unmarked_.back();
      unmarked_.pop_back();
    }
  }
  return unmarked_.empty();
}

void RestingLanes::Disconnect() {
  unmarked_.clear();
  lanes_.losses_at_rest_.clear();
  for (const auto& lane : lanes_.storage_) lane->owned.reset();
}

void RestingLanes::Reopen() {
  unmarked_.clear();
  lanes_.closed_ = nullptr;
  lanes_.stale_ = 0;
  for (const auto& lane : lanes_.storage_) {
    if (lane->lost) continue;
    lane->endpoint = lane->owned.get();
    if (lane->endpoint == nullptr) {
      ++lanes_.stale_;
      lanes_.lanes_[Index(lane->peer)] = nullptr;
      continue;
    }
    lane->caps = lane->endpoint->caps();
    if (lane->waiting_head == nullptr) lane->fast_bytes_max = lane->caps.eager_bytes_max;
  }
  const std::vector<Lane*> listed = lanes_.waiting_lanes_;
  for (const Lane* lane : listed) lanes_.To(lane->peer);
  for (Lanes::Loss& loss : std::exchange(lanes_.losses_at_rest_, {}))
    lanes_.inbox_.Lost(loss.peer, std::move(loss.why));
}

}  // namespace lamina::p2p
