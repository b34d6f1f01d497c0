// SPDX-License-Identifier: BSD-3-Clause
// The terms of a call, which must be the same on all members: operation, root, number of bytes.
//
// They are posted with whatever is said, in a word that is read anyway, so whoever hears it
// compares: a program whose ranks are in different calls, or bring different lengths, is told so
// instead of going on with wrong data or waiting for ever.
#pragma once

#include <cstdint>
#include <string>

#include "collectives/collective.h"

namespace lamina::collective::board {

using Terms = std::uint64_t;

// From the highest bit on. The spare ones are 0, for whoever has more to say in the same word.
inline constexpr int kOperationBits = 5, kRootBits = 16, kLengthBits = 35, kSpareBits = 8;
static_assert(kOperationBits + kRootBits + kLengthBits + kSpareBits == 64);

// A member that says nothing of it, as in tests.
inline constexpr Terms kNoTerms = 0;
// Of a meeting where not all had the same.
inline constexpr Terms kContradiction = ~Terms{0} << kSpareBits;

static_assert(collective::kOperations + 1 < (1 << kOperationBits));

// Of more bytes or ranks than fit, the lower bits.
constexpr Terms TermsOf(Operation operation, Rank root, std::int64_t bytes) {
  const Terms number = static_cast<Terms>(operation) + 1;
  const Terms rank = static_cast<Terms>(root) & ((Terms{1} << kRootBits) - 1);
  const Terms length = static_cast<Terms>(bytes) & ((Terms{1} << kLengthBits) - 1);
  return ((number << kRootBits | rank) << kLengthBits | length) << kSpareBits;
}
constexpr Operation OperationOf(Terms terms) {
  return static_cast<Operation>((terms >> (kRootBits + kLengthBits + kSpareBits)) - 1);
}
constexpr Rank RootOf(Terms terms) {
  return static_cast<Rank>(terms >> (kLengthBits + kSpareBits) & ((Terms{1} << kRootBits) - 1));
}
constexpr std::int64_t LengthOf(Terms terms) {
  return static_cast<std::int64_t>(terms >> kSpareBits & ((Terms{1} << kLengthBits) - 1));
}

// So that sums of it tell apart what sums of terms would not.
constexpr std::uint64_t Mixed(Terms terms) {
  const std::uint64_t product = (terms ^ terms >> (kLengthBits + kSpareBits)) * 0x9e3779b97f4a7c15;
  return product ^ product >> 32;
}

}  // namespace lamina::collective::board
