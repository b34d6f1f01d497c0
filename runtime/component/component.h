// SPDX-License-Identifier: BSD-3-Clause
// What it means to be a component: to be found, asked, chosen and made.
//
// There are four frameworks: transport, collective, spawner, checkpoint. A component of a framework
// offers one implementation of its interface. Choosing has two halves:
//   query(context)  pure, cheap, no side effects, may run twice: can you run here, how well, and
//   why? make(context)   runs on a winner only; may be slow, may fail.
// Everything that ships is listed by hand in runtime/assembly or launcher/main.cc; third parties
// come as shared objects (plugin.h). There are no macros, no static initialisers and no global
// registry.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/param.h"
#include "runtime/base/status.h"

namespace lamina::component {

struct Info {
  std::string name;     // lower case, a valid C identifier; "base" and "include" are reserved
  std::string version;  // major.minor.release; major.minor must agree across a job
  std::string source;   // "built in", or the path of the shared object
};

// Priorities (R42): -1 cannot run here; 0 fallback; >= 50 native to the environment found;
// >= 75 native and the build's first choice; 100 mandatory.
struct Offer {
  int priority = -1;
  std::string why;  // one line for lamina info: what was found, or what is missing
};

// `Interface` is the framework's abstract class, `Context` what its components may look at.
template <class Interface, class Context>
struct Component {
  Info info;
  // std::function, because a component from a shared object is a function and a descriptor.
  std::function<Offer(const Context& context)> query;
  std::function<Result<std::unique_ptr<Interface>>(const Context& context)> make;
  // The component's parameter table with current values; empty: it has none.
  std::function<std::vector<param::Row>(const param::Settings& settings)> params;
  // Are the values that somebody set good? Null: the component has no parameters.
  Status (*check)(const param::Settings& settings) = nullptr;
};

// Names must be lower-case C identifiers and not reserved.
Status CheckName(const std::string& name);
// Whether processes with these versions of a component may meet in one job: major and minor agree.
// An absent minor is 0; the release is for people.
bool VersionsAgree(std::string_view a, std::string_view b);
// Puts the best offer first: priority, then name, so that all processes decide alike (R43).
bool Better(const Offer& a, const Info& a_info, const Offer& b, const Info& b_info);

template <class Interface, class Context>
class Registry {
 public:
  using Entry = Component<Interface, Context>;

  // kExists: a component of that name is there already; kInvalid: its name is no name.
  Status Add(Entry entry) {
    if (Status status = CheckName(entry.info.name); !status.ok()) return status;
    if (Find(entry.info.name) != nullptr)
      return Error(Code::kExists, "component \"%s\" is already registered",
                   entry.info.name.c_str());
    entries_.push_back(std::move(entry));
    return {};
  }

  const Entry* Find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.info.name == name) return &entry;
    return nullptr;
  }

  const std::vector<Entry>& entries() const { return entries_; }

  // Every component with its answer, best first; those that cannot run come last with -1.
  std::vector<std::pair<const Entry*, Offer>> Ask(const Context& context) const {
    std::vector<std::pair<const Entry*, Offer>> answers;
    for (const Entry& entry : entries_) answers.emplace_back(&entry, entry.query(context));
    std::sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) {
      return Better(a.second, a.first->info, b.second, b.first->info);
    });
    return answers;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace lamina::component
