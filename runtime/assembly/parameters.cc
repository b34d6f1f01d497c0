// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/parameters.h"

#include <functional>
#include <map>
#include <mutex>

#include "collectives/select/library.h"
#include "runtime/assembly/params.h"
#include "runtime/assembly/shipped.h"
#include "runtime/core/errors.h"
#include "runtime/core/info.h"
#include "runtime/dynamic/params.h"
#include "runtime/p2p/params.h"
#include "runtime/rma/params.h"
#include "runtime/sr/params.h"
#include "runtime/waiting/waiting.h"

namespace lamina::assembly {
namespace {

// The values that tools have set. They outlive initialisation and finalisation.
struct SetValues {
  std::mutex lock;
  std::map<std::string, std::string, std::less<>> values;  // by name
};
SetValues& FromTools() {
  static SetValues* const values = new SetValues;
  return *values;
}

template <class... Tables>
std::vector<param::Row> JoinRows(const Tables&... tables) {
  std::vector<param::Row> all;
  (all.insert(all.end(), tables.begin(), tables.end()), ...);
  return all;
}

template <class Registry>
component::ListedFramework Tables(std::string_view name, const Registry& registry,
                                  const param::Settings& settings) {
  component::ListedFramework listed{std::string(name), {}, {}, {}};
  for (const auto& component : registry.entries())
    listed.components.push_back(
        {component.info,
         {},
         component.params ? component.params(settings) : std::vector<param::Row>()});
  return listed;
}

// One line for each table that has a bad value.
template <class Table, class Fields>
void CheckTable(const param::Settings& settings, const Fields& fields, std::string* problems) {
  Table table;
  if (Status status = param::Load(settings, fields, &table); !status.ok())
    *problems += std::string(status.message()) + "\n";
}

template <class Registry>
void CheckComponents(const param::Settings& settings, const Registry& registry,
                     std::string* problems) {
  for (const auto& component : registry.entries()) {
    if (component.check == nullptr) continue;
    if (Status status = component.check(settings); !status.ok())
      *problems += std::string(status.message()) + "\n";
  }
}

}  // namespace

param::Settings CurrentSettings(const Environment& environment) {
  param::Settings settings = param::Settings::FromEnvironment(environment);
  const std::lock_guard guard(FromTools().lock);
  for (const auto& [name, value] : FromTools().values) settings.AddTool(name, value);
  return settings;
}

Status SetByTool(std::string_view name, std::string_view value) {
  param::Settings settings = CurrentSettings(Environment::OfThisProcess());
  const std::string before = Problems(settings);
  settings.AddTool(name, value);
  if (std::string now = Problems(settings); now != before && !now.empty())
    return Error(Code::kInvalid, "%s", now.c_str());
  const std::lock_guard guard(FromTools().lock);
  FromTools().values.insert_or_assign(std::string(name), std::string(value));
  return {};
}

std::vector<param::Row> LibraryParameters(const param::Settings& settings) {
  return JoinRows(param::Rows<Params>(settings, kFields),
                  param::Rows<core::ErrorParams>(settings, core::kErrorFields),
                  param::Rows<core::InfoParams>(settings, core::kInfoFields),
                  param::Rows<dynamic::Params>(settings, dynamic::kFields),
                  param::Rows<p2p::Params>(settings, p2p::kFields),
                  param::Rows<rma::Params>(settings, rma::kFields),
                  param::Rows<sr::Params>(settings, sr::kFields),
                  param::Rows<waiting::WaitParams>(settings, waiting::kWaitFields));
}

std::vector<component::ListedFramework> ListParameters(const param::Settings& settings) {
  std::vector<component::ListedFramework> all;
  all.push_back({"library", {}, LibraryParameters(settings), {}});
  all.push_back(Tables("transport", ShippedTransports(), settings));
  all.push_back(Tables("collective", AllCollectives(), settings));
  return all;
}

std::string Problems(const param::Settings& settings) {
  std::string problems;
  CheckTable<Params>(settings, kFields, &problems);
  CheckTable<core::ErrorParams>(settings, core::kErrorFields, &problems);
  CheckTable<core::InfoParams>(settings, core::kInfoFields, &problems);
  CheckTable<dynamic::Params>(settings, dynamic::kFields, &problems);
  CheckTable<p2p::Params>(settings, p2p::kFields, &problems);
  CheckTable<rma::Params>(settings, rma::kFields, &problems);
  CheckTable<sr::Params>(settings, sr::kFields, &problems);
  CheckTable<waiting::WaitParams>(settings, waiting::kWaitFields, &problems);
  CheckComponents(settings, ShippedTransports(), &problems);
  // Making the library of algorithms also finds names that no component offers.
  if (auto made = collective::Library::Make(AllCollectives(), settings); !made.ok())
    problems += std::string(made.status().message()) + "\n";
  return problems;
}

}  // namespace lamina::assembly
