// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets by a device that reaches the memory of other nodes (transports/one_sided.h).
//
// A target is asked by message for the key of its memory when it is first accessed. Accesses go by
// messages until it has answered, and always where it has no key, where they are in more than one
// piece there, and where they combine: neither device nor processor knows of the other's atomics.
//
// Functions return an MPI error class.
//
// Threads:    the caller holds the library lock at MPI_THREAD_MULTIPLE.
// Allocation: for each target at its first access, and for each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/core/request.h"
#include "runtime/rma/goal.h"
#include "runtime/rma/messages.h"
#include "transports/one_sided.h"

namespace lamina::rma {

using datatype::Buffer;

class Device {
 public:
  // One member as the device reaches it.
  struct Target {
    enum class State : std::uint8_t { kUnknown, kAsked, kReached, kNot };
    State state = State::kUnknown;
    bool touched = false;        // something was begun since the last flush
    std::uint32_t flushing = 0;  // threads that wait for a flush
    std::uint64_t pending = 0;   // what is under way
    int error = 0;               // the first one since the last flush
    std::int64_t size = 0;
    std::int64_t disp_unit = 1;
    core::Request* answer = nullptr;
    std::vector<std::byte> description;         // the answer, until the first access
    std::unique_ptr<transport::Remote> remote;  // since the first access
  };

  explicit Device(Messages* messages) : messages_(messages) {}
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Null: the goal is not reached, or not yet. `must_ask`: AwaitDescription is to be called, and
  // then the target asked. `*offset` is where the goal begins.
  Target* Reach(const Goal& goal, std::int64_t* offset, bool* must_ask);
  // Expects the target's answer under this tag.
  void AwaitDescription(Rank target, int tag);

  // `stays`: the data is not changed before the next flush.
  int Put(Target* target, std::int64_t offset, const Buffer& from, bool stays);
  // `owner` finishes when the data is here; it may be null.
  int Get(Target* target, std::int64_t offset, const Buffer& into, core::Request* owner);

  // These are of one target, or of all: kEveryone. What was begun is over here, or on both sides.
  int FlushLocal(Rank target) { return targets_.empty() ? 0 : WaitFor(target); }
  int Flush(Rank target) { return targets_.empty() ? 0 : FlushNow(target); }

  static constexpr Rank kEveryone = -1;

 private:
  struct Move;

  static void Ended(transport::Completion* move, Code code);
  template <class Begin>
  int Start(Target* target, Move* move, const Begin& begin);
  void TakeDescription(Target* target);
  bool Open(Target* target, Rank rank);
  int WaitFor(Rank target);
  int FlushNow(Rank target);
  template <class Visit>
  void Each(Rank target, const Visit& visit);

  Messages* const messages_;
  std::unordered_map<Rank, Target> targets_;
};

}  // namespace lamina::rma
