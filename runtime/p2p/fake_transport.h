// SPDX-License-Identifier: BSD-3-Clause
// A transport for tests of single parts: it remembers what it was given, and takes no more than it
// is told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transports/transport.h"

namespace lamina::p2p {

// What one transport saw, shared by its endpoints. Outlives both.
struct FakeRoad {
  struct Sent {
    PeerId to;
    transport::Header header;
    std::vector<std::byte> payload;
  };
  std::vector<Sent> sent;
  int room = 1000;  // frames it still takes
  std::uint64_t get_bytes_max = 0;
  bool lends = false;                        // takes zero copy
  std::vector<transport::Completion*> lent;  // not over yet
  std::vector<std::uint64_t> got;            // offsets that Get was asked for
  std::uint32_t events = 0;                  // what the next Progress finds
  bool reaches = true;                       // Connect succeeds
  bool has_ended = false;                    // its process, so that Connect fails
  bool drained = true;
  int woken = 0;
};

class FakeEndpoint final : public transport::Endpoint {
 public:
  FakeEndpoint(FakeRoad* road, PeerId peer) : road_(road), peer_(peer) {}
  transport::EndpointCaps caps() const override {
    return {.short_bytes_max = 256,
            .eager_bytes_max = 64,
            .zero_copy_bytes_max = road_->lends ? UINT64_MAX : 0,
            .get_bytes_max = road_->get_bytes_max};
  }
  Code SendShort(const transport::Frame& frame) override {
    if (road_->room == 0) return Code::kAgain;
    --road_->room;
    road_->sent.push_back({peer_, frame.header, {frame.payload.begin(), frame.payload.end()}});
    return Code::kOk;
  }
  Code SendZeroCopy(const transport::Frame&, transport::Completion* done) override {
    if (!road_->lends) return Code::kAgain;
    road_->lent.push_back(done);
    return Code::kOk;
  }
  Code Get(const transport::Region& from, std::uint64_t offset, std::span<std::byte> into,
           transport::Completion* done) override {
    const auto* source = reinterpret_cast<const std::byte*>(from.address);
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = source[offset + i];
    road_->got.push_back(offset);
    done->done(done, Code::kOk);
    return Code::kOk;
  }
  transport::OneSided* one_sided() override { return nullptr; }

 private:
  FakeRoad* const road_;
  const PeerId peer_;
};

class FakeTransport final : public transport::Transport {
 public:
  explicit FakeTransport(FakeRoad* road) : road_(road) {}
  Result<std::vector<std::byte>> LocalAddress() override { return std::vector<std::byte>(4); }
  Result<std::unique_ptr<transport::Endpoint>> Connect(PeerId peer,
                                                       std::span<const std::byte>) override {
    if (road_->has_ended) return Error(Code::kPeerLost, "process 7 is gone");
    if (!road_->reaches) return Error(Code::kUnsupported, "it is on another planet");
    return std::unique_ptr<transport::Endpoint>(new FakeEndpoint(road_, peer));
  }
  std::uint32_t Progress(std::uint32_t) override { return road_->events; }
  Code Arm(bool, transport::Bell*) override { return Code::kAgain; }
  void Disarm() override {}
  void Wake() override { ++road_->woken; }
  bool Drained() override { return road_->drained; }

 private:
  FakeRoad* const road_;
};

}  // namespace lamina::p2p
