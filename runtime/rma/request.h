// SPDX-License-Identifier: BSD-3-Clause
// The messages by which memory is accessed that this process does not reach itself. README.md has
// the byte table.
//
// They travel in the window's private communicator and are matched like any other. Requests of one
// origin are carried out in order. A message stands alone: it brings the runs of the target's
// datatype, so types may be freed at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/datatype/runs.h"
#include "runtime/rma/tuning.h"

namespace lamina::rma {

// Tags in the private communicator. Answers have the tags from kFirstAnswerTag on.
inline constexpr int kPostTag = 1;
inline constexpr int kCompleteTag = 2;
inline constexpr int kRequestTag = 3;
inline constexpr int kOpeningTag = 4;
inline constexpr int kNothingTag = 5;  // no message has it
inline constexpr int kFirstAnswerTag = 16;
inline constexpr std::uint32_t kAnswerTags = std::uint32_t{1} << 30;

enum class Kind : std::uint32_t {
  kPut = 1,     // runs and data
  kGet,         // runs; answered by data
  kAccumulate,  // runs and operands; answered by the old elements if there is an answer tag
  kSwap,        // one run, the expected and the desired element; answered by the old one
  kLock,        // answered once it is held
  kUnlock,      // answered like kFlush if there is an answer tag
  kFlush,       // answered by the first error since the last answer of this kind
  kLooseLocks,  // from the same node: a lock was released that this process may queue for
  kLookAround,  // from who waits for long: do those live who hold locks, or wait for them?
  kDescribe,    // answered by a Description, or without data
};

// The lock that lock_all takes on another node, from one member there: it keeps exclusive locks of
// all of them out, and is beside the types of MPI_Win_lock.
inline constexpr int kLockAllOfNode = 1;

struct RequestHeader {
  Kind kind{};
  std::uint32_t runs = 0;         // how many follow
  std::int64_t displacement = 0;  // in the target's units
  std::uint64_t bytes = 0;        // of data behind the runs
  std::int32_t answer_tag = 0;    // 0: no answer is wanted
  std::uint8_t op = 0;            // kAccumulate: the low byte of the handle
  std::uint8_t basic = 0;         // what elements are made of
  std::uint8_t value = 0;
  std::uint8_t index = 0;
  std::int32_t lock_type = 0;  // kLock
  // kLock: the origin holds other locks of this window. kLookAround: it asks all of this node.
  std::uint32_t nested = 0;
};
static_assert(sizeof(RequestHeader) == 40);

inline constexpr std::size_t kRequestBytesMax =
    sizeof(RequestHeader) + kRequestRunsMax * sizeof(datatype::Run) + kRequestDataBytesMax;

// The answer to kLock, kUnlock and kFlush.
struct Verdict {
  std::int32_t error_class = 0;
};

// The answer to kDescribe: how a device reaches the window. The key of its memory follows.
struct Description {
  std::int64_t size = 0;
  std::int64_t disp_unit = 1;
};

}  // namespace lamina::rma
