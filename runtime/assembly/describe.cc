// SPDX-License-Identifier: BSD-3-Clause
// What the library tells `lamina info` about itself: its components and parameters as every rank of
// a job started now would see them. Runs without MPI_Init.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/select/explain.h"
#include "runtime/assembly/parameters.h"
#include "runtime/assembly/shipped.h"
#include "runtime/base/environment.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"
#include "runtime/component/listing.h"
#include "runtime/io/file_system.h"
#include "runtime/rma/params.h"
#include "transports/ucx/ucx_transport.h"

namespace lamina::assembly {
namespace {

// What MPI-IO does where a file lies on a file system of that kind.
component::ListedFramework FileSystems() {
  constexpr struct {
    io::Sharing sharing;
    const char *name, *what;
  } kKinds[] = {{io::Sharing::kLocal, "local",
                 "each node has files of its own, and its ranks see all changes at once"},
                {io::Sharing::kCoherent, "coherent",
                 "all nodes have the same files and see all changes at once"},
                {io::Sharing::kCloseToOpen, "close-to-open",
                 "all nodes have the same files; MPI_File_sync opens them anew to show what other "
                 "nodes wrote"}};
  const io::FileSystem& here = io::FileSystemHere();
  component::ListedFramework listed{"file", {}, {}, {}};
  for (const auto& kind : kKinds) {
    const bool is_here = kind.sharing == here.sharing;
    component::Offer offer{0, {}};
    offer.why = std::string(kind.what) +
                (is_here ? std::string("; the current folder is on such a one, ") + here.name : "");
    listed.components.push_back({{kind.name, kVersion, "built in"}, std::move(offer), {}});
  }
  return listed;
}

// How ranks reach the memory of windows, the best way first.
component::ListedFramework Windows(const param::Settings& settings,
                                   const component::ListedFramework& transports) {
  rma::Params params;
  static_cast<void>(param::Load(settings, rma::kFields, &params));
  const std::string refused = "rma.path is " + params.path;
  const auto say = [&refused](bool may, int priority, const char* why) {
    return may ? component::Offer{priority, why} : component::Offer{-1, refused};
  };
  component::Offer device{-1, "no transport here reaches memory of other nodes"};
  for (const component::ListedComponent& listed : transports.components)
    for (const param::Row& row : listed.params)
      if (row.name == "transport." + listed.info.name + ".one_sided")
        device = {50, ucx::DescribeOneSided(settings)};
  const auto add = [](component::ListedFramework* to, const char* name, component::Offer offer) {
    to->components.push_back({{name, kVersion, "built in"}, std::move(offer), {}});
  };
  component::ListedFramework windows{"window", {}, {}, {}};
  add(&windows, "mapped",
      say(params.path == "auto", 75, "memory that MPI allocated, by the ranks of its node"));
  add(&windows, "copied",
      say(params.path != "framed", 50,
          "other memory, by the ranks of its node, where the kernel lets them"));
  add(&windows, "device", std::move(device));
  add(&windows, "framed", {0, "everything else, by messages that the target answers"});
  return windows;
}

std::vector<component::ListedFramework> ListAll(const param::Settings& settings,
                                                const Environment& environment) {
  std::vector<component::ListedFramework> all;
  all.push_back({"library", {}, LibraryParameters(settings), {}});
  transport::Context context;
  context.settings = &settings;
  context.environment = &environment;
  context.local_ranks = context.job_ranks = 2;  // what a small job on one node would see
  all.push_back(component::List("transport", ShippedTransports(), context, settings));
  all.push_back(Windows(settings, all.back()));
  const collective::Context collective_context{&settings};
  std::vector<component::Refusal> refused;
  const collective::Registry collectives = AllCollectives(&refused);
  all.push_back(component::List("collective", collectives, collective_context, settings));
  all.back().refused = std::move(refused);
  all.push_back(FileSystems());
  return all;
}

// `filter` is "[params] [FRAMEWORK [COMPONENT]]". Returns nothing if there is no such component.
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

// Says which algorithms would serve a job of that shape; `numbers` is "RANKS RANKS-PER-NODE".
std::optional<std::string> Algorithms(const param::Settings& settings, std::string_view numbers) {
  const std::vector<std::string_view> words = Split(numbers, ' ');
  if (words.size() != 2) return std::nullopt;
  const auto ranks = ParseInteger(words[0]), per_node = ParseInteger(words[1]);
  if (!ranks || !per_node || *ranks > INT32_MAX || *per_node > INT32_MAX) return std::nullopt;
  auto library = collective::Library::Make(AllCollectives(), settings);
  if (!library.ok()) return std::string(library.status().message()) + "\n";
  Result<std::string> text =
      collective::Explain(**library, static_cast<Rank>(*ranks), static_cast<Rank>(*per_node));
  return text.ok() ? *text : std::string(text.status().message()) + "\n";
}

}  // namespace

// The answer stays valid until the next call. Null: the filter names nothing that exists.
extern "C" __attribute__((visibility("default"))) const char* lamina_describe(const char* filter) {
  static std::string answer;
  const Environment environment = Environment::OfThisProcess();
  const param::Settings settings = CurrentSettings(environment);
  const std::string_view asked = filter != nullptr ? filter : "";
  if (asked == "problems") {
    answer = Problems(settings);
    return answer.c_str();
  }
  if (asked == "network") {
    const std::string devices = ucx::DescribeDevices(settings);
    answer = "devices  " + (devices.empty() ? "none that leads to other hosts" : devices) + "\n\n" +
             ForPeople(ListAll(settings, environment), "transport").value_or("");
    return answer.c_str();
  }
  if (asked.starts_with("collectives ")) {
    std::optional<std::string> text = Algorithms(settings, asked.substr(12));
    if (!text) return nullptr;
    answer = *std::move(text);
    return answer.c_str();
  }
  std::vector<component::ListedFramework> all = ListAll(settings, environment);
  if (asked == "names") {
    answer.clear();
    for (const std::string& name : component::ParameterNames(all)) answer += name + "\n";
    return answer.c_str();
  }
  if (asked == "versions") {
    answer.clear();
    for (const component::ListedFramework& framework : all)
      for (const component::ListedComponent& listed : framework.components)
        answer += framework.name + " " + listed.info.name + " " + listed.info.version + "\n";
    return answer.c_str();
  }
  std::optional<std::string> text = ForPeople(std::move(all), asked);
  if (!text) return nullptr;
  answer = *std::move(text);
  return answer.c_str();
}

}  // namespace lamina::assembly
