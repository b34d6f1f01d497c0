// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/seal.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace lamina {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

Seal::Seal(const Key& key)
    : v_{0x736f6d6570736575u ^ key[0], 0x646f72616e646f6du ^ key[1], 0x6c7967656e657261u ^ key[0],
         0x7465646279746573u ^ key[1]} {}

void Seal::Round() {
  auto& [a, b, c, d] = v_;
  a += b;
  b = std::rotl(b, 13) ^ a;
  a = std::rotl(a, 32);
  c += d;
  d = std::rotl(d, 16) ^ c;
  a += d;
  d = std::rotl(d, 21) ^ a;
  c += b;
  b = std::rotl(b, 17) ^ c;
  c = std::rotl(c, 32);
}

void Seal::Word(std::uint64_t word) {
  v_[3] ^= word;
  Round();
  Round();
  v_[0] ^= word;
}

void Seal::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (count_ % 8 == 0 && bytes.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), 8);
      Word(word);
      count_ += 8;
      bytes.remove_prefix(8);
      continue;
    }
    pending_ |= std::uint64_t{static_cast<unsigned char>(bytes.front())} << (8 * (count_ % 8));
    bytes.remove_prefix(1);
    if (++count_ % 8 != 0) continue;
    Word(pending_);
    pending_ = 0;
  }
}

std::uint64_t Seal::Finish() {
  Word(pending_ | count_ << 56);
  v_[2] ^= 0xff;
  for (int round = 0; round < 4; ++round) Round();
  return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
}

Key KeyOf(std::string_view bytes) {
  Key key{};
  std::memcpy(key.data(), bytes.data(), bytes.size() < sizeof key ? bytes.size() : sizeof key);
  return key;
}

Key SessionKey(const Key& secret, std::string_view nonce) {
  Key session;
  for (std::size_t half = 0; half < session.size(); ++half) {
    Seal seal(secret);
    seal.Add(half == 0 ? "first half" : "other half");
    seal.Add(nonce);
    session[half] = seal.Finish();
  }
  return session;
}

}  // namespace lamina
