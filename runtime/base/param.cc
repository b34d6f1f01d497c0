// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/param.h"

#include <locale.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/base/origins.h"
#include "runtime/base/text.h"

namespace lamina {

const char* Name(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kBytes:
      return "bytes";
    case Unit::kCount:
      return "";
    case Unit::kMicroseconds:
      return "us";
    case Unit::kMilliseconds:
      return "ms";
    case Unit::kSeconds:
      return "s";
  }
  return "";
}

const char* Name(Origin origin) {
  switch (origin) {
    case Origin::kDefault:
      return "default";
    case Origin::kFile:
      return "file";
    case Origin::kEnvironment:
      return "environment";
    case Origin::kCommandLine:
      return "command line";
    case Origin::kTool:
      return "MPI_T";
  }
  return "";
}

namespace param {
namespace {

constexpr std::string_view kPrefix = "LAMINA_";
constexpr std::string_view kOrigins = "LAMINA_ORIGINS";
constexpr std::string_view kReserved[] = {
    kOrigins, "LAMINA_EVENT_FD", "LAMINA_ROSTER", "LAMINA_NODE_MEMORY", "LAMINA_CHECKPOINT",
    "LAMINA_PARENT", "LAMINA_TIE", "LAMINA_DOOR", "LAMINA_FURTHER", "LAMINA_COMPONENT_PATH",
    "LAMINA_PREFIX", "LAMINA_AGENT", "LAMINA_WINDOW_FOLDER",
    // launcher/plan/rank_variables.h
    "LAMINA_RANK", "LAMINA_SIZE", "LAMINA_LOCAL_RANK", "LAMINA_LOCAL_SIZE", "LAMINA_NODE",
    "LAMINA_NODES"};

bool Reserved(std::string_view variable) {
  for (const std::string_view reserved : kReserved)
    if (variable == reserved) return true;
  return false;
}

// Guesses the likeliest dotted form: names of frameworks have no '_', and few names of components
// have.
std::string GuessDotted(std::string_view variable) {
  std::string name;
  int dots = 0;
  for (const char c : variable.substr(kPrefix.size())) {
    const bool dot = c == '_' && dots < 2;
    dots += dot ? 1 : 0;
    name += dot ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

Status CheckSettable(std::string_view name) {
  const int length = static_cast<int>(name.size());
  if (!IsParameterName(name))
    return Error(Code::kInvalid,
                 "\"%.*s\" is not a parameter name: use letters, digits, '.' and '_'", length,
                 name.data());
  const std::string variable = EnvironmentName(name);
  if (Reserved(variable))
    return Error(Code::kInvalid, "\"%.*s\" is not a parameter: %s is set by lamina itself", length,
                 name.data(), variable.c_str());
  return {};
}

// --- values -------------------------------------------------------------------------------------

std::string RangeText(const std::string& minimum, const std::string& maximum, Unit unit) {
  std::string text = minimum + ".." + maximum;
  if (*Name(unit) != '\0') text += std::string(" ") + Name(unit);
  return text;
}

Status NotA(const char* what, const Found& found, const char* name, const std::string& range) {
  return Error(Code::kInvalid, "parameter %s: \"%s\" is not %s, expected %s (set by %s)", name,
               found.value.c_str(), what, range.c_str(), found.where.c_str());
}

Status OutOfRange(const Found& found, const char* name, const std::string& range) {
  return Error(Code::kInvalid, "parameter %s: \"%s\" is out of range %s (set by %s)", name,
               found.value.c_str(), range.c_str(), found.where.c_str());
}

struct Whole {
  bool negative = false;
  bool huge = false;  // the digits do not fit `magnitude`
  std::uint64_t magnitude = 0;
};

// Returns how many bytes one suffix letter stands for, or 0 if there is no such suffix.
std::uint64_t Suffix(char letter) {
  switch (std::tolower(static_cast<unsigned char>(letter))) {
    case 'k':
      return std::uint64_t{1} << 10;
    case 'm':
      return std::uint64_t{1} << 20;
    case 'g':
      return std::uint64_t{1} << 30;
  }
  return 0;
}

std::optional<Whole> ParseWhole(std::string_view text, Unit unit) {
  Whole whole;
  text = Trim(text);
  if (!text.empty() && text.front() == '-') {
    whole.negative = true;
    text.remove_prefix(1);
  }
  std::uint64_t factor = 1;
  if (unit == Unit::kBytes && !text.empty() && Suffix(text.back()) != 0) {
    factor = Suffix(text.back());
    text.remove_suffix(1);
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, whole.magnitude);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  whole.huge = error == std::errc::result_out_of_range ||
               whole.magnitude > std::numeric_limits<std::uint64_t>::max() / factor;
  whole.magnitude *= whole.huge ? 1 : factor;
  return whole;
}

template <class T>
Status ParseUnsigned(const Found& found, const char* name, Unit unit, T minimum, T maximum,
                     T* value) {
  const std::string range = RangeText(Print(minimum), Print(maximum), unit);
  const std::optional<Whole> whole = ParseWhole(found.value, unit);
  if (!whole) return NotA("a whole number", found, name, range);
  const bool below = (whole->negative && whole->magnitude != 0) || whole->magnitude < minimum;
  if (whole->huge || below || whole->magnitude > maximum) return OutOfRange(found, name, range);
  *value = static_cast<T>(whole->magnitude);
  return {};
}

// Returns what `work` returns, run with the C locale, so that a fraction follows a point whatever
// language the application speaks. std::from_chars and std::to_chars of a double would need no
// locale, but would bring their large tables and the mathematical library into every process.
template <class Work>
auto InPlainLocale(Work&& work) {
  const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", nullptr));  // a constant of glibc
  auto result = work();
  uselocale(before);
  return result;
}

}  // namespace

std::string EnvironmentName(std::string_view name) {
  std::string variable(kPrefix);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    variable += std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return variable;
}

Settings Settings::FromEnvironment(const char* const* environment) {
  std::vector<std::string> assignments;
  for (; environment != nullptr && *environment != nullptr; ++environment)
    assignments.emplace_back(*environment);
  return FromEnvironment(Environment(assignments));
}

Settings Settings::FromEnvironment(const Environment& environment) {
  const std::string text = environment.Get(kOrigins).value_or("");
  const std::unordered_map<std::string, Provenance> origins = ReadOrigins(text);
  Settings settings;
  for (const std::string& assignment : environment.Assignments()) {
    const std::size_t equals = assignment.find('=');
    const std::string given = assignment.substr(0, equals);
    if (!given.starts_with(kPrefix) || !IsParameterName(given.substr(kPrefix.size()))) continue;
    const std::string variable = EnvironmentName(given.substr(kPrefix.size()));
    if (Reserved(variable)) continue;
    Entry entry{GuessDotted(variable),
                {assignment.substr(equals + 1), Origin::kEnvironment, "environment " + given}};
    const auto known = origins.find(variable);
    if (known != origins.end() && known->second.fingerprint == Fingerprint(entry.found.value)) {
      entry.name = known->second.name;
      entry.found.origin = known->second.origin;
      entry.found.where = known->second.where;
    }
    // One that is written as it should be wins over one in small letters.
    if (given == variable)
      settings.entries_.insert_or_assign(variable, std::move(entry));
    else
      settings.entries_.emplace(variable, std::move(entry));
  }
  return settings;
}

Status Settings::AddCommandLine(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    return Error(Code::kInvalid, "--param %.*s: expected name=value",
                 static_cast<int>(assignment.size()), assignment.data());
  const std::string_view name = Trim(assignment.substr(0, equals));
  if (Status status = CheckSettable(name); !status.ok()) return std::move(status).Within("--param");
  entries_[EnvironmentName(name)] = {
      std::string(name),
      {std::string(Trim(assignment.substr(equals + 1))), Origin::kCommandLine, "--param"}};
  return {};
}

namespace {

// Returns one line of a parameter file without its comment, which '#' begins at the start or after
// a blank.
std::string_view WithoutComment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
      return Trim(line.substr(0, i));
  return Trim(line);
}

// Reads a file line by line, without the line ends. A C++ stream would bring its locales into every
// process.
class Lines {
 public:
  explicit Lines(const std::string& path) : file_(fopen(path.c_str(), "re"), fclose) {}
  ~Lines() { free(line_); }
  Lines(const Lines&) = delete;
  bool good() const { return file_ != nullptr && ferror(file_.get()) == 0; }
  // Returns the next line, valid until the call after, or nothing at the end and after an error.
  std::optional<std::string_view> Next() {
    const ssize_t length = getline(&line_, &room_, file_.get());
    if (length < 0) return std::nullopt;
    const std::string_view line(line_, static_cast<std::size_t>(length));
    return line.substr(0, line.size() - line.ends_with('\n'));
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
  char* line_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace

Status Settings::AddFile(const std::string& path) {
  const auto unreadable = [&path] {
    return SystemError(Code::kNotFound, errno, "cannot read parameter file %s", path.c_str());
  };
  Lines lines(path);
  if (!lines.good()) return unreadable();
  std::map<std::string, Entry, std::less<>> added;
  int number = 0;
  while (const std::optional<std::string_view> line = lines.Next()) {
    ++number;
    const std::string where = Format("%s:%d", path.c_str(), number);
    const std::string_view text = WithoutComment(*line);
    if (text.empty()) continue;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || line->find('\0') != std::string_view::npos)
      return Error(Code::kInvalid, "%s: expected name = value", where.c_str());
    const std::string_view name = Trim(text.substr(0, equals));
    if (Status status = CheckSettable(name); !status.ok()) return std::move(status).Within(where);
    Entry entry{std::string(name),
                {std::string(Trim(text.substr(equals + 1))), Origin::kFile, where}};
    const auto [place, fresh] = added.emplace(EnvironmentName(name), std::move(entry));
    if (!fresh)
      return Error(Code::kInvalid, "%s: %.*s is set already at %s", where.c_str(),
                   static_cast<int>(name.size()), name.data(), place->second.found.where.c_str());
  }
  if (!lines.good()) return unreadable();
  entries_.merge(added);  // merge() keeps the entries that were there
  return {};
}

void Settings::AddTool(std::string_view name, std::string_view value) {
  entries_[EnvironmentName(name)] = {std::string(name),
                                     {std::string(value), Origin::kTool, Name(Origin::kTool)}};
}

const Found* Settings::Find(std::string_view name) const {
  const auto entry = entries_.find(EnvironmentName(name));
  return entry == entries_.end() ? nullptr : &entry->second.found;
}

std::vector<std::string> Settings::Names() const {
  std::vector<std::string> names;
  for (const auto& [variable, entry] : entries_) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Settings::Export() const {
  std::vector<std::string> assignments;
  std::string origins;
  for (const auto& [variable, entry] : entries_) {
    assignments.push_back(variable + "=" + entry.found.value);
    if (entry.found.origin == Origin::kEnvironment) continue;
    if (!origins.empty()) origins += ';';
    origins += WriteOrigin(entry.name, entry.found);
  }
  if (!origins.empty()) assignments.push_back(std::string(kOrigins) + "=" + origins);
  return assignments;
}

Status Parse(const Found& found, const char* name, Unit unit, std::uint32_t minimum,
             std::uint32_t maximum, std::uint32_t* value) {
  return ParseUnsigned(found, name, unit, minimum, maximum, value);
}

Status Parse(const Found& found, const char* name, Unit unit, std::uint64_t minimum,
             std::uint64_t maximum, std::uint64_t* value) {
  return ParseUnsigned(found, name, unit, minimum, maximum, value);
}

Status Parse(const Found& found, const char* name, Unit unit, std::int64_t minimum,
             std::int64_t maximum, std::int64_t* value) {
  const std::string range = RangeText(Print(minimum), Print(maximum), unit);
  const std::optional<Whole> whole = ParseWhole(found.value, unit);
  if (!whole) return NotA("a whole number", found, name, range);
  const std::uint64_t limit = (std::uint64_t{1} << 63) - (whole->negative ? 0 : 1);
  if (whole->huge || whole->magnitude > limit) return OutOfRange(found, name, range);
  // The negation works on two's complement, so that the most negative number needs no case of its
  // own.
  const auto number =
      static_cast<std::int64_t>(whole->negative ? 0 - whole->magnitude : whole->magnitude);
  if (number < minimum || number > maximum) return OutOfRange(found, name, range);
  *value = number;
  return {};
}

Status Parse(const Found& found, const char* name, Unit unit, double minimum, double maximum,
             double* value) {
  const std::string range = RangeText(Print(minimum), Print(maximum), unit);
  const std::string_view text = Trim(found.value);
  const std::string copy(text);
  char* stop = nullptr;
  const double number = InPlainLocale([&] { return std::strtod(copy.c_str(), &stop); });
  if (text.empty() || stop != copy.c_str() + copy.size() || std::isnan(number))
    return NotA("a number", found, name, range);
  if (number < minimum || number > maximum) return OutOfRange(found, name, range);
  *value = number;
  return {};
}

Status Parse(const Found& found, const char* name, Unit, bool, bool, bool* value) {
  std::string word;
  for (const char c : Trim(found.value))
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"true", "yes", "on", "1"})
    if (word == yes) return *value = true, Status();
  for (const char* no : {"false", "no", "off", "0"})
    if (word == no) return *value = false, Status();
  return NotA("a switch", found, name, "true|false, yes|no, on|off or 1|0");
}

Status Parse(const Found& found, const char* name, const char* choices, std::string* value) {
  if (*choices == '\0') {
    *value = found.value;
    return {};
  }
  std::vector<std::string> words;
  for (const std::string_view choice : Split(choices, '|')) {
    if (found.value == choice) {
      *value = found.value;
      return {};
    }
    words.emplace_back(choice);
  }
  const std::string nearest = Nearest(found.value, words);
  const std::string hint = nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?";
  return Error(Code::kInvalid, "parameter %s: \"%s\" is not one of %s (set by %s)%s", name,
               found.value.c_str(), choices, found.where.c_str(), hint.c_str());
}

std::string Print(std::uint32_t value) { return std::to_string(value); }
std::string Print(std::uint64_t value) { return std::to_string(value); }
std::string Print(std::int64_t value) { return std::to_string(value); }
std::string Print(bool value) { return value ? "true" : "false"; }
std::string Print(const std::string& value) { return value; }

std::string Print(double value) {
  return InPlainLocale([value] {
    char text[64];  // the shortest form that reads back as the same number, 6 digits at least
    for (int digits = 6; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, value);
      if (std::strtod(text, nullptr) == value) break;
    }
    return std::string(text);
  });
}

Row MakeRow(const Settings& settings, const char* name, std::string value,
            std::string default_value, std::string range, Unit unit, const char* help) {
  Row row{name,
          std::move(value),
          std::move(default_value),
          std::move(range),
          unit,
          Origin::kDefault,
          "",
          help,
          "",
          Type::kText};
  if (const Found* found = settings.Find(name); found != nullptr) {
    row.origin = found->origin;
    row.where = found->where;
  }
  return row;
}

std::vector<std::string> UnknownNames(const Settings& settings,
                                      const std::vector<std::string>& known) {
  // The common prefix is left out of the comparison, because it would make everything look alike.
  const auto key = [](std::string_view name) {
    return EnvironmentName(name).substr(kPrefix.size());
  };
  std::map<std::string, std::string> names;
  std::vector<std::string> keys;
  for (const std::string& name : known)
    if (names.emplace(key(name), name).second) keys.push_back(key(name));
  std::vector<std::string> warnings;
  for (const std::string& name : settings.Names()) {
    if (names.count(key(name)) != 0) continue;
    const Found& found = *settings.Find(name);
    std::string warning =
        Format("unknown parameter \"%s\" (%s)", name.c_str(), found.where.c_str());
    const std::string nearest = Nearest(key(name), keys);
    if (!nearest.empty()) {
      const bool variable = found.origin == Origin::kEnvironment;
      warning += "; did you mean \"" +
                 (variable ? EnvironmentName(names[nearest]) : names[nearest]) + "\"?";
    }
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace param
}  // namespace lamina
