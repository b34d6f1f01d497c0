// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/component/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>

#include "runtime/base/log.h"
#include "runtime/base/text.h"

namespace lamina::component {
namespace {

// A descriptor without these fields is useless, and every release of the C interface had them.
constexpr std::size_t kDescriptorBytesMin =
    offsetof(lamina_component, actions) + sizeof(lamina_component::actions);

// Closes a shared object unless it is kept.
class SharedObject {
 public:
  explicit SharedObject(const std::string& path)
      : handle_(dlopen(path.c_str(), RTLD_LOCAL | RTLD_NOW)) {}
  ~SharedObject() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  bool open() const { return handle_ != nullptr; }
  void* Find(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }
  void Keep() { handle_ = nullptr; }

 private:
  void* handle_;
};

const char* Text(const char* text) { return text == nullptr ? "(null)" : text; }

// Reads the first two words, then no more than the object says it has.
Result<lamina_component> CopyDescriptor(const lamina_component* original) {
  if (original == nullptr) return Error(Code::kInvalid, "its descriptor is null");
  if (original->abi != LAMINA_COMPONENT_ABI)
    return Error(Code::kUnsupported, "it speaks component ABI %u, but this lamina speaks %u",
                 original->abi, LAMINA_COMPONENT_ABI);
  const std::size_t bytes = original->struct_size;
  if (bytes < kDescriptorBytesMin)
    return Error(Code::kInvalid, "its descriptor has %zu bytes, but at least %zu are needed", bytes,
                 kDescriptorBytesMin);
  lamina_component copy{};
  std::memcpy(&copy, original, std::min(bytes, sizeof copy));
  if (bytes < sizeof copy) copy.parameters = nullptr;  // half a pointer counts as none
  copy.struct_size = static_cast<std::uint32_t>(std::min(bytes, sizeof copy));
  return copy;
}

Status CheckDescriptor(const lamina_component& descriptor, const HostFramework& framework,
                       const std::string& name) {
  if (Text(descriptor.framework) != framework.name)
    return Error(Code::kInvalid, "it says it is a %s component, but its file name says %s",
                 Text(descriptor.framework), std::string(framework.name).c_str());
  if (descriptor.framework_major != framework.major)
    return Error(Code::kUnsupported,
                 "it was built for version %u of the %s framework, but this is version %u",
                 descriptor.framework_major, descriptor.framework, framework.major);
  if (Text(descriptor.name) != name)
    return Error(Code::kInvalid, "it calls itself \"%s\", but its file name says \"%s\"",
                 Text(descriptor.name), name.c_str());
  if (!std::isdigit(static_cast<unsigned char>(*Text(descriptor.version))))
    return Error(Code::kInvalid, "its version \"%s\" does not start with a digit",
                 Text(descriptor.version));
  if (descriptor.actions == nullptr) return Error(Code::kInvalid, "it has no actions");
  return {};
}

Result<Plugin> Load(const HostFramework& framework, const std::string& name,
                    const std::string& path) {
  if (Status status = CheckName(name); !status.ok()) return status;
  SharedObject object(path);
  if (!object.open()) return Error(Code::kUnsupported, "%s", Text(dlerror()));
  const std::string symbol = "lamina_component_" + std::string(framework.name) + "_" + name;
  const auto entry = reinterpret_cast<const lamina_component* (*)()>(object.Find(symbol));
  if (entry == nullptr) return Error(Code::kInvalid, "it does not export %s", symbol.c_str());
  const Result<lamina_component> descriptor = CopyDescriptor(entry());
  if (!descriptor.ok())
    return Error(descriptor.status().code(), "%s",
                 std::string(descriptor.status().message()).c_str());
  if (Status status = CheckDescriptor(*descriptor, framework, name); !status.ok()) return status;
  object.Keep();
  return Plugin{{name, descriptor->version, path}, *descriptor};
}

// Returns the names of the components in `directory`, sorted, so that all processes take the same
// ones.
Result<std::vector<std::string>> NamesIn(const std::string& directory, std::string_view framework) {
  if (!directory.starts_with('/')) return Error(Code::kInvalid, "not an absolute path");
  // std::filesystem would bring locales into every process.
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(directory.c_str()), closedir);
  if (files == nullptr) return SystemError(Code::kNotFound, errno, "cannot read the directory");
  std::vector<std::string> names;
  const std::string prefix = std::string(framework) + "_";
  errno = 0;
  while (const dirent* entry = readdir(files.get())) {
    const std::string_view file = entry->d_name;
    if (file.starts_with(prefix) && file.ends_with(".so"))
      names.emplace_back(file.substr(prefix.size(), file.size() - prefix.size() - 3));
  }
  if (errno != 0) return SystemError(Code::kNotFound, errno, "cannot read the directory");
  std::sort(names.begin(), names.end());
  return names;
}

const Plugin* Find(const std::vector<Plugin>& plugins, const std::string& name) {
  for (const Plugin& plugin : plugins)
    if (plugin.info.name == name) return &plugin;
  return nullptr;
}

// A plugin sees this of us during one call.
struct Host : lamina_host {
  const Plugin* plugin;
  const std::vector<param::Row>* rows;
};

const char* HostParameter(const lamina_host* host, const char* name) {
  for (const param::Row& row : *static_cast<const Host*>(host)->rows)
    if (name != nullptr && row.name == name) return row.value.c_str();
  return nullptr;
}

void HostLog(const lamina_host* host, std::int32_t level, const char* text) {
  const auto known = static_cast<Level>(std::clamp(level, 0, static_cast<int>(Level::kDebug)));
  Log(known, static_cast<const Host*>(host)->plugin->info.name.c_str(), "%s", Text(text));
}

}  // namespace

std::vector<std::string> PluginDirectories(const Environment& environment,
                                           std::string_view prefix) {
  std::vector<std::string> directories;
  const std::string path = environment.Get("LAMINA_COMPONENT_PATH").value_or("");
  for (const std::string_view piece : Split(path, ':'))
    if (!piece.empty()) directories.emplace_back(piece);
  const std::string home = environment.Get("LAMINA_PREFIX").value_or(std::string(prefix));
  const std::string installed = home + "/lib/lamina";
  if (!home.empty() && access(installed.c_str(), F_OK) == 0) directories.push_back(installed);
  return directories;
}

Plugins LoadPlugins(const HostFramework& framework, const std::vector<std::string>& directories) {
  Plugins plugins;
  for (const std::string& directory : directories) {
    const Result<std::vector<std::string>> names = NamesIn(directory, framework.name);
    if (!names.ok()) {
      plugins.refused.push_back({directory, std::string(names.status().message())});
      continue;
    }
    for (const std::string& name : *names) {
      const std::string path = directory + "/" + std::string(framework.name) + "_" + name + ".so";
      if (const Plugin* first = Find(plugins.loaded, name); first != nullptr) {
        plugins.refused.push_back(
            {path, "\"" + name + "\" is loaded from " + first->info.source, true});
        continue;
      }
      Result<Plugin> plugin = Load(framework, name, path);
      if (plugin.ok())
        plugins.loaded.push_back(*std::move(plugin));
      else
        plugins.refused.push_back({path, std::string(plugin.status().message())});
    }
  }
  return plugins;
}

Offer Ask(const Plugin& plugin, const param::Settings& settings) {
  if (plugin.descriptor.query == nullptr) return {0, "always available"};
  const std::vector<param::Row> rows = Rows(plugin, settings);
  const Host host{
      {LAMINA_COMPONENT_ABI, sizeof(lamina_host), HostParameter, HostLog}, &plugin, &rows};
  char why[256] = "";
  std::int32_t priority = 0;
  const bool can = plugin.descriptor.query(&host, &priority, why, sizeof why) == 0;
  why[sizeof why - 1] = '\0';
  why[std::strcspn(why, "\n")] = '\0';  // the answer is one line
  return {can ? std::clamp(priority, 0, 100) : -1, why};
}

std::vector<param::Row> Rows(const Plugin& plugin, const param::Settings& settings) {
  std::vector<param::Row> rows;
  const lamina_parameter* row = plugin.descriptor.parameters;
  for (; row != nullptr && row->name != nullptr; ++row) {
    const std::string usual = row->default_value == nullptr ? "" : row->default_value;
    const param::Found* found = settings.Find(row->name);
    rows.push_back(param::MakeRow(settings, row->name, found == nullptr ? usual : found->value,
                                  usual, "", Unit::kNone, row->help == nullptr ? "" : row->help));
  }
  return rows;
}

}  // namespace lamina::component
