// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/cards.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/base/version.h"

namespace lamina::p2p {
namespace {

std::string_view MajorMinor(std::string_view version) {
  return version.substr(0, version.rfind('.'));
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
  if (peer == self_ || bootstrap_ == nullptr) return Own();
  Result<std::vector<std::byte>> bytes = bootstrap_->Card(Index(peer));
  if (!bytes.ok()) return std::move(bytes).status();
  Result<bootstrap::Card> card = bootstrap::Decode(*bytes);
  if (!card.ok()) return std::move(card).status().Within("its card");
  if (Status status = Check(*card); !status.ok()) return status;
  return card;
}

// A carrier without an address is left out, because another one may reach this process.
bootstrap::Card Cards::Own() const {
  bootstrap::Card card;
  for (const Carrier& carrier : carriers_.all())
    if (Result<std::vector<std::byte>> address = carrier.transport->LocalAddress(); address.ok())
      card.addresses.emplace_back(carrier.name, *std::move(address));
  return card;
}

Status Cards::Check(const bootstrap::Card& card) const {
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
  if (card.settings != settings_)
    return Error(Code::kInvalid,
                 "it was started with \"%s\", this process with \"%s\"; settings by which "
                 "algorithms of collectives are chosen must be alike in all ranks",
                 card.settings.c_str(), settings_.c_str());
  return {};
}

}  // namespace lamina::p2p
