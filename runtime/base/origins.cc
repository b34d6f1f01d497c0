// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/origins.h"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <vector>

#include "runtime/base/fnv.h"
#include "runtime/base/text.h"

namespace lamina::param {
namespace {

char Letter(Origin origin) {
  switch (origin) {
    case Origin::kDefault:
      return 'd';
    case Origin::kFile:
      return 'f';
    case Origin::kEnvironment:
      return 'e';
    case Origin::kCommandLine:
      return 'c';
    case Origin::kTool:
      return 't';
  }
  return 'd';
}

std::optional<Origin> OriginOf(std::string_view letter) {
  for (const Origin origin :
       {Origin::kFile, Origin::kEnvironment, Origin::kCommandLine, Origin::kTool})
    if (letter.size() == 1 && letter[0] == Letter(origin)) return origin;
  return std::nullopt;
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == ';' || byte < 0x20)
      escaped += Format("%%%02x", byte);
    else
      escaped += c;
  }
  return escaped;
}

std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      plain += static_cast<char>(byte);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::string Fingerprint(std::string_view value) { return Format("%08x", Fnv32(value)); }

std::string WriteOrigin(std::string_view name, const Found& found) {
  return Format("%.*s,%c,%s,%s", static_cast<int>(name.size()), name.data(), Letter(found.origin),
                Fingerprint(found.value).c_str(), Escape(found.where).c_str());
}

std::unordered_map<std::string, Provenance> ReadOrigins(std::string_view text) {
  std::unordered_map<std::string, Provenance> origins;
  for (const std::string_view entry : Split(text, ';')) {
    const std::vector<std::string_view> pieces = Split(entry, ',');
    if (pieces.size() < 4) continue;
    const std::optional<Origin> origin = OriginOf(pieces[1]);
    if (!origin || !IsParameterName(pieces[0])) continue;
    const std::size_t where = pieces[0].size() + pieces[1].size() + pieces[2].size() + 3;
    origins[EnvironmentName(pieces[0])] = {std::string(pieces[0]), *origin,
                                           Unescape(entry.substr(where)), std::string(pieces[2])};
  }
  return origins;
}

bool IsParameterName(std::string_view name) {
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-')
      return false;
  return !name.empty();
}

}  // namespace lamina::param
