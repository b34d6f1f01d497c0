// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/cards.h"

#include <string_view>

#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::p2p {
namespace {

std::string_view MajorMinor(std::string_view version) {
  return version.substr(0, version.rfind('.'));
}

// The launcher tells the ranks of each job how crowded they are. Communicators that span jobs do
// without this setting.
constexpr std::string_view kOfOneJob = "LAMINA_COLLECTIVE_SELECT_CROWD=";

std::string AcrossJobs(std::string_view settings) {
  std::string kept;
  for (const std::string_view word : Split(settings, ' '))
    if (!word.empty() && !word.starts_with(kOfOneJob)) kept += std::string(word) + " ";
  return kept;
}

}  // namespace

Status Cards::Publish() {
  bootstrap::Card card;
  card.version = kVersion;
  card.components = components_;
  card.settings = settings_;
  for (const Carrier& carrier : carriers_.all()) {
    Result<std::vector<std::byte>> address = carrier.transport->LocalAddress();
    if (!address.ok()) return std::move(address).status().Within(carrier.name);
    card.addresses.emplace_back(carrier.name, *std::move(address));
  }
  if (bootstrap_ == nullptr) return {};
  return bootstrap_->Publish(bootstrap::Encode(card));
}

Result<bootstrap::Card> Cards::Of(PeerId peer) {
  if (peer == self_) return Own();
  Result<std::vector<std::byte>> bytes = BytesOf(peer);
  if (!bytes.ok()) return std::move(bytes).status();
  return Read(*bytes, peers_.IsOfOtherJob(peer));
}

Result<std::vector<std::byte>> Cards::BytesOf(PeerId peer) {
  if (!peers_.IsOfOtherJob(peer))
    return peer == self_ || bootstrap_ == nullptr ? bootstrap::Encode(Own())
                                                  : bootstrap_->Card(Index(peer));
  const std::vector<std::byte>& known = peers_.CardOf(peer);
  if (known.empty())
    return Error(Code::kPeerLost, "it belongs to another job, with which nothing is shared");
  return known;
}

Result<bootstrap::Card> Cards::Read(std::span<const std::byte> bytes, bool of_other_job) const {
  Result<bootstrap::Card> card = bootstrap::Decode(bytes);
  if (!card.ok()) return std::move(card).status().Within("its card");
  if (Status status = Check(*card, of_other_job); !status.ok()) return status;
  return card;
}

// A carrier without an address is left out, because another one may reach this process.
bootstrap::Card Cards::Own() const {
  bootstrap::Card card;
  card.version = kVersion;
  card.components = components_;
  card.settings = settings_;
  for (const Carrier& carrier : carriers_.all())
    if (Result<std::vector<std::byte>> address = carrier.transport->LocalAddress(); address.ok())
      card.addresses.emplace_back(carrier.name, *std::move(address));
  return card;
}

Status Cards::Check(const bootstrap::Card& card, bool of_other_job) const {
  if (MajorMinor(card.version) != MajorMinor(kVersion))
    return Error(Code::kInvalid, "it runs lamina %s, this process %s; use one version",
                 card.version.c_str(), kVersion);
  if (card.components != components_)
    return Error(
        Code::kInvalid,
        "it has loaded the components \"%s\", this process \"%s\"; all nodes need the same "
        "in LAMINA_COMPONENT_PATH and PREFIX/lib/lamina, or leave them out with "
        "collective.include=basic,hierarchical,shared",
        card.components.c_str(), components_.c_str());
  const bool alike = of_other_job ? AcrossJobs(card.settings) == AcrossJobs(settings_)
                                  : card.settings == settings_;
  if (!alike)
    return Error(Code::kInvalid,
                 "it was started with \"%s\", this process with \"%s\"; settings by which "
                 "algorithms of collectives are chosen must be alike in all ranks",
                 card.settings.c_str(), settings_.c_str());
  return {};
}

}  // namespace lamina::p2p
