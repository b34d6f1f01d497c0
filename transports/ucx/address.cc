// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/address.h"

#include <algorithm>
#include <cstdint>

namespace lamina::ucx {

namespace {

constexpr char kMagic[4] = {'L', 'U', 'C', 'X'};
constexpr std::uint8_t kVersion = 2;
// Magic, version, lengths of node and worker, secret, checksum.
constexpr std::size_t kFixedBytes = 4 + 1 + 1 + 2 + 8 + 8;

// FNV-1a, 64 bits.
std::uint64_t Checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes)
    sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  return sum;
}

void PutLittle(std::vector<std::byte>* bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes->push_back(static_cast<std::byte>(value >> (8 * i)));
}
std::uint64_t GetLittle(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

std::vector<std::byte> Encode(const Address& address) {
  const std::string node = address.node.substr(0, 255);
  std::vector<std::byte> bytes;
  for (const char letter : kMagic) bytes.push_back(static_cast<std::byte>(letter));
  PutLittle(&bytes, kVersion, 1);
  PutLittle(&bytes, node.size(), 1);
  PutLittle(&bytes, address.worker.size(), 2);
  PutLittle(&bytes, address.secret, 8);
  for (const char letter : node) bytes.push_back(static_cast<std::byte>(letter));
  bytes.insert(bytes.end(), address.worker.begin(), address.worker.end());
  PutLittle(&bytes, Checksum(bytes), 8);
  return bytes;
}

Result<Address> DecodeAddress(std::span<const std::byte> bytes) {
  if (bytes.size() < kFixedBytes)
    return Error(Code::kInvalid, "UCX address of %zu bytes, need at least %zu", bytes.size(),
                 kFixedBytes);
  if (!std::equal(
          std::begin(kMagic), std::end(kMagic), bytes.begin(),
          [](char letter, std::byte byte) { return static_cast<std::byte>(letter) == byte; }))
    return Error(Code::kInvalid, "not a UCX address");
  const auto version = std::to_integer<unsigned>(bytes[4]);
  if (version != kVersion)
    return Error(Code::kInvalid, "UCX address of version %u, ours is %u", version, kVersion);
  const std::size_t node_bytes = std::to_integer<std::size_t>(bytes[5]);
  const std::size_t worker_bytes = GetLittle(bytes.subspan(6, 2));
  if (bytes.size() != kFixedBytes + node_bytes + worker_bytes)
    return Error(Code::kInvalid, "UCX address of %zu bytes says it has %zu", bytes.size(),
                 kFixedBytes + node_bytes + worker_bytes);
  const auto body = bytes.first(bytes.size() - 8);
  if (GetLittle(bytes.last(8)) != Checksum(body) || worker_bytes == 0)
    return Error(Code::kInvalid, "UCX address is damaged");
  Address address;
  address.secret = GetLittle(body.subspan(8, 8));
  for (const std::byte byte : body.subspan(16, node_bytes))
    address.node.push_back(static_cast<char>(byte));
  const auto worker = body.subspan(16 + node_bytes);
  address.worker.assign(worker.begin(), worker.end());
  return address;
}

}  // namespace lamina::ucx
