// SPDX-License-Identifier: BSD-3-Clause
// The hosts on which jobs that this one spawns may run, at first those of its own Plan. `lamina
// grow` and `lamina shrink` change them. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

using RanksByHost = std::map<std::string, std::uint32_t, std::less<>>;

class RunHosts {
 public:
  // `allocation` names what the hosts were given by; with "" any other host may be added.
  RunHosts(std::vector<Host> hosts, std::string allocation)
      : hosts_(std::move(hosts)), allocation_(std::move(allocation)) {}

  // Adds hosts, written as for -H, or takes back that they were taken away. Changes nothing if that
  // fails.
  Status Grow(std::string_view list);
  // No more ranks go to that host.
  Status Shrink(std::string_view name);
  // True once hosts were added that the Plan did not have.
  bool has_grown() const { return has_grown_; }
  // Returns the text of kFurtherVariable (runtime/base/dynamic_words.h). `running` counts the ranks
  // that are there already.
  std::string Text(RanksByHost running) const;

 private:
  std::vector<Host> hosts_;
  const std::string allocation_;
  bool has_grown_ = false;
};

}  // namespace lamina::launcher
