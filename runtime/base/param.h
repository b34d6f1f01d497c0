// SPDX-License-Identifier: BSD-3-Clause
// A parameter is a threshold or a behaviour that a user may change; each value has one origin.
//
// A component keeps its parameters in one plain struct whose member initialisers are the defaults,
// and describes them in one table (name, member, unit, range, help):
//
//   struct Params {
//     std::uint32_t ring_cells = 128;
//   };
//   inline constexpr std::tuple kFields{
//       param::Describe("transport.shm.ring_cells", &Params::ring_cells, Unit::kCount, 2u, 65536u,
//                       "Cells per ordered pair of peers. Power of two."),
//   };
//   Params params;
//   if (Status status = param::Load(settings, kFields, &params); !status.ok()) ...
//
// A value is looked up on the command line (--param name=value), then in the environment
// (LAMINA_TRANSPORT_SHM_RING_CELLS), then in parameter files; if nobody set it, the default stands.
// The launcher resolves once and hands every process the result; see Settings::Export.
//
// Members may be bool, std::uint32_t, std::uint64_t, std::int64_t, double or std::string.
// Threads: Settings is immutable once built.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina {

enum class Unit : std::uint8_t { kNone, kBytes, kCount, kMicroseconds, kMilliseconds, kSeconds };
const char* Name(Unit unit);  // "", "bytes", "", "us", "ms", "s"

enum class Origin : std::uint8_t { kDefault, kFile, kEnvironment, kCommandLine, kTool };
// "default", "file", "environment", "command line", "MPI_T"
const char* Name(Origin origin);

namespace param {

// This says where a value was found, for messages: "--param", "environment LAMINA_X",
// "/etc/lamina.conf:3".
struct Found {
  std::string value;
  Origin origin = Origin::kDefault;
  std::string where;
};

// Settings hold all parameters that somebody set, before anybody asks for them.
class Settings {
 public:
  // Reads LAMINA_* from `environment`, a null-terminated array of "NAME=value" strings that is not
  // kept. LAMINA_ORIGINS, LAMINA_EVENT_FD, LAMINA_ROSTER, LAMINA_NODE_MEMORY, LAMINA_CHECKPOINT,
  // LAMINA_COMPONENT_PATH, LAMINA_PREFIX and what tells a rank its place (LAMINA_RANK and its kin)
  // are no parameters.
  static Settings FromEnvironment(const char* const* environment);
  static Settings FromEnvironment(const Environment& environment);

  // Adds one --param argument, "name=value". It wins over everything else and over an earlier one
  // of the same name. The error is kInvalid if there is no '=' or no good name before it.
  Status AddCommandLine(std::string_view assignment);
  // Adds the lines `name = value` of a file; '#' at the start or after a blank begins a comment.
  // They lose against everything added by other means, and the first file to name a parameter wins.
  // The error is kNotFound if the file cannot be read; kInvalid names file and line (no '=', a bad
  // or reserved name, a name set twice).
  Status AddFile(const std::string& path);
  // Adds what a tool has set before initialisation, which wins over everything else.
  void AddTool(std::string_view name, std::string_view value);

  // Returns null if nobody set it. '.', '_' and '-' are alike in `name`, and so are capital and
  // small letters; see EnvironmentName. The result is valid until the next Add.
  const Found* Find(std::string_view name) const;
  // Returns the dotted names of everything set, sorted. For a name that only the environment gave,
  // the places of its dots are a guess.
  std::vector<std::string> Names() const;

  // Returns the settings as environment assignments for a child process: LAMINA_A_B=value for each,
  // plus one LAMINA_ORIGINS variable that keeps the origins, so that the child reports them as we
  // would. If a value was changed on the way, the child takes the environment for its origin.
  std::vector<std::string> Export() const;

 private:
  struct Entry {
    std::string name;  // dotted
    Found found;
  };
  std::map<std::string, Entry, std::less<>> entries_;  // by EnvironmentName
};

// Turns "transport.shm.ring_cells" into "LAMINA_TRANSPORT_SHM_RING_CELLS". This loses information,
// because '.' and '_' both become '_'; values from the environment are therefore kept by this form
// and matched when asked for.
std::string EnvironmentName(std::string_view name);

// The type of a value, for callers that do not know the struct it stands in.
enum class Type : std::uint8_t { kSwitch, kUnsigned32, kUnsigned64, kSigned64, kReal, kText };
template <class T>
constexpr Type TypeOf() {
  if constexpr (std::is_same_v<T, bool>) return Type::kSwitch;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Type::kUnsigned32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Type::kUnsigned64;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::kSigned64;
  if constexpr (std::is_same_v<T, double>) return Type::kReal;
  return Type::kText;
}

// A Row is one row of a component's table without its C++ types, as lamina info and MPI_T print it.
struct Row {
  std::string name;
  std::string value;  // current
  std::string default_value;
  std::string range;  // "2..65536", "" if any value will do
  Unit unit = Unit::kNone;
  Origin origin = Origin::kDefault;
  std::string where;
  std::string help;
  std::string problem;  // why the value somebody set was not taken; usually empty
  Type type = Type::kText;
};

template <class Params, class T>
struct Field {
  const char* name;
  T Params::*member;
  Unit unit;
  T minimum;
  T maximum;
  const char* help;
};

// Describes a number with a closed range.
template <class Params, class T>
constexpr Field<Params, T> Describe(const char* name, T Params::*member, Unit unit,
                                    std::type_identity_t<T> minimum,
                                    std::type_identity_t<T> maximum, const char* help) {
  return {name, member, unit, minimum, maximum, help};
}

// Describes a switch: true/false, yes/no, on/off or 1/0.
template <class Params>
constexpr Field<Params, bool> Describe(const char* name, bool Params::*member, const char* help) {
  return {name, member, Unit::kNone, false, true, help};
}

// Describes a word or text. `choices` is "a|b|c", or "" for free text.
template <class Params>
struct TextField {
  const char* name;
  std::string Params::*member;
  const char* choices;
  const char* help;
};
template <class Params>
constexpr TextField<Params> Describe(const char* name, std::string Params::*member,
                                     const char* choices, const char* help) {
  return {name, member, choices, help};
}

// Parses the text of one value and checks its range. Byte counts accept the suffixes k, m, g
// (powers of 1024). The error names parameter, value, range and origin.
Status Parse(const Found& found, const char* name, Unit unit, std::uint32_t minimum,
             std::uint32_t maximum, std::uint32_t* value);
Status Parse(const Found& found, const char* name, Unit unit, std::uint64_t minimum,
             std::uint64_t maximum, std::uint64_t* value);
Status Parse(const Found& found, const char* name, Unit unit, std::int64_t minimum,
             std::int64_t maximum, std::int64_t* value);
Status Parse(const Found& found, const char* name, Unit unit, double minimum, double maximum,
             double* value);
Status Parse(const Found& found, const char* name, Unit unit, bool minimum, bool maximum,
             bool* value);
Status Parse(const Found& found, const char* name, const char* choices, std::string* value);

std::string Print(std::uint32_t value);
std::string Print(std::uint64_t value);
std::string Print(std::int64_t value);
std::string Print(double value);
std::string Print(bool value);
std::string Print(const std::string& value);

template <class Params, class T>
Status LoadField(const Settings& settings, const Field<Params, T>& field, Params* params) {
  const Found* found = settings.Find(field.name);
  if (found == nullptr) return {};
  return Parse(*found, field.name, field.unit, field.minimum, field.maximum,
               &(params->*field.member));
}
template <class Params>
Status LoadField(const Settings& settings, const TextField<Params>& field, Params* params) {
  const Found* found = settings.Find(field.name);
  if (found == nullptr) return {};
  return Parse(*found, field.name, field.choices, &(params->*field.member));
}

// Fills `params` from `settings`. The first bad value is returned as an error, and later fields
// keep their defaults.
template <class Params, class... Fields>
Status Load(const Settings& settings, const std::tuple<Fields...>& fields, Params* params) {
  Status status;
  std::apply(
      [&](const auto&... field) {
        ((status.ok() ? static_cast<void>(status = LoadField(settings, field, params))
                      : static_cast<void>(0)),
         ...);
      },
      fields);
  return status;
}

Row MakeRow(const Settings& settings, const char* name, std::string value,
            std::string default_value, std::string range, Unit unit, const char* help);

template <class Params, class T>
Row Describe(const Settings& settings, const Field<Params, T>& field, const Params& now) {
  std::string range;
  if constexpr (!std::is_same_v<T, bool>)
    range = Print(field.minimum) + ".." + Print(field.maximum);
  else
    range = "true|false";
  Row row = MakeRow(settings, field.name, Print(now.*field.member), Print(Params{}.*field.member),
                    std::move(range), field.unit, field.help);
  row.type = TypeOf<T>();
  return row;
}
template <class Params>
Row Describe(const Settings& settings, const TextField<Params>& field, const Params& now) {
  return MakeRow(settings, field.name, now.*field.member, Params{}.*field.member, field.choices,
                 Unit::kNone, field.help);
}

// Returns the table as rows of text with current values. Where a value was bad, the row shows the
// default and `problem` says what was wrong.
template <class Params, class... Fields>
std::vector<Row> Rows(const Settings& settings, const std::tuple<Fields...>& fields) {
  Params now;
  std::vector<Row> rows;
  const auto add = [&](const auto& field) {
    const Status status = LoadField(settings, field, &now);
    rows.push_back(Describe(settings, field, now));
    rows.back().problem = status.message();
    if (!status.ok()) rows.back().origin = Origin::kDefault;
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, fields);
  return rows;
}

// Returns a warning for each name in `settings` that no table knows, with the nearest known name:
//   unknown parameter "transport.shm.ring_cell" (--param); did you mean "transport.shm.ring_cells"?
// For a name from the environment, the suggestion is the name of a variable.
std::vector<std::string> UnknownNames(const Settings& settings,
                                      const std::vector<std::string>& known);

}  // namespace param
}  // namespace lamina
