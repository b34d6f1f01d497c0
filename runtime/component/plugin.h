// SPDX-License-Identifier: BSD-3-Clause
// Plugins are components that third parties built: shared objects behind the C interface of
// component_abi.h.
//
// LoadPlugins opens the objects of one framework and checks their descriptors. An object that
// cannot be used is listed with its reason and stops nobody. A framework then turns each descriptor
// into a component like any other, with Adapt and one function of its own that wraps the table of
// actions:
//
//   Plugins plugins = LoadPlugins({"collective", 1}, PluginDirectories(environment, prefix));
//   for (const Plugin& plugin : plugins.loaded)
//     if (Status status = registry.Add(Adapt<Collective, Context>(plugin, Wrap)); !status.ok())
//       plugins.refused.push_back({plugin.info.source, std::string(status.message())});
//
// Ownership: A loaded object stays mapped to the end of the process, so a Plugin may be copied
//            freely and never dangles. A refused one is closed at once.
// Threads:   One thread at a time may load, as dlopen runs the constructors of the objects.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/component/component.h"
#include "runtime/component/component_abi.h"

namespace lamina::component {

// This names the framework that the host speaks. `name` is the first part of the file names.
struct HostFramework {
  std::string_view name;
  std::uint16_t major = 1;
};

struct Plugin {
  Info info;  // source: the path
  // This copy of the descriptor has nulls where the object's own ended; `actions` is never null.
  lamina_component descriptor{};
};

struct Refusal {
  std::string path;  // of the shared object, or of a directory that could not be read
  std::string reason;
  bool overridden = false;  // by one of the same name that came first, as intended
};

struct Plugins {
  std::vector<Plugin> loaded;  // by directory, then by name
  std::vector<Refusal> refused;
};

// Returns where to look, first match first: the directories of LAMINA_COMPONENT_PATH (separated by
// ':'), then PREFIX/lib/lamina if there is one. PREFIX is LAMINA_PREFIX or else `prefix`, which may
// be empty.
std::vector<std::string> PluginDirectories(const Environment& environment, std::string_view prefix);

// Opens every `<framework>_<name>.so` in `directories`, and nothing else. If two components have
// one name, the first is taken. A directory that cannot be read is listed as refused.
Plugins LoadPlugins(const HostFramework& framework, const std::vector<std::string>& directories);

// Returns the plugin's offer. A missing query counts as priority 0, and a priority above the
// maximum is lowered to it.
Offer Ask(const Plugin& plugin, const param::Settings& settings);
// Returns its parameter table with current values.
std::vector<param::Row> Rows(const Plugin& plugin, const param::Settings& settings);

// Calls the plugin's actions() and returns its functions as `Actions`, a struct of function
// pointers only. Entries that the plugin does not have, because it was built for an older
// framework_minor, are null.
template <class Actions>
Actions ActionsOf(const Plugin& plugin) {
  static_assert(std::is_trivially_copyable_v<Actions> && sizeof(Actions) % sizeof(void*) == 0);
  Actions actions{};
  const std::size_t bytes = plugin.descriptor.framework_minor * sizeof(void*);
  if (const void* table = plugin.descriptor.actions(); table != nullptr)
    std::memcpy(&actions, table, bytes < sizeof actions ? bytes : sizeof actions);
  return actions;
}

// Makes the plugin a component of its framework. `wrap` makes an Interface of it and runs on a
// winner only. `Context` has a member `settings`, a pointer to the parameters.
template <class Interface, class Context>
Component<Interface, Context> Adapt(
    const Plugin& plugin,
    std::function<Result<std::unique_ptr<Interface>>(const Plugin&, const Context&)> wrap) {
  Component<Interface, Context> component;
  component.info = plugin.info;
  component.query = [plugin](const Context& context) { return Ask(plugin, *context.settings); };
  component.make = [plugin, wrap = std::move(wrap)](const Context& context) {
    return wrap(plugin, context);
  };
  component.params = [plugin](const param::Settings& settings) { return Rows(plugin, settings); };
  return component;
}

}  // namespace lamina::component
