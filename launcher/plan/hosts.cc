// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/hosts.h"

#include <algorithm>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kQuoteMax = 60;

// For messages: what was written, made printable and short.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text.substr(0, kQuoteMax))
    quoted += letter >= ' ' && letter != 127 ? letter : '?';
  return quoted + (text.size() > kQuoteMax ? "...\"" : "\"");
}

bool IsHostLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
}

bool IsAddressLetter(char letter) { return IsHostLetter(letter) || letter == ':' || letter == '%'; }

bool IsUserLetter(char letter) {
  return IsHostLetter(letter) || letter == '\\' || letter == '+' || letter == '$';
}

// A leading '-' is refused: a name must never look like an option to ssh.
bool AllOf(std::string_view text, bool (*accepts)(char)) {
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), accepts);
}

Result<std::uint32_t> ParseSlots(std::string_view key, std::string_view text) {
  const std::optional<std::int64_t> slots = ParseInteger(text);
  if (!slots || *slots < 1 || *slots > kSlotsMax)
    return Error(Code::kInvalid, "%s is not a number of slots (1 to %u)%s",
                 Quote(std::string(key) + std::string(text)).c_str(), kSlotsMax,
                 slots && *slots == 0 ? "; schedule=no in a host file keeps a host free" : "");
  return static_cast<std::uint32_t>(*slots);
}

// "[user@]name[:slots]", "[user@][address][:slots]"
Result<HostEntry> ParseHost(std::string_view text) {
  HostEntry host;
  std::string_view rest = text;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    if (!AllOf(rest.substr(0, at), IsUserLetter))
      return Error(Code::kInvalid, "%s has no user name before the @", Quote(text).c_str());
    host.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
  }
  std::optional<std::string_view> slots;
  if (!rest.empty() && rest.front() == '[') {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos || !AllOf(rest.substr(1, end - 1), IsAddressLetter) ||
        (end + 1 < rest.size() && rest[end + 1] != ':'))
      return Error(Code::kInvalid, "%s is not [address] or [address]:slots", Quote(text).c_str());
    host.name = rest.substr(1, end - 1);
    if (end + 1 < rest.size()) slots = rest.substr(end + 2);
  } else if (std::count(rest.begin(), rest.end(), ':') > 1) {
    // Two colons or more: an IPv6 address that nobody put into brackets.
    if (!AllOf(rest, IsAddressLetter))
      return Error(Code::kInvalid, "%s is not a host name", Quote(text).c_str());
    host.name = rest;
  } else {
    const std::size_t colon = rest.find(':');
    if (colon != std::string_view::npos) slots = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!AllOf(rest, IsHostLetter))
      return Error(Code::kInvalid, "%s is not a host name", Quote(text).c_str());
    host.name = rest;
  }
  if (slots) {
    Result<std::uint32_t> count = ParseSlots(std::string(host.name) + ":", *slots);
    if (!count.ok()) return std::move(count).status();
    host.slots = *count;
  }
  return host;
}

Status ApplyKey(std::string_view word, HostEntry* host) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return Error(Code::kInvalid, "%s is not key=value", Quote(word).c_str());
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (key == "slots" || key == "cpu" || key == "cpus") {
    Result<std::uint32_t> slots = ParseSlots(word.substr(0, equals + 1), value);
    if (!slots.ok()) return std::move(slots).status();
    host->slots = *slots;
  } else if (key == "max_slots" || key == "max-slots") {
    Result<std::uint32_t> slots = ParseSlots(word.substr(0, equals + 1), value);
    if (!slots.ok()) return std::move(slots).status();
    host->slots_max = *slots;
  } else if (key == "schedule") {
    if (value != "yes" && value != "no")
      return Error(Code::kInvalid, "%s: say schedule=yes or schedule=no", Quote(word).c_str());
    host->schedule = value == "yes";
  } else if (key == "user") {
    if (!AllOf(value, IsUserLetter))
      return Error(Code::kInvalid, "%s is not a user name", Quote(word).c_str());
    host->user = value;
  } else if (key == "prefix") {
    if (value.empty() || value.front() != '/')
      return Error(Code::kInvalid, "%s is not an absolute path", Quote(word).c_str());
    host->prefix = value;
  } else {
    host->extra[std::string(key)] = value;
  }
  return {};
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r\f\v";
  while (true) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

Result<HostEntry> ParseLine(const std::vector<std::string_view>& words) {
  Result<HostEntry> host = ParseHost(words.front());
  if (!host.ok()) return host;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (Status status = ApplyKey(words[i], &*host); !status.ok()) return status;
  if (host->slots && host->slots_max && *host->slots > *host->slots_max)
    return Error(Code::kInvalid, "slots=%u is more than max_slots=%u", *host->slots,
                 *host->slots_max);
  return host;
}

void Merge(const HostEntry& more, HostEntry* into) {
  const std::uint64_t slots =
      std::uint64_t{into->slots.value_or(1)} + std::uint64_t{more.slots.value_or(1)};
  into->slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, kSlotsMax));
  if (!into->slots_max) into->slots_max = more.slots_max;
  if (into->user.empty()) into->user = more.user;
  if (into->prefix.empty()) into->prefix = more.prefix;
  into->schedule = into->schedule && more.schedule;
  for (const auto& [key, value] : more.extra) into->extra.emplace(key, value);
}

}  // namespace

Result<std::vector<HostEntry>> ParseHostList(std::string_view text) {
  std::vector<HostEntry> hosts;
  for (const std::string_view piece : Split(text, ',')) {
    Result<HostEntry> host = ParseHost(Trim(piece));
    if (!host.ok()) return std::move(host).status();
    host->where = "-H";
    hosts.push_back(std::move(*host));
  }
  return hosts;
}

Result<std::vector<HostEntry>> ParseHostFile(std::string_view text, std::string_view path) {
  std::vector<HostEntry> hosts;
  std::uint32_t line_number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    const std::vector<std::string_view> words = Words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    const std::string where = Format("%s:%u", std::string(path).c_str(), line_number);
    Result<HostEntry> host = ParseLine(words);
    if (!host.ok()) return std::move(host).status().Within(where);
    host->where = where;
    hosts.push_back(std::move(*host));
  }
  if (hosts.empty()) return Error(Code::kInvalid, "%s names no host", std::string(path).c_str());
  return hosts;
}

std::vector<HostEntry> MergeHosts(const std::vector<HostEntry>& entries) {
  std::vector<HostEntry> merged;
  std::map<std::string, std::size_t, std::less<>> index;
  for (const HostEntry& entry : entries) {
    const auto [place, is_new] = index.emplace(entry.name, merged.size());
    if (is_new)
      merged.push_back(entry);
    else
      Merge(entry, &merged[place->second]);
  }
  return merged;
}

}  // namespace lamina::launcher
