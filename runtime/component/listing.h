// SPDX-License-Identifier: BSD-3-Clause
// This is what `lamina info` shows of every framework: its components, best first, what each of
// them answered and why, their parameters, and the shared objects that were refused. Here it is
// data and text; the caller that fills it knows the frameworks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/component/component.h"
#include "runtime/component/plugin.h"

namespace lamina::component {

struct ListedComponent {
  Info info;
  Offer offer;
  std::vector<param::Row> params;
};

struct ListedFramework {
  std::string name;
  std::vector<ListedComponent> components;  // best first
  std::vector<param::Row> params;           // of the framework itself
  std::vector<Refusal> refused;
};

// Asks every component of `registry` and makes none.
template <class Interface, class Context, class Facts>
ListedFramework List(std::string_view name, const Registry<Interface, Context, Facts>& registry,
                     const Context& context, const param::Settings& settings) {
  ListedFramework listed{std::string(name), {}, {}, {}};
  for (auto& [component, offer] : registry.Ask(context))
    listed.components.push_back(
        {component->info, std::move(offer),
         component->params ? component->params(settings) : std::vector<param::Row>()});
  return listed;
}

// Keeps only framework `framework`, and of it only component `component`; "" means all. The error
// is kNotFound, with the nearest name, when there is none.
Result<std::vector<ListedFramework>> Filter(std::vector<ListedFramework> all,
                                            std::string_view framework, std::string_view component);

// Returns the names of all parameters, for param::UnknownNames.
std::vector<std::string> ParameterNames(const std::vector<ListedFramework>& frameworks);

struct PrintOptions {
  bool params = false;            // parameter tables too
  bool refused = true;            // shared objects that were not taken
  std::size_t columns_max = 100;  // long texts are wrapped here
};

// Prints in columns for a person. The text ends in a newline unless it is empty.
std::string Print(const std::vector<ListedFramework>& frameworks, const PrintOptions& options);

// Prints a parameter table alone, indented by `indent`; it also serves parameters that belong to no
// framework.
std::string PrintParams(const std::vector<param::Row>& rows, std::size_t indent,
                        std::size_t columns_max);

}  // namespace lamina::component
