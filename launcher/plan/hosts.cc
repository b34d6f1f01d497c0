// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/hosts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "launcher/plan/hostlist.h"
#include "launcher/plan/words.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

bool IsHostLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
}

bool IsAddressLetter(char letter) { return IsHostLetter(letter) || letter == ':' || letter == '%'; }

bool IsUserLetter(char letter) {
  return IsHostLetter(letter) || letter == '\\' || letter == '+' || letter == '$';
}

// A leading '-' is refused, because a name must never look like an option to ssh.
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

// Understands "name", "rack[1-2]n[01-16]", "fe80::1" and "[fe80::1]". What follows a colon is left
// in `slots`.
Result<std::vector<std::string>> ParseNames(std::string_view text,
                                            std::optional<std::string_view>* slots) {
  const std::size_t close = text.find(']');
  if (text.starts_with('[') && text.substr(0, close).find(':') != text.npos) {
    if (close == text.npos || !AllOf(text.substr(1, close - 1), IsAddressLetter) ||
        (close + 1 < text.size() && text[close + 1] != ':'))
      return Error(Code::kInvalid, "%s is not [address] or [address]:slots", Quote(text).c_str());
    if (close + 1 < text.size()) *slots = text.substr(close + 2);
    return std::vector<std::string>{std::string(text.substr(1, close - 1))};
  }
  if (std::count(text.begin(), text.end(), ':') > 1) {
    // With two colons or more it is an IPv6 address that nobody put into brackets.
    if (AllOf(text, IsAddressLetter)) return std::vector<std::string>{std::string(text)};
    return Error(Code::kInvalid, "%s is not a host name", Quote(text).c_str());
  }
  if (const std::size_t colon = text.find(':'); colon != text.npos) {
    *slots = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  Result<std::vector<std::string>> names = ExpandHostName(text);
  if (!names.ok()) return names;
  for (const std::string& name : *names)
    if (!AllOf(name, IsHostLetter))
      return Error(Code::kInvalid, "%s is not a host name", Quote(text).c_str());
  return names;
}

const std::vector<std::string>& KnownKeys() {
  static const std::vector<std::string> keys = {
      "slots", "cpu", "cpus", "max_slots", "max-slots", "schedule", "user", "prefix", "port"};
  return keys;
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
  } else if (const auto port = ParseInteger(value);
             key == "port" && (!port || *port < 1 || *port > 65535)) {
    return Error(Code::kInvalid, "%s is not a port (1 to 65535)", Quote(word).c_str());
  } else {
    const std::string near = key == "port" ? "" : Nearest(key, KnownKeys());
    if (!near.empty())
      return Error(Code::kInvalid, "%s: did you mean %s=?", Quote(word).c_str(), near.c_str());
    host->extra[std::string(key)] = value;
  }
  return {};
}

// Makes one entry a name from "[user@]names[:slots]" and what follows on the line of a file, which
// is said of all of them.
Result<std::vector<HostEntry>> ParseHosts(std::string_view text,
                                          std::span<const std::string_view> keys = {}) {
  HostEntry host;
  std::string_view rest = text;
  if (const std::size_t at = rest.find('@'); at != rest.npos) {
    if (!AllOf(rest.substr(0, at), IsUserLetter))
      return Error(Code::kInvalid, "%s has no user name before the @", Quote(text).c_str());
    host.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
  }
  std::optional<std::string_view> slots;
  Result<std::vector<std::string>> names = ParseNames(rest, &slots);
  if (!names.ok()) return std::move(names).status();
  if (slots) {
    const std::size_t before = rest.size() - slots->size();
    Result<std::uint32_t> count = ParseSlots(rest.substr(0, before), *slots);
    if (!count.ok()) return std::move(count).status();
    host.slots = *count;
  }
  for (const std::string_view key : keys)
    if (Status status = ApplyKey(key, &host); !status.ok()) return status;
  if (host.slots && host.slots_max && *host.slots > *host.slots_max)
    return Error(Code::kInvalid, "slots=%u is more than max_slots=%u", *host.slots,
                 *host.slots_max);
  std::vector<HostEntry> hosts(names->size(), host);
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].name = std::move((*names)[i]);
  return hosts;
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

std::vector<std::string> UnknownKeys(const std::vector<HostEntry>& hosts) {
  std::vector<std::string> sentences;
  for (const HostEntry& host : hosts)
    for (const auto& [key, value] : host.extra) {
      if (key == "port") continue;
      std::string sentence = Format("%s: %s is no key of Lamina's, and is ignored",
                                    host.where.c_str(), Quote(key + "=" + value).c_str());
      if (sentences.empty() || sentences.back() != sentence)
        sentences.push_back(std::move(sentence));
    }
  return sentences;
}

Result<std::vector<HostEntry>> ParseHostList(std::string_view text) {
  std::vector<HostEntry> hosts;
  for (const std::string_view piece : SplitOutsideBrackets(text)) {
    Result<std::vector<HostEntry>> parsed = ParseHosts(Trim(piece));
    if (!parsed.ok()) return parsed;
    for (HostEntry& host : *parsed) {
      host.where = "-H";
      hosts.push_back(std::move(host));
    }
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
    Result<std::vector<HostEntry>> parsed = ParseHosts(words.front(), std::span(words).subspan(1));
    if (!parsed.ok()) return std::move(parsed).status().Within(where);
    for (HostEntry& host : *parsed) {
      host.where = where;
      hosts.push_back(std::move(host));
    }
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
