// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/agreement/roll.h"

#include <utility>

#include "runtime/base/bytes.h"

namespace lamina::agreement {
namespace {

constexpr std::uint32_t kNumbersOnly = 0xffffffffu;

Status CutShort() { return Error(Code::kInvalid, "the roll is cut short"); }

}  // namespace

std::vector<std::byte> RollOf(std::span<const p2p::Introduction> members) {
  std::vector<std::byte> roll;
  Append(&roll, static_cast<std::uint32_t>(members.size()));
  for (const p2p::Introduction& member : members) {
    Append(&roll, static_cast<std::uint64_t>(member.name));
    Append(&roll, static_cast<std::uint32_t>(member.card.size()));
    roll.insert(roll.end(), member.card.begin(), member.card.end());
  }
  return roll;
}

Result<std::vector<p2p::Introduction>> ReadRoll(std::span<const std::byte> roll) {
  std::uint32_t count;
  if (!Take(&roll, &count)) return CutShort();
  std::vector<p2p::Introduction> members;
  for (std::uint32_t member = 0; member < count; ++member) {
    std::uint64_t name;
    std::uint32_t bytes;
    if (!Take(&roll, &name) || !Take(&roll, &bytes) || roll.size() < bytes) return CutShort();
    members.push_back({transport::ProcessName{name}, {roll.begin(), roll.begin() + bytes}});
    roll = roll.subspan(bytes);
  }
  if (!roll.empty()) return Error(Code::kInvalid, "something stands behind the roll");
  return members;
}

Result<std::vector<std::byte>> RollOf(const std::vector<PeerId>& members) {
  if (!p2p::IsOpenToOtherJobs()) {
    std::vector<std::byte> roll;
    Append(&roll, kNumbersOnly);
    for (const PeerId member : members) Append(&roll, Index(member));
    return roll;
  }
  std::vector<p2p::Introduction> introduced;
  for (const PeerId member : members) {
    Result<p2p::Introduction> introduction = p2p::Introduce(member);
    if (!introduction.ok()) return std::move(introduction).status();
    introduced.push_back(*std::move(introduction));
  }
  return RollOf(introduced);
}

Result<std::vector<PeerId>> MeetAll(std::span<const std::byte> roll) {
  std::vector<PeerId> members;
  std::span<const std::byte> numbers = roll;
  std::uint32_t count;
  if (Take(&numbers, &count) && count == kNumbersOnly) {
    for (std::uint32_t number; Take(&numbers, &number);) members.push_back(PeerId{number});
    return members;
  }
  Result<std::vector<p2p::Introduction>> introduced = ReadRoll(roll);
  if (!introduced.ok()) return std::move(introduced).status();
  p2p::OpenToOtherJobs();
  for (p2p::Introduction& member : *introduced) {
    Result<PeerId> peer = p2p::Meet(std::move(member));
    if (!peer.ok()) return std::move(peer).status();
    members.push_back(*peer);
  }
  return members;
}

}  // namespace lamina::agreement
