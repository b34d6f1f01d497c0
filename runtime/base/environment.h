// SPDX-License-Identifier: BSD-3-Clause
// This is the one place that reads the process environment. Everything else is handed a snapshot,
// so tests can give their own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

// Programs are looked for here if PATH is not set.
inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

class Environment {
 public:
  static Environment OfThisProcess();
  // Takes "NAME=value" strings; a later one replaces an earlier one.
  explicit Environment(const std::vector<std::string>& assignments);
  Environment() = default;

  std::optional<std::string> Get(std::string_view name) const;
  void Set(std::string_view name, std::string_view value);
  void Unset(std::string_view name);
  std::vector<std::string> Assignments() const;  // "NAME=value", sorted by name

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace lamina
