// SPDX-License-Identifier: BSD-3-Clause
// One peer of the node: the ring to it, its bell, and its memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/memory/peer_memory.h"
#include "transports/shm/bell.h"
#include "transports/shm/local_transport.h"
#include "transports/shm/ring.h"
#include "transports/shm/segment.h"
#include "transports/transport.h"

namespace lamina::shm {

class Endpoint final : public transport::Endpoint {
 public:
  struct Options {
    std::uint32_t frame_bytes_max;
    std::uint32_t eager_bytes_max;  // 0: chosen by what reading the peer's memory costs
    std::uint32_t fetch_bytes_max;
    bool single_copy;               // may be tried
    bool fence;                     // this process or the peer cannot use shared fences
    std::uint64_t joint_bytes_min;  // from here on the peer is asked to copy its part
  };
  // `name`: where the peer's segment is found from here.
  Endpoint(LocalTransport* transport, PeerId peer, const Address& remote,
           const memory::SealedName& name, std::unique_ptr<PeerSegment> segment,
           const Options& options);
  ~Endpoint() override;

  transport::EndpointCaps caps() const override;
  Code SendShort(const transport::Frame& frame) override;
  Code SendZeroCopy(const transport::Frame& frame, transport::Completion* done) override;
  Code Get(const transport::Region& from, std::uint64_t offset, std::span<std::byte> into,
           transport::Completion* done) override;

  // Asks whether the peer lives and reads, and tells the transport if not.
  void LookAfter();
  // Memory of this node is reached by loads and stores.
  transport::OneSided* one_sided() override { return nullptr; }

 private:
  Code NoRoom();
  bool CanRead() const;
  bool ReadsSlowly() const;
  memory::Access Read(std::uint64_t address, std::span<std::byte> into);
  memory::Access ReadTogether(std::uint64_t address, std::span<std::byte> into);
  bool AwaitHelper(const Joint& joint, std::uint32_t chunks);

  // Every send reads these, so they stand first and together.
  RingWriter writer_;
  Doorbell* const bell_;
  const bool fence_;
  bool lost_ = false;
  bool left_ = false;  // the peer reads no more, and the transport knows
  bool can_get_ = false;
  int pipe_ = -1;
  std::uint32_t refused_ = 0;  // how many sends in a row found no room

  LocalTransport* const transport_;
  const PeerId peer_;
  const Address remote_;
  const memory::SealedName name_;
  const std::unique_ptr<PeerSegment> segment_;
  const std::uint32_t frame_bytes_max_;
  std::uint32_t eager_bytes_max_;
  std::uint64_t joint_bytes_min_;
  std::uint32_t joint_serial_ = 0;
};

}  // namespace lamina::shm
