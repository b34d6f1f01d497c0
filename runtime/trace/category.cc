// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/category.h"

#include <algorithm>
#include <string_view>

#include "runtime/trace/event.h"
#include "runtime/trace/performance.h"

namespace lamina::trace {
namespace {

struct Text {
  std::string_view name;
  const char* description;
};
constexpr Text kTexts[] = {
    {"api", "The MPI functions."},
    {"base", "Messages to people."},
    {"collective", "Framework: how groups of processes work together."},
    {"collective.plan", "Plans of collective operations, and the memory of them."},
    {"core", "The objects of MPI: processes, requests."},
    {"library", "The library as a whole."},
    {"p2p", "Messages between two processes: protocols and matching."},
    {"p2p.posted", "Receives that wait for their message."},
    {"p2p.unexpected", "Messages that wait for their receive."},
    {"p2p.wait", "How the library waits: it polls, then yields, then sleeps."},
    {"transport", "Framework: how bytes leave a process."},
};

class Tree {
 public:
  // Returns the category `name`, made with all above it if need be.
  Category& At(std::string_view name) {
    const auto place = std::find_if(all_.begin(), all_.end(),
                                    [&](const Category& one) { return one.name == name; });
    if (place != all_.end()) return *place;
    const int index = static_cast<int>(all_.size());
    all_.push_back({std::string(name), DescriptionOf(name), {}, {}, {}, {}});
    if (const std::string_view above = Above(name); !above.empty())
      At(above).categories.push_back(index);
    return all_[static_cast<std::size_t>(index)];
  }
  Category& Of(std::string_view variable) { return At(Above(variable)); }
  std::vector<Category> Take() { return std::move(all_); }

 private:
  static std::string_view Above(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return name.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  static std::string DescriptionOf(std::string_view name) {
    for (const Text& text : kTexts)
      if (text.name == name) return text.description;
    return "What is called " + std::string(name) + ".*";
  }

  std::vector<Category> all_;
};

}  // namespace

std::vector<Category> Categories(const std::vector<component::ListedFramework>& frameworks,
                                 const std::vector<ControlVariable>& controls) {
  Tree tree;
  for (const component::ListedFramework& framework : frameworks)
    for (const component::ListedComponent& component : framework.components)
      tree.At(framework.name + "." + component.info.name).description =
          "Component " + component.info.name + " " + component.info.version + " of framework " +
          framework.name + ", " + component.info.source + ".";
  for (std::size_t i = 0; i < controls.size(); ++i)
    tree.Of(controls[i].name).controls.push_back(static_cast<int>(i));
  int index = 0;
  for (const PerformanceVariable& variable : PerformanceVariables())
    tree.Of(variable.name).performances.push_back(index++);
  for (std::size_t i = 0; i < Index(EventType::kCount); ++i)
    tree.Of(Describe(static_cast<EventType>(i)).name).events.push_back(static_cast<int>(i));
  return tree.Take();
}

}  // namespace lamina::trace
