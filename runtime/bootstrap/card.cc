// SPDX-License-Identifier: BSD-3-Clause
// The card's bytes are described in README.md of this folder.
#include <cstring>

#include "runtime/base/text.h"
#include "runtime/bootstrap/bootstrap.h"

namespace lamina::bootstrap {
namespace {

constexpr char kMagic[4] = {'L', 'A', 'M', '1'};
// These stand where a transport's name does.
constexpr std::string_view kComponents = "components", kSettings = "settings";

void AppendText(std::vector<std::byte>* bytes, const void* data, std::size_t size) {
  const std::uint16_t length = static_cast<std::uint16_t>(size);
  const std::byte* length_bytes = reinterpret_cast<const std::byte*>(&length);
  bytes->insert(bytes->end(), length_bytes, length_bytes + sizeof length);
  const std::byte* first = static_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), first, first + size);
}

// Takes a length and that many bytes off the front.
bool TakeText(std::span<const std::byte>* bytes, std::span<const std::byte>* text) {
  std::uint16_t length;
  if (bytes->size() < sizeof length) return false;
  std::memcpy(&length, bytes->data(), sizeof length);
  *bytes = bytes->subspan(sizeof length);
  if (bytes->size() < length) return false;
  *text = bytes->first(length);
  *bytes = bytes->subspan(length);
  return true;
}

std::string AsString(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::vector<std::byte> Encode(const Card& card) {
  std::vector<std::byte> bytes(sizeof kMagic);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  AppendText(&bytes, card.version.data(), card.version.size());
  const auto append_agreed = [&](std::string_view name, const std::string& text) {
    if (text.empty()) return;
    AppendText(&bytes, name.data(), name.size());
    AppendText(&bytes, text.data(), text.size());
  };
  append_agreed(kComponents, card.components);
  append_agreed(kSettings, card.settings);
  for (const auto& [transport, address] : card.addresses) {
    AppendText(&bytes, transport.data(), transport.size());
    AppendText(&bytes, address.data(), address.size());
  }
  return bytes;
}

Result<Card> Decode(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return Error(Code::kInvalid, "this is not a card of lamina");
  bytes = bytes.subspan(sizeof kMagic);
  Card card;
  std::span<const std::byte> text;
  if (!TakeText(&bytes, &text)) return Error(Code::kInvalid, "the card is cut short");
  card.version = AsString(text);
  while (!bytes.empty()) {
    std::span<const std::byte> address;
    if (!TakeText(&bytes, &text) || !TakeText(&bytes, &address))
      return Error(Code::kInvalid, "the card is cut short");
    if (AsString(text) == kComponents)
      card.components = AsString(address);
    else if (AsString(text) == kSettings)
      card.settings = AsString(address);
    else
      card.addresses.emplace_back(AsString(text),
                                  std::vector<std::byte>(address.begin(), address.end()));
  }
  return card;
}

}  // namespace lamina::bootstrap
