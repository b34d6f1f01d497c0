// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/hints.h"

#include <cstdint>
#include <optional>

#include "runtime/base/text.h"

namespace lamina::io {
namespace {

enum class Type { kMethod, kSwitch, kBytes, kCount, kOctal };
enum class When { kAlways, kMade };  // a file that is open cannot change the latter

struct Known {
  const char* key;
  Type type;
  When when;
  const char* initial;  // null: told only when the user has given it
};
constexpr Known kKnown[] = {
    {"cb_buffer_size", Type::kBytes, When::kAlways, "16777216"},
    {"cb_nodes", Type::kCount, When::kAlways, "0"},
    {"collective_buffering", Type::kSwitch, When::kAlways, nullptr},
    {"file_perm", Type::kOctal, When::kMade, nullptr},
    {"ind_rd_buffer_size", Type::kBytes, When::kAlways, "4194304"},
    {"ind_wr_buffer_size", Type::kBytes, When::kAlways, "524288"},
    {"romio_cb_read", Type::kMethod, When::kAlways, "automatic"},
    {"romio_cb_write", Type::kMethod, When::kAlways, "automatic"},
    {"romio_ds_read", Type::kMethod, When::kAlways, "automatic"},
    {"romio_ds_write", Type::kMethod, When::kAlways, "automatic"},
};

constexpr unsigned kPermissions = 0666;

std::optional<unsigned> Octal(const std::string& text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<unsigned>(c - '0');
  }
  return value;
}

bool IsGood(Type type, const std::string& text) {
  switch (type) {
    case Type::kMethod:
      return text == "enable" || text == "disable" || text == "automatic";
    case Type::kSwitch:
      return text == "true" || text == "false";
    case Type::kBytes:
      return ParseInteger(text).value_or(0) > 0;
    case Type::kCount:
      return ParseInteger(text).value_or(-1) >= 0;
    case Type::kOctal:
      return Octal(text).has_value();
  }
  return false;
}

}  // namespace

Hints::Hints() {
  for (const Known& known : kKnown)
    if (known.initial != nullptr) values_[known.key] = known.initial;
  FindSieving();
}

void Hints::Take(const core::Info* info, bool when_made) {
  if (info == nullptr) return;
  for (const Known& known : kKnown) {
    if (known.when == When::kMade && !when_made) continue;
    const std::string* value = info->Find(known.key);
    if (value != nullptr && IsGood(known.type, *value)) values_[known.key] = *value;
  }
  FindSieving();
}

void Hints::FindSieving() {
  sieving_ = {Get("romio_ds_read") != "disable", Get("romio_ds_write") != "disable",
              bytes("ind_rd_buffer_size"), bytes("ind_wr_buffer_size")};
}

void Hints::List(core::Info* info) const {
  for (const auto& [key, value] : values_) info->Set(key, value);
}

const std::string& Hints::Get(const std::string& key) const {
  static const std::string* const none = new std::string;
  const auto found = values_.find(key);
  return found == values_.end() ? *none : found->second;
}

std::int64_t Hints::bytes(const std::string& key) const {
  return ParseInteger(Get(key)).value_or(0);
}

unsigned Hints::permissions() const { return Octal(Get("file_perm")).value_or(kPermissions); }

}  // namespace lamina::io
