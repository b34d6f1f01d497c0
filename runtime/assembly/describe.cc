// SPDX-License-Identifier: BSD-3-Clause
// What the library tells `lamina info` about itself: its components and parameters as every rank of
// a job started now would see them. Runs without MPI_Init.
#include "collectives/select/library.h"
#include "runtime/assembly/params.h"
#include "runtime/assembly/shipped.h"
#include "runtime/base/environment.h"
#include "runtime/base/text.h"
#include "runtime/component/listing.h"
#include "runtime/p2p/engine.h"
#include "runtime/progress/waiting.h"

#include <optional>
#include <string>
#include <vector>

namespace lamina::assembly {
namespace {

template <class... Tables>
std::vector<param::Row> JoinRows(const Tables&... tables) {
  std::vector<param::Row> all;
  (all.insert(all.end(), tables.begin(), tables.end()), ...);
  return all;
}

std::vector<component::ListedFramework> ListAll(const param::Settings& settings,
                                                const Environment& environment) {
  std::vector<component::ListedFramework> all;
  component::ListedFramework library;
  library.name = "library";
  library.params = JoinRows(param::Rows<Params>(settings, kFields),
                            param::Rows<p2p::Params>(settings, p2p::kFields),
                            param::Rows<progress::WaitParams>(settings, progress::kWaitFields));
  all.push_back(std::move(library));
  transport::Context context;
  context.settings = &settings;
  context.environment = &environment;
  context.local_ranks = context.job_ranks = 2;  // as on one node: what a small job would see
  all.push_back(component::List("transport", ShippedTransports(), context, settings));
  const collective::Context collective_context{&settings};
  all.push_back(
      component::List("collective", ShippedCollectives(), collective_context, settings));
  all.back().params = collective::Rows(settings);
  return all;
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

std::string Problems(const param::Settings& settings) {
  std::string problems;
  CheckTable<Params>(settings, kFields, &problems);
  CheckTable<p2p::Params>(settings, p2p::kFields, &problems);
  CheckTable<progress::WaitParams>(settings, progress::kWaitFields, &problems);
  CheckComponents(settings, ShippedTransports(), &problems);
  // Making the library of algorithms also finds names that no component offers.
  if (auto made = collective::Library::Make(ShippedCollectives(), settings); !made.ok())
    problems += std::string(made.status().message()) + "\n";
  return problems;
}

// "[params] [FRAMEWORK [COMPONENT]]"; nothing if there is no such framework or component.
std::optional<std::string> ForPeople(std::vector<component::ListedFramework> all,
                                     std::string_view filter) {
  component::PrintOptions options;
  std::vector<std::string> words;
  for (const std::string_view word : Split(filter, ' '))
    if (!Trim(word).empty()) words.emplace_back(Trim(word));
  if (!words.empty() && words[0] == "params") {
    options.params = true;
    words.erase(words.begin());
  }
  words.resize(2);
  auto chosen = component::Filter(std::move(all), words[0], words[1]);
  if (!chosen.ok()) return std::nullopt;
  return component::Print(*chosen, options);
}

}  // namespace

// The answer stays valid until the next call. Null: the filter names nothing we have.
extern "C" __attribute__((visibility("default"))) const char* lamina_describe(const char* filter) {
  static std::string answer;
  const Environment environment = Environment::OfThisProcess();
  const std::vector<std::string> assignments = environment.Assignments();
  std::vector<const char*> variables;
  for (const std::string& assignment : assignments) variables.push_back(assignment.c_str());
  variables.push_back(nullptr);
  const param::Settings settings = param::Settings::FromEnvironment(variables.data());
  const std::string_view asked = filter != nullptr ? filter : "";
  if (asked == "problems") {
    answer = Problems(settings);
    return answer.c_str();
  }
  std::vector<component::ListedFramework> all = ListAll(settings, environment);
  if (asked == "names") {
    answer.clear();
    for (const std::string& name : component::ParameterNames(all)) answer += name + "\n";
    return answer.c_str();
  }
  std::optional<std::string> text = ForPeople(std::move(all), asked);
  if (!text) return nullptr;
  answer = *std::move(text);
  return answer.c_str();
}

}  // namespace lamina::assembly
