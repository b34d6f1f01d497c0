// SPDX-License-Identifier: BSD-3-Clause
// A component can be found, asked, chosen and made; this header says how.
//
// There are four frameworks: transport, collective, spawner, checkpoint. A component of a framework
// offers one implementation of its interface. Choosing has two halves:
//   query(context)  asks whether it can run here, how well, and why; pure and cheap, may run twice.
//   make(context)   makes the winner; may be slow, may fail.
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

// An Offer says whether and how well a component can run here. Its priority means:
//
//   -1            it cannot run here
//   0             it is a fallback
//   50 and more   it is native to the environment that was found
//   75 and more   it is also the first choice of the build
//   100           it is mandatory
struct Offer {
  int priority = -1;
  std::string why;  // one line for lamina info: what was found or is missing
};

// `Interface` is the framework's abstract class, and `Context` is what its components may look at.
// `Facts` is what its framework has to know of a component that it has neither asked nor made.
struct NoFacts {};
template <class Interface, class Context, class Facts = NoFacts>
struct Component {
  Info info;
  // These are std::function because a component from a shared object is a function and a
  // descriptor.
  std::function<Offer(const Context& context)> query;
  std::function<Result<std::unique_ptr<Interface>>(const Context& context)> make;
  // Returns the component's parameter table with current values; this is empty if there is none.
  std::function<std::vector<param::Row>(const param::Settings& settings)> params;
  // Checks the values that somebody set; this is null if the component has no parameters.
  Status (*check)(const param::Settings& settings) = nullptr;
  Facts facts = {};
};

// Names must be lower-case C identifiers that are not reserved.
Status CheckName(const std::string& name);
// True if processes with these versions of a component may meet in one job: major and minor must
// agree. An absent minor is 0; the release number is for people only.
bool VersionsAgree(std::string_view a, std::string_view b);
// Puts the best offer first, by priority and then by name, so that all processes decide alike.
bool Better(const Offer& a, const Info& a_info, const Offer& b, const Info& b_info);

template <class Interface, class Context, class Facts = NoFacts>
class Registry {
 public:
  using Entry = Component<Interface, Context, Facts>;

  // The error is kExists if a component of that name is there already and kInvalid if its name is
  // no good.
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

  // Returns every component with its answer, best first; those that cannot run come last with -1.
  std::vector<std::pair<const Entry*, Offer>> Ask(const Context& context) const {
    std::vector<std::pair<const Entry*, Offer>> answers;
    for (const Entry& entry : entries_) {
      Offer offer = entry.query(context);
      const auto next = std::find_if(answers.begin(), answers.end(), [&](const auto& other) {
        return Better(offer, entry.info, other.second, other.first->info);
      });
      answers.emplace(next, &entry, std::move(offer));
    }
    return answers;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace lamina::component
