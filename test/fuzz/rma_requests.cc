// SPDX-License-Identifier: BSD-3-Clause
// Requests of other processes for the memory of a window and for its lock.
#include <mpi.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/datatype/runs.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/p2p.h"
#include "runtime/rma/block.h"
#include "runtime/rma/locks.h"
#include "runtime/rma/messages.h"
#include "runtime/rma/request.h"
#include "runtime/rma/service.h"
#include "test/fuzz/fake_process.h"
#include "test/fuzz/input.h"

namespace lamina::rma {
namespace {

using fuzz::kContext;
constexpr std::int64_t kWindowBytes = 256;

// The process whose window others access.
class Target {
 public:
  Target(bool dynamic, std::int64_t disp_unit)
      : memory_(kWindowBytes), block_(Block::MakePrivate(dynamic)) {
    road_.lends = true;
    Served served{memory_.data(), kWindowBytes, disp_unit};
    if (dynamic) {
      served = {nullptr, 0, 1, &block_->attached(0)};
      CHECK(block_->attached(0).Attach(reinterpret_cast<std::uint64_t>(memory_.data()),
                                       kWindowBytes));
    }
    messages_ = std::make_unique<Messages>(process_.comm());
    locks_ = std::make_unique<Locks>(block_.get(), std::vector<Rank>{0}, 0, messages_.get(),
                                     nullptr, std::vector<Rank>{});
    service_ = std::make_unique<Service>(messages_.get(), locks_.get(), block_.get(), 0, served);
    locks_->Serve(service_.get());
  }

  void Play(fuzz::Input input) {
    while (!input.empty()) {
      const auto origin = static_cast<std::uint8_t>(1 + input.Take<std::uint8_t>() % 2);
      if (input.Take<std::uint8_t>() % 8 == 0)
        Arrive(origin, fuzz::AsBytes(input.TakeText()));
      else
        Arrive(origin, Request(&input));
    }
    // However the requests followed one another, those who release what they hold leave nothing.
    RequestHeader release;
    release.kind = Kind::kUnlock;
    for (int round = 0; round < 300; ++round)
      for (const std::uint8_t origin : {1, 2})
        Arrive(origin, {reinterpret_cast<const std::byte*>(&release), sizeof release});
    const TicketLock& lock = block_->member(0).lock;
    CHECK(lock.next == lock.read && lock.next == lock.write);
    std::uint16_t phase = 0;
    for (const Side side : {Side::kExclusive, Side::kAll}) {
      CHECK(block_->header().word.Enter(side, false, &phase));
      block_->header().word.Leave();
    }
  }

 private:
  // A request as an origin would send it, of numbers that are mostly small.
  std::vector<std::byte> Request(fuzz::Input* input) {
    RequestHeader header;
    header.kind = static_cast<Kind>(input->Take<std::uint8_t>() % 11);
    header.answer_tag = kFirstAnswerTag + input->Take<std::uint8_t>() - 1;
    if (header.answer_tag < kFirstAnswerTag) header.answer_tag = 0;
    header.op = input->Take<std::uint8_t>();
    header.basic = input->Take<std::uint8_t>() % 64;
    header.value = input->Take<std::uint8_t>() % 64;
    header.index = input->Take<std::uint8_t>() % 64;
    constexpr std::int32_t kTypes[] = {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED, kLockAllOfNode, 4};
    header.lock_type = kTypes[input->Take<std::uint8_t>() % 4];
    header.nested = input->Take<std::uint8_t>() % 2;
    header.displacement = Number(input);
    std::vector<datatype::Run> runs(input->Take<std::uint8_t>() % 4);
    for (datatype::Run& run : runs) run = {Number(input), Number(input), Number(input), 1};
    if (!runs.empty()) runs.front().count = Number(input);
    const std::string_view data = input->TakeText();
    header.runs = static_cast<std::uint32_t>(runs.size());
    header.bytes = data.size();
    std::vector<std::byte> message;
    for (const auto part : {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(runs)),
                            fuzz::AsBytes(data)})
      message.insert(message.end(), part.begin(), part.end());
    return message;
  }
  std::int64_t Number(fuzz::Input* input) {
    const auto shape = input->Take<std::uint8_t>();
    if (shape == 0xff) return input->Take<std::int64_t>();
    if (shape == 0xfe) return reinterpret_cast<std::int64_t>(memory_.data());
    return static_cast<std::int8_t>(shape);
  }

  void Arrive(std::uint8_t origin, std::span<const std::byte> message) {
    const std::vector<std::byte> copy(message.begin(), message.end());
    process_.inbox()->Arrived(
        PeerId{origin},
        p2p::PackMatch(p2p::FrameKind::kEager, kContext, static_cast<Rank>(origin), kRequestTag),
        copy);
    p2p::Progress();
    for (transport::Completion* each : std::exchange(road_.lent, {})) each->done(each, Code::kOk);
    road_.room = 1000;
    road_.sent.clear();
  }

  fuzz::FakeProcess process_;
  p2p::FakeRoad& road_ = process_.road();
  std::vector<std::byte> memory_;
  std::unique_ptr<Block> block_;
  std::unique_ptr<Messages> messages_;
  std::unique_ptr<Locks> locks_;
  std::unique_ptr<Service> service_;
};

}  // namespace
}  // namespace lamina::rma

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lamina::SetLogLevel(lamina::Level::kError);
  lamina::fuzz::Input input(data, size);
  const auto shape = input.Take<std::uint8_t>();
  lamina::rma::Target(shape % 2 == 1, 1 + shape / 2 % 8).Play(input);
  return 0;
}
