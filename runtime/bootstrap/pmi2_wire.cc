// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bootstrap/pmi2_wire.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace lamina::bootstrap::pmi2 {
namespace {

constexpr std::size_t kPiecesMax = 1 << 16;
constexpr std::int64_t kNodeMax = 1 << 24;

int DigitOf(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

Status NotAMapping(std::string_view mapping) {
  return Error(Code::kInvalid, "PMI_process_mapping \"%s\" is not understood",
               std::string(mapping.substr(0, 80)).c_str());
}

}  // namespace

std::string EncodeRequest(const Pairs& pairs) {
  std::string body;
  for (const auto& [key, value] : pairs) {
    body += key + "=";
    for (const char letter : value) {
      body += letter;
      if (letter == ';') body += ';';
    }
    body += ';';
  }
  return Format("%6zu", body.size()) + body;
}

std::optional<std::size_t> BodyBytes(std::string_view columns) {
  const auto bytes = ParseInteger(Trim(columns));
  if (columns.size() != kLengthColumns || !bytes || *bytes < 1 ||
      *bytes > static_cast<std::int64_t>(kBodyBytesMax))
    return std::nullopt;
  return static_cast<std::size_t>(*bytes);
}

Result<Answer> DecodeAnswer(std::string_view body) {
  Answer answer;
  std::string pair;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const bool doubled = body[i] == ';' && i + 1 < body.size() && body[i + 1] == ';';
    if (body[i] != ';' || doubled) {
      pair += body[i];
      i += doubled ? 1 : 0;
      continue;
    }
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error(Code::kInvalid, "an answer of the PMI-2 server has no key=value");
    answer[pair.substr(0, equals)] = pair.substr(equals + 1);
    pair.clear();
  }
  if (!pair.empty() || answer.empty())
    return Error(Code::kInvalid, "an answer of the PMI-2 server is cut short");
  return answer;
}

Result<std::vector<std::uint32_t>> NodesOfRanks(std::string_view mapping, std::uint32_t ranks) {
  struct Block {
    std::int64_t first, nodes, each;
  };
  std::vector<Block> blocks;
  std::string_view rest = mapping;
  if (!rest.starts_with("(vector") || !rest.ends_with("))")) return NotAMapping(mapping);
  rest.remove_prefix(7);
  rest.remove_suffix(1);
  while (!rest.empty()) {
    const std::size_t end = rest.find(')');
    if (!rest.starts_with(",(") || end == rest.npos) return NotAMapping(mapping);
    const std::vector<std::string_view> numbers = Split(rest.substr(2, end - 2), ',');
    if (numbers.size() != 3) return NotAMapping(mapping);
    const auto first = ParseInteger(Trim(numbers[0]));
    const auto nodes = ParseInteger(Trim(numbers[1]));
    const auto each = ParseInteger(Trim(numbers[2]));
    if (!first || !nodes || !each || *first < 0 || *nodes < 1 || *each < 1 || *first > kNodeMax ||
        *nodes > kNodeMax || *each > kNodeMax)
      return NotAMapping(mapping);
    blocks.push_back({*first, *nodes, *each});
    rest.remove_prefix(end + 1);
  }
  if (blocks.empty()) return NotAMapping(mapping);
  std::vector<std::uint32_t> node_of;
  node_of.reserve(ranks);
  while (node_of.size() < ranks)
    for (const Block& block : blocks)
      for (std::int64_t node = 0; node < block.nodes && node_of.size() < ranks; ++node) {
        const auto room = static_cast<std::size_t>(ranks) - node_of.size();
        node_of.insert(node_of.end(), std::min(room, static_cast<std::size_t>(block.each)),
                       static_cast<std::uint32_t>(block.first + node));
      }
  return node_of;
}

std::vector<std::string> EncodeBytes(const std::vector<std::byte>& bytes) {
  std::string digits;
  for (const std::byte byte : bytes) digits += Format("%02x", static_cast<unsigned>(byte));
  // The first value also holds the number of values.
  constexpr std::size_t kHeadRoom = 8;
  std::vector<std::string> values = {digits.substr(0, kValueBytesMax - kHeadRoom)};
  for (std::size_t at = values[0].size(); at < digits.size(); at += kValueBytesMax)
    values.push_back(digits.substr(at, kValueBytesMax));
  values[0].insert(0, Format("%zu:", values.size()));
  return values;
}

Result<std::size_t> CountOf(std::string_view first) {
  const std::size_t colon = first.find(':');
  const auto count =
      colon == first.npos ? std::optional<std::int64_t>() : ParseInteger(first.substr(0, colon));
  if (!count || *count < 1 || *count > static_cast<std::int64_t>(kPiecesMax))
    return Error(Code::kInvalid, "what a peer has published is not a card");
  return static_cast<std::size_t>(*count);
}

Result<std::vector<std::byte>> DecodeBytes(const std::vector<std::string>& values) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view digits =
        i == 0 ? std::string_view(values[0]).substr(values[0].find(':') + 1) : values[i];
    if (digits.size() % 2 != 0)
      return Error(Code::kInvalid, "the card of a peer ends in half a byte");
    for (std::size_t at = 0; at < digits.size(); at += 2) {
      const int high = DigitOf(digits[at]);
      const int low = DigitOf(digits[at + 1]);
      if (high < 0 || low < 0)
        return Error(Code::kInvalid,
                     "the card of a peer has letters that are not hexadecimal digits");
      bytes.push_back(static_cast<std::byte>(high * 16 + low));
    }
  }
  return bytes;
}

}  // namespace lamina::bootstrap::pmi2
