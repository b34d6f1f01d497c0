// SPDX-License-Identifier: BSD-3-Clause
// Whatever a peer sends, against receives and sends that this process has under way.
#include <cstring>
#include <deque>
#include <memory>

#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/datatype/construct.h"
#include "runtime/p2p/fake_transport.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/p2p.h"
#include "test/fuzz/fake_process.h"
#include "test/fuzz/input.h"

namespace lamina::p2p {
namespace {

using fuzz::kContext;

// A message that the peer lends. It is accepted or dropped, once.
struct Loaned final : transport::Parcel {
  void Accept(std::span<std::byte> place, transport::Completion* completion) override {
    CHECK(!over);
    over = true;
    std::memset(place.data(), 'x', place.size());
    done = completion;
  }
  void Drop() override {
    CHECK(!over);
    over = true;
  }
  bool over = false;
  transport::Completion* done = nullptr;
};

// An operation of this process, and its buffer as it was when the operation ended.
struct Operation {
  core::Request request;
  std::vector<std::byte> memory;
  std::vector<std::byte> result;
  bool seen = false;
};

struct Releaser {
  void operator()(datatype::Datatype* type) const { datatype::Release(type); }
};

class House {
 public:
  House() { datatype::Commit(vector_.get()); }
  ~House() {
    for (Loaned& each : parcels_)
      if (each.done != nullptr) each.done->done(each.done, Code::kPeerLost);
    for (transport::Completion* each : road_.lent) each->done(each, Code::kPeerLost);
  }

  void Play(fuzz::Input input) {
    while (!input.empty() && operations_.size() < 64) {
      Step(&input);
      road_.sent.clear();
      for (Operation& each : operations_) Look(&each);
    }
    for (const Operation& each : operations_)
      CHECK(!each.seen || each.request.type == core::Request::Type::kSend ||
            each.memory == each.result);
  }

 private:
  transport::Inbox* inbox() { return process_.inbox(); }

  // Takes a number from -128 to 127.
  static int Small(fuzz::Input* input) {
    const int byte = input->Take<std::uint8_t>();
    return byte < 128 ? byte : byte - 256;
  }

  void Step(fuzz::Input* input) {
    const auto word = input->Take<char>();
    const PeerId peer{1 + input->Take<std::uint8_t>() % 2u};
    switch (word) {
      case 'm': {  // a frame with a message, or a part of the protocol for one
        const auto kind = static_cast<FrameKind>(input->Take<std::uint8_t>());
        const Rank source = Small(input);
        const int tag = Small(input);
        return Arrive(peer, PackMatch(kind, kContext, source, tag), input->TakeText());
      }
      case 't': {  // a frame that names one of our requests
        const auto kind = static_cast<FrameKind>(input->Take<std::uint8_t>());
        const std::uint64_t generation = input->Take<std::uint8_t>();
        const std::uint64_t token = generation << 32 | input->Take<std::uint8_t>();
        const std::uint64_t offset = input->Take<std::uint8_t>();
        return Arrive(peer, PackToken(kind, token, offset), input->TakeText());
      }
      case 'h': {  // any header
        const auto header = input->Take<transport::Header>();
        return Arrive(peer, header, input->TakeText());
      }
      case 'o': {
        const auto kind = static_cast<FrameKind>(input->Take<std::uint8_t>());
        const Rank source = Small(input);
        const int tag = Small(input);
        const std::size_t bytes = 1u + input->Take<std::uint16_t>();
        parcels_.emplace_back();
        return inbox()->Offered(peer, PackMatch(kind, kContext, source, tag), bytes,
                                &parcels_.back());
      }
      case 'd':
        for (Loaned& each : parcels_)
          if (auto* done = std::exchange(each.done, nullptr); done != nullptr)
            return done->done(done, peer == PeerId{1} ? Code::kOk : Code::kPeerLost);
        return;
      case 'e':
        if (road_.lent.empty()) return;
        {
          auto* const done = road_.lent.front();
          road_.lent.erase(road_.lent.begin());
          return done->done(done, peer == PeerId{1} ? Code::kOk : Code::kPeerLost);
        }
      case 'r':
        return Receive(input);
      case 's':
        return Send(peer, input);
      case 'c':
        if (!operations_.empty()) {
          Operation& each = operations_[input->Take<std::uint8_t>() % operations_.size()];
          if (!each.request.complete) Cancel(&each.request);
        }
        return;
      case 'l':
        return inbox()->Lost(peer, Error(Code::kPeerLost, "it is gone"));
      default:
        road_.room = input->Take<std::uint8_t>();
        road_.lends = road_.room % 2 == 1;
        Progress();
    }
  }

  // The payload is copied, because a transport promises it for the call only.
  void Arrive(PeerId from, const transport::Header& header, std::string_view payload) {
    const std::vector<std::byte> copy(fuzz::AsBytes(payload).begin(), fuzz::AsBytes(payload).end());
    inbox()->Arrived(from, header, copy);
  }

  Buffer NewBuffer(Operation* operation, fuzz::Input* input) {
    const auto size = input->Take<std::uint16_t>() % 2048u;
    if (size % 7 == 0) {
      operation->memory.resize(8 * 8);
      return {operation->memory.data(), 1, vector_.get()};
    }
    operation->memory.resize(size);
    return {operation->memory.data(), size, datatype::FindDatatype(MPI_BYTE)};
  }
  void Receive(fuzz::Input* input) {
    Operation& operation = operations_.emplace_back();
    core::Request* const request = &operation.request;
    request->comm = process_.comm();
    const int source = input->Take<std::uint8_t>() % 4;
    const int tag = input->Take<std::uint8_t>() % 4;
    PrepareReceive(request,
                   {process_.comm(), kContext, source == 3 ? MPI_ANY_SOURCE : source,
                    tag == 3 ? MPI_ANY_TAG : tag},
                   NewBuffer(&operation, input));
    Start(request);
  }
  void Send(PeerId peer, fuzz::Input* input) {
    Operation& operation = operations_.emplace_back();
    core::Request* const request = &operation.request;
    request->comm = process_.comm();
    const auto mode = input->Take<std::uint8_t>() % 2 == 0 ? core::Request::Mode::kStandard
                                                           : core::Request::Mode::kSynchronous;
    PrepareSend(request, {process_.comm(), kContext, static_cast<Rank>(Index(peer)), 1},
                NewBuffer(&operation, input), mode);
    Start(request);
  }

  // What is over stays as it is.
  void Look(Operation* operation) {
    const core::Request& request = operation->request;
    CHECK(!operation->seen || request.complete);
    if (!request.complete || operation->seen) return;
    operation->seen = true;
    operation->result = operation->memory;
    CHECK(request.bytes >= 0 &&
          request.bytes <= static_cast<std::int64_t>(operation->memory.size()));
    CHECK(request.error == MPI_SUCCESS || request.error == MPI_ERR_TRUNCATE ||
          request.error == MPI_ERR_PROC_ABORTED);
  }

  // What requests use outlives the process that carries them out.
  std::unique_ptr<datatype::Datatype, Releaser> vector_{
      datatype::MakeVector(8, 3, 8, datatype::FindDatatype(MPI_BYTE))};
  std::deque<Loaned> parcels_;
  std::deque<Operation> operations_;
  fuzz::FakeProcess process_;
  FakeRoad& road_ = process_.road();
};

}  // namespace
}  // namespace lamina::p2p

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lamina::SetLogLevel(lamina::Level::kError);
  lamina::p2p::House().Play({data, size});
  return 0;
}
