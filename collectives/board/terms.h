// SPDX-License-Identifier: BSD-3-Clause
// The terms of a call, which must be the same on all members: operation, root, number of bytes.
//
// Members post them in a word that the others read anyway, and whoever reads it compares. So
// a program whose ranks are in different calls, or bring different lengths, is told so instead of
// computing with wrong data or waiting for ever.
#pragma once

#include <cstdint>

#include "collectives/collective.h"

namespace lamina::collective::board {

using Terms = std::uint64_t;

// The fields from the highest bit on. The spare bits are 0 here, for whoever writes the word.
inline constexpr int kOperationBits = 5, kRootBits = 16, kLengthBits = 35, kSpareBits = 8;
static_assert(kOperationBits + kRootBits + kLengthBits + kSpareBits == 64);

// The terms of an operation at a board that belongs to no call.
inline constexpr Terms kNoTerms = 0;
// The terms of a meeting whose members came with different terms.
inline constexpr Terms kContradiction = ~Terms{0} << kSpareBits;

static_assert(collective::kOperations + 1 < (1 << kOperationBits));

// A root or length that does not fit is represented by its lower bits.
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

// Hashes the terms, so that two different sets of calls are unlikely to have equal sums at the
// gate.
constexpr std::uint64_t Mixed(Terms terms) {
  const std::uint64_t product = (terms ^ terms >> (kLengthBits + kSpareBits)) * 0x9e3779b97f4a7c15;
  return product ^ product >> 32;
}

}  // namespace lamina::collective::board
