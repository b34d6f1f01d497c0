// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/environment.h"

#include <unistd.h>

namespace lamina {

Environment Environment::OfThisProcess() {
  std::vector<std::string> assignments;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    assignments.emplace_back(*variable);
  return Environment(assignments);
}

Environment::Environment(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals != std::string::npos)
      Set(std::string_view(assignment).substr(0, equals),
          std::string_view(assignment).substr(equals + 1));
  }
}

std::optional<std::string> Environment::Get(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

void Environment::Set(std::string_view name, std::string_view value) {
  variables_[std::string(name)] = std::string(value);
}

void Environment::Unset(std::string_view name) {
  const auto found = variables_.find(name);
  if (found != variables_.end()) variables_.erase(found);
}

std::vector<std::string> Environment::Assignments() const {
  std::vector<std::string> assignments;
  for (const auto& [name, value] : variables_) assignments.push_back(name + "=" + value);
  return assignments;
}

}  // namespace lamina
