// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/control.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::trace {
namespace {

template <class Visit>
void ForEachRow(const std::vector<component::ListedFramework>& frameworks, const Visit& visit) {
  for (const component::ListedFramework& framework : frameworks) {
    for (const param::Row& row : framework.params) visit(row);
    for (const component::ListedComponent& component : framework.components)
      for (const param::Row& row : component.params) visit(row);
  }
}

bool IsChoice(const param::Row& row) {
  return row.type == param::Type::kText && row.range.find('|') != std::string::npos;
}

std::unique_ptr<Enumeration> EnumerationOf(const param::Row& row) {
  auto enumeration = std::make_unique<Enumeration>();
  if (row.type == param::Type::kSwitch) {
    enumeration->name = "boolean";
    enumeration->items = {{0, "false"}, {1, "true"}};
    return enumeration;
  }
  if (!IsChoice(row)) return nullptr;
  enumeration->name = row.name;
  for (const std::string_view word : Split(row.range, '|'))
    enumeration->items.emplace_back(static_cast<int>(enumeration->items.size()), word);
  return enumeration;
}

MPI_Datatype DatatypeOf(const param::Row& row) {
  switch (row.type) {
    case param::Type::kSwitch:
      return MPI_INT;
    case param::Type::kUnsigned32:
      return MPI_UNSIGNED;
    case param::Type::kUnsigned64:
      return MPI_UNSIGNED_LONG_LONG;
    case param::Type::kSigned64:
      return MPI_COUNT;
    case param::Type::kReal:
      return MPI_DOUBLE;
    case param::Type::kText:
      break;
  }
  return IsChoice(row) ? MPI_INT : MPI_CHAR;
}

// Both ends of a transport and all members of a collective must agree on a value; the other
// parameters may differ between processes.
int ScopeOf(std::string_view name) {
  return name.starts_with("transport.") || name.starts_with("collective.") ? MPI_T_SCOPE_ALL_EQ
                                                                           : MPI_T_SCOPE_LOCAL;
}

int VerbosityOf(std::string_view name) {
  const bool user = name.starts_with("api.") || name.starts_with("base.");
  return user ? MPI_T_VERBOSITY_USER_BASIC : MPI_T_VERBOSITY_TUNER_DETAIL;
}

ControlVariable Constant(const char* name, const char* description, const char* value) {
  ControlVariable variable;
  variable.name = name;
  variable.description = description;
  variable.count = kTextBytes;
  variable.scope = MPI_T_SCOPE_CONSTANT;
  variable.constant = value;
  return variable;
}

template <class T>
void Put(T value, void* buffer) {
  std::memcpy(buffer, &value, sizeof value);
}

template <class T>
T Get(const void* buffer) {
  T value;
  std::memcpy(&value, buffer, sizeof value);
  return value;
}

}  // namespace

std::vector<ControlVariable> ControlVariables(
    const std::vector<component::ListedFramework>& frameworks) {
  std::vector<ControlVariable> all;
  all.push_back(Constant("library.version", "Version of this library.", kVersion));
  ForEachRow(frameworks, [&](const param::Row& row) {
    ControlVariable variable;
    variable.name = row.name;
    variable.description = row.help;
    if (*Name(row.unit) != '\0') variable.description += std::string(" In ") + Name(row.unit) + ".";
    variable.type = row.type;
    variable.enumeration = EnumerationOf(row);
    variable.datatype = DatatypeOf(row);
    variable.count = variable.datatype == MPI_CHAR ? kTextBytes : 1;
    variable.scope = ScopeOf(row.name);
    variable.verbosity = VerbosityOf(row.name);
    all.push_back(std::move(variable));
  });
  return all;
}

std::string ValueOf(const ControlVariable& variable,
                    const std::vector<component::ListedFramework>& frameworks) {
  std::string value = variable.constant;
  ForEachRow(frameworks, [&](const param::Row& row) {
    if (row.name == variable.name) value = row.value;
  });
  return value;
}

void ToBuffer(const ControlVariable& variable, const std::string& value, void* buffer) {
  if (variable.enumeration != nullptr) {
    int number = 0;
    for (const auto& [item, name] : variable.enumeration->items)
      if (name == value) number = item;
    return Put(number, buffer);
  }
  switch (variable.type) {
    case param::Type::kUnsigned32:
      return Put(static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10)), buffer);
    case param::Type::kUnsigned64:
      return Put(std::strtoull(value.c_str(), nullptr, 10), buffer);
    case param::Type::kSigned64:
      return Put(static_cast<MPI_Count>(std::strtoll(value.c_str(), nullptr, 10)), buffer);
    case param::Type::kReal:
      return Put(std::strtod(value.c_str(), nullptr), buffer);
    case param::Type::kSwitch:
    case param::Type::kText:
      break;
  }
  const std::string text = value.substr(0, kTextBytes - 1);
  std::memcpy(buffer, text.c_str(), text.size() + 1);
}

std::optional<std::string> FromBuffer(const ControlVariable& variable, const void* buffer) {
  if (variable.enumeration != nullptr) {
    for (const auto& [item, name] : variable.enumeration->items)
      if (item == Get<int>(buffer)) return name;
    return std::nullopt;
  }
  switch (variable.type) {
    case param::Type::kUnsigned32:
      return std::to_string(Get<unsigned>(buffer));
    case param::Type::kUnsigned64:
      return std::to_string(Get<unsigned long long>(buffer));
    case param::Type::kSigned64:
      return std::to_string(Get<MPI_Count>(buffer));
    case param::Type::kReal:
      return param::Print(Get<double>(buffer));
    case param::Type::kSwitch:
    case param::Type::kText:
      break;
  }
  const auto* text = static_cast<const char*>(buffer);
  const std::size_t bytes = strnlen(text, kTextBytes);
  if (bytes == kTextBytes) return std::nullopt;
  return std::string(text, bytes);
}

}  // namespace lamina::trace
