// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store/manifest.h"

#include <charconv>
#include <ctime>
#include <limits>
#include <span>
#include <utility>

#include "checkpoint/store/checksum.h"
#include "checkpoint/store/folder.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

constexpr std::uint32_t kFormat = 1;
constexpr std::string_view kTitle = "lamina checkpoint ";

// Anything becomes one word: what is neither printable nor ASCII, blanks and the percent sign are
// written as % and two hexadecimal digits. Nothing is written as % alone.
std::string Escaped(std::string_view text) {
  std::string word;
  for (const char letter : text) {
    if (letter > ' ' && letter < '\x7f' && letter != '%')
      word += letter;
    else
      word += Format("%%%02x", static_cast<unsigned char>(letter));
  }
  return word.empty() ? "%" : word;
}

template <class Number>
std::optional<Number> ParseNumber(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> ParseChecksum(std::string_view text) {
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != text.npos)
    return std::nullopt;
  return ParseNumber<std::uint32_t>(text, 16);
}

// Reads the words of a line one after the other. Once one is not as it must be, ok() is false for
// ever, so a reader of a line looks once, at its end.
class Words {
 public:
  explicit Words(std::string_view line) : words_(Split(line, ' ')), rest_(words_) {}

  std::string_view Raw() {
    if (rest_.empty()) {
      ok_ = false;
      return {};
    }
    const std::string_view word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }
  std::string Text() {
    const std::string_view word = Raw();
    if (word == "%") return {};
    std::string text;
    for (std::size_t at = 0; at < word.size(); ++at) {
      if (word[at] != '%') {
        text += word[at];
        continue;
      }
      const auto byte = ParseNumber<std::uint8_t>(word.substr(at + 1, 2), 16);
      if (!byte || at + 2 >= word.size()) {
        ok_ = false;
        return {};
      }
      text += static_cast<char>(*byte);
      at += 2;
    }
    if (text.empty()) ok_ = false;
    return text;
  }
  template <class Number>
  Number Count() {
    return Taken(ParseNumber<Number>(Raw()));
  }
  std::uint32_t Sum() { return Taken(ParseChecksum(Raw())); }
  void Expect(std::string_view word) { ok_ = Raw() == word && ok_; }
  bool Peek(std::string_view word) const { return !rest_.empty() && rest_.front() == word; }
  bool empty() const { return rest_.empty(); }
  bool ok() const { return ok_; }
  void Refuse() { ok_ = false; }

 private:
  template <class Number>
  Number Taken(std::optional<Number> value) {
    ok_ = ok_ && value.has_value();
    return value.value_or(Number{});
  }
  std::vector<std::string_view> words_;
  std::span<const std::string_view> rest_;
  bool ok_ = true;
};

std::int64_t ParseTime(Words* words) {
  const std::string text = words->Text();
  std::tm time{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') words->Refuse();
  return timegm(&time);
}

void ReadRank(Words* words, Manifest* manifest) {
  Manifest::Rank& rank = manifest->ranks.emplace_back();
  rank.rank = words->Count<std::uint32_t>();
  if (words->Peek("ended")) {
    words->Expect("ended");
    rank.ended = words->Count<std::int32_t>();
    return;
  }
  words->Expect("node");
  rank.node = words->Count<std::uint32_t>();
  words->Expect("process");
  rank.process = words->Count<std::int64_t>();
  words->Expect("links");
  while (!words->empty()) rank.links.push_back(words->Text());
}

void ReadPart(Words* words, Manifest* manifest) {
  Manifest::Part& part = manifest->parts.emplace_back();
  part.rank = words->Count<std::uint32_t>();
  part.name = words->Text();
  part.bytes = words->Count<std::uint64_t>();
  part.checksum = words->Sum();
  if (!IsPlainName(part.name)) words->Refuse();
}

// Returns false if the word that the line begins with is unknown; such lines are passed over.
bool ReadLine(std::string_view word, Words* words, Manifest* manifest) {
  if (word == "generation") {
    manifest->epoch = Epoch{words->Count<std::uint32_t>()};
    words->Expect("after");
    manifest->after = Epoch{words->Count<std::uint32_t>()};
  } else if (word == "since") {
    manifest->since = Epoch{words->Count<std::uint32_t>()};
  } else if (word == "job") {
    manifest->job = words->Text();
  } else if (word == "user") {
    manifest->user = words->Count<std::uint32_t>();
  } else if (word == "taken") {
    manifest->taken_s = ParseTime(words);
  } else if (word == "engine") {
    manifest->engine = words->Text();
    manifest->engine_version = words->Text();
  } else if (word == "kernel") {
    manifest->kernel = words->Text();
    manifest->machine = words->Text();
  } else if (word == "plan") {
    manifest->plan_bytes = words->Count<std::uint64_t>();
    manifest->plan_checksum = words->Sum();
  } else if (word == "round") {
    manifest->round = words->Count<std::uint32_t>();
    words->Expect("process");
    manifest->last_process = words->Count<std::uint32_t>();
  } else if (word == "apart") {
    manifest->apart = true;
  } else if (word == "stream") {
    Manifest::Stream& stream = manifest->streams.emplace_back();
    stream.name = words->Text();
    stream.bytes = words->Count<std::uint64_t>();
    stream.inode = words->Count<std::uint64_t>();
  } else if (word == "node") {
    Manifest::Node& node = manifest->nodes.emplace_back();
    node.number = words->Count<std::uint32_t>();
    node.name = words->Text();
  } else if (word == "rank") {
    ReadRank(words, manifest);
  } else if (word == "part") {
    ReadPart(words, manifest);
  } else {
    return false;
  }
  return true;
}

Status CheckTitle(std::string_view line) {
  if (!line.starts_with(kTitle)) return Error(Code::kInvalid, "this is no manifest");
  const auto format = ParseNumber<std::uint32_t>(line.substr(kTitle.size()));
  if (!format) return Error(Code::kInvalid, "this is no manifest");
  if (*format != kFormat)
    return Error(Code::kUnsupported, "the manifest has format %u, and this lamina reads format %u",
                 *format, kFormat);
  return {};
}

// Looks at the last line, and returns the lines before it.
Result<std::vector<std::string_view>> CheckedLines(std::string_view text) {
  if (!text.ends_with('\n')) return Error(Code::kInvalid, "the manifest is cut off");
  const std::size_t last = text.find_last_of('\n', text.size() - 2) + 1;  // 0 if there is no other
  Words words(text.substr(last, text.size() - last - 1));
  words.Expect("end");
  const auto count = words.Count<std::size_t>();
  const std::uint32_t checksum = words.Sum();
  if (!words.ok() || !words.empty()) return Error(Code::kInvalid, "the manifest is cut off");
  const std::string_view before = text.substr(0, last);
  std::vector<std::string_view> lines = Split(before, '\n');
  lines.pop_back();
  if (lines.size() != count || Checksum(before) != checksum)
    return Error(Code::kInvalid, "the manifest is damaged: its checksum is not that of its text");
  return lines;
}

// Complains about a manifest that contradicts itself.
Status CheckSense(const Manifest& manifest) {
  if (Index(manifest.epoch) == 0 || manifest.engine.empty() || manifest.ranks.empty())
    return Error(Code::kInvalid, "the manifest lacks its generation, its engine or its ranks");
  for (std::size_t rank = 0; rank < manifest.ranks.size(); ++rank)
    if (manifest.ranks[rank].rank != rank)
      return Error(Code::kInvalid, "the manifest lacks rank %zu", rank);
  for (const Manifest::Part& part : manifest.parts)
    if (part.rank >= manifest.ranks.size())
      return Error(Code::kInvalid, "the manifest has a part of rank %u and only %zu ranks",
                   part.rank, manifest.ranks.size());
  return {};
}

}  // namespace

std::uint64_t Manifest::Bytes() const {
  std::uint64_t bytes = plan_bytes;
  for (const Part& part : parts) bytes += part.bytes;
  return bytes;
}

std::string TimeText(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

std::string Encode(const Manifest& manifest) {
  std::string text(kTitle);
  text += Format("%u\n", kFormat);
  text += Format("generation %u after %u\n", Index(manifest.epoch), Index(manifest.after));
  if (Index(manifest.since) != 0) text += Format("since %u\n", Index(manifest.since));
  text += "job " + Escaped(manifest.job) + "\n";
  text += Format("user %u\n", manifest.user);
  text += "taken " + TimeText(manifest.taken_s) + "\n";
  text += "engine " + Escaped(manifest.engine) + " " + Escaped(manifest.engine_version) + "\n";
  text += "kernel " + Escaped(manifest.kernel) + " " + Escaped(manifest.machine) + "\n";
  text += Format("plan %llu %08x\n", static_cast<unsigned long long>(manifest.plan_bytes),
                 manifest.plan_checksum);
  if (manifest.round != 0)
    text += Format("round %u process %u\n", manifest.round, manifest.last_process);
  if (manifest.apart) text += "apart\n";
  for (const Manifest::Stream& stream : manifest.streams)
    text += "stream " + Escaped(stream.name) +
            Format(" %llu %llu\n", static_cast<unsigned long long>(stream.bytes),
                   static_cast<unsigned long long>(stream.inode));
  for (const Manifest::Node& node : manifest.nodes)
    text += Format("node %u ", node.number) + Escaped(node.name) + "\n";
  for (const Manifest::Rank& rank : manifest.ranks) {
    if (rank.ended) {
      text += Format("rank %u ended %d\n", rank.rank, *rank.ended);
      continue;
    }
    text += Format("rank %u node %u process %lld links", rank.rank, rank.node,
                   static_cast<long long>(rank.process));
    for (const std::string& link : rank.links) text += " " + Escaped(link);
    text += "\n";
  }
  for (const Manifest::Part& part : manifest.parts)
    text += Format("part %u ", part.rank) + Escaped(part.name) +
            Format(" %llu %08x\n", static_cast<unsigned long long>(part.bytes), part.checksum);
  const std::size_t lines = Split(text, '\n').size() - 1;
  return text + Format("end %zu %08x\n", lines, Checksum(text));
}

Result<Manifest> ParseManifest(std::string_view text) {
  if (Status status = CheckTitle(text.substr(0, text.find('\n'))); !status.ok()) return status;
  Result<std::vector<std::string_view>> lines = CheckedLines(text);
  if (!lines.ok()) return std::move(lines).status();
  Manifest manifest;
  for (std::size_t number = 1; number < lines->size(); ++number) {
    Words words((*lines)[number]);
    const std::string_view word = words.Raw();
    if (ReadLine(word, &words, &manifest) && (!words.ok() || !words.empty()))
      return Error(Code::kInvalid, "line %zu of the manifest is not understood: %s", number + 1,
                   std::string((*lines)[number]).c_str());
  }
  if (Status status = CheckSense(manifest); !status.ok()) return status;
  return manifest;
}

}  // namespace lamina::checkpoint
