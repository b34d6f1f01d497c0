// SPDX-License-Identifier: BSD-3-Clause
// Computes SipHash-2-4, a keyed hash of 64 bits. Nobody who does not know the key can make a frame
// that is taken, and a byte that went astray is noticed. Source: Aumasson, Bernstein, "SipHash: a
// fast short-input PRF", INDOCRYPT 2012.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lamina {

using Key = std::array<std::uint64_t, 2>;

class Seal {
 public:
  explicit Seal(const Key& key);
  void Add(std::string_view bytes);
  std::uint64_t Finish();

 private:
  void Round();
  void Word(std::uint64_t word);

  std::array<std::uint64_t, 4> v_;
  std::uint64_t pending_ = 0;  // bytes that do not make a word yet
  std::uint64_t count_ = 0;
};

// Makes a key of sixteen bytes of a secret or a nonce. Shorter ones are filled with zeros.
Key KeyOf(std::string_view bytes);
// Makes the key that both ends use for one connection, of the secret they share and of this
// connection's nonce.
Key SessionKey(const Key& secret, std::string_view nonce);

}  // namespace lamina
