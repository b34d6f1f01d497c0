// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/command_line.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "launcher/cli/foreign.h"
#include "launcher/cli/options.h"
#include "launcher/cli/words_file.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kQuoteMax = 80;
constexpr unsigned kWordsFilesMax = 32;  // one may name the next, or itself

// Makes what was written printable and short, for messages.
std::string Shown(std::string_view text) {
  std::string shown;
  for (const char letter : text.substr(0, kQuoteMax))
    shown += letter >= ' ' && letter != 127 ? letter : '?';
  return text.size() > kQuoteMax ? shown + "..." : shown;
}

bool BeginsWithNo(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find_first_not_of('-')));
  return name.starts_with("no");
}

// Returns the known name that was probably meant, or "". It is never a single letter, which would
// be a guess, and never the opposite of what was written.
std::string Meant(std::string_view name) {
  std::vector<std::string> candidates = OptionNames();
  std::erase_if(candidates, [name](const std::string& known) {
    const bool is_letter = known.find_last_of('-') + 2 == known.size();
    return is_letter || BeginsWithNo(known) != BeginsWithNo(name);
  });
  return Nearest(name, candidates);
}

Status UnknownOption(std::string_view name) {
  const std::string_view advice = ForeignAdvice(name);
  if (!advice.empty())
    return Error(Code::kInvalid, "unknown option %s: %s", Shown(name).c_str(),
                 std::string(advice).c_str());
  const std::string near = Meant(name);
  if (!near.empty())
    return Error(Code::kInvalid, "unknown option %s; did you mean %s?", Shown(name).c_str(),
                 near.c_str());
  return Error(Code::kInvalid, "unknown option %s; --help lists them", Shown(name).c_str());
}

// Reads the words in one pass; `next_` is the first that nobody has read.
class Parser {
 public:
  Parser(std::span<const std::string> words, const ReadText& read)
      : words_(words.begin(), words.end()), read_(read) {}

  Result<Invocation> Parse() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_];
      if (word == "--" || word.size() < 2 || word.front() != '-') {
        if (word == "--") ++next_;
        if (Status status = TakeProgram(); !status.ok()) return status;
        continue;
      }
      if (Status status = TakeOption(); !status.ok()) return status;
      if (draft_.line.action != Invocation::Action::kRun) return std::move(draft_.line);
    }
    if (Status status = CheckEnd(); !status.ok()) return status;
    return std::move(draft_.line);
  }

 private:
  bool AtEnd() const { return next_ >= words_.size(); }

  // Takes "-n4", "-np=4", "--np=4", "--np 4" or "-genv A B".
  Status TakeOption() {
    const std::string_view word = words_[next_++];
    std::string_view name = word;
    std::optional<std::string_view> value;
    const Option* option = FindOption(name);
    if (option == nullptr) {
      if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
        name = word.substr(0, equals);
        value = word.substr(equals + 1);
      } else if (const std::size_t digit = word.find_first_of("0123456789");
                 digit != std::string_view::npos && digit <= 3) {
        name = word.substr(0, digit);  // a number may follow without a blank
        value = word.substr(digit);
      }
      option = FindOption(name);
      if (option == nullptr) {
        const bool has_value =
            value && (word.find('=') != word.npos || !ForeignAdvice(name).empty());
        return UnknownOption(has_value ? name : word);
      }
    }
    const std::string_view argument = option->argument;
    if (argument.empty()) {
      if (value)
        return Error(Code::kInvalid, "%s takes no value%s", Shown(name).c_str(),
                     name == "--checkpoint" ? " but auto or required; --checkpoint-dir DIR says "
                                              "where the job is saved"
                                            : "");
      return Finish(*option, name, "");
    }
    if (argument.starts_with("[=")) return Finish(*option, name, value.value_or(""));
    if (argument.front() == '[') return Finish(*option, name, value ? *value : OptionalTopic());
    if (!value) {
      if (AtEnd())
        return Error(Code::kInvalid, "%s needs a value: %s %s", Shown(name).c_str(),
                     Shown(name).c_str(), std::string(argument).c_str());
      value = words_[next_++];
    }
    if (argument.find(' ') == std::string_view::npos || value->find('=') != value->npos)
      return Finish(*option, name, *value);
    if (AtEnd())
      return Error(Code::kInvalid, "%s needs two values: %s %s", Shown(name).c_str(),
                   Shown(name).c_str(), std::string(argument).c_str());
    return Finish(*option, name, std::string(*value) + "=" + words_[next_++]);
  }

  std::string_view OptionalTopic() {
    if (AtEnd() || words_[next_].starts_with('-')) return {};
    return words_[next_++];
  }

  Status Finish(const Option& option, std::string_view name, std::string_view value) {
    draft_.typed = name;
    Status status = option.apply(draft_, value);
    if (status.ok() && !draft_.words_file.empty()) status = TakeFile();
    if (status.ok()) return status;
    return Error(status.code(), "%s %s: %s", Shown(name).c_str(), Shown(value).c_str(),
                 std::string(status.message()).c_str());
  }

  // Puts the words of the file that an option named into the place of this option.
  Status TakeFile() {
    const std::string path = std::exchange(draft_.words_file, {});
    if (++files_ > kWordsFilesMax)
      return Error(Code::kInvalid, "these are more than %u files of words", kWordsFilesMax);
    if (draft_.has_programs && !AtEnd() && words_[next_] != ":")
      return Error(Code::kInvalid, "what follows such a file begins with a colon");
    Result<std::string> text = read_(path);
    if (!text.ok()) return std::move(text).status();
    Result<std::vector<std::string>> words = WordsOfFile(*text, draft_.has_programs);
    if (!words.ok()) return std::move(words).status();
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(next_), words->begin(),
                  words->end());
    return {};
  }

  Status TakeProgram() {
    while (!AtEnd() && words_[next_] != ":") draft_.program.argv.push_back(words_[next_++]);
    if (draft_.program.argv.empty()) return CheckEnd();
    if (draft_.program.argv.front().empty())
      return Error(Code::kInvalid, "the program's name is empty");
    draft_.line.request.programs.push_back(std::move(draft_.program));
    draft_.program = {};
    wants_program_ = !AtEnd();
    if (!AtEnd()) ++next_;
    return {};
  }

  Status CheckEnd() const {
    if (wants_program_)
      return Error(Code::kInvalid, "no program given%s",
                   draft_.line.request.programs.empty()
                       ? ": mpiexec [options] program [arguments]; --help tells more"
                       : " after \":\"");
    std::uint64_t total = 0;
    for (const ProgramRequest& program : draft_.line.request.programs) {
      if (!program.ranks) return {};
      total += *program.ranks;
    }
    if (total > INT32_MAX)
      return Error(Code::kInvalid, "more ranks than MPI can number (%d)", INT32_MAX);
    return {};
  }

  std::vector<std::string> words_;
  const ReadText& read_;
  unsigned files_ = 0;
  std::size_t next_ = 0;
  bool wants_program_ = true;
  Draft draft_;
};

}  // namespace

Result<Invocation> ParseCommandLine(std::span<const std::string> arguments, const ReadText& read) {
  return Parser(arguments, read).Parse();
}

}  // namespace lamina::launcher
