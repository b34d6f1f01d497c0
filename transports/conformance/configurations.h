// SPDX-License-Identifier: BSD-3-Clause
// The suite runs over every transport as it ships, and over weakened ones so that their fallbacks
// run too.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "runtime/base/sharing.h"
#include "transports/transport.h"

namespace lamina::conformance {

// A test that is not meant to pass for a configuration.
struct Exception {
  std::string test;
  std::string why;
};

struct Configuration {
  std::string name;
  transport::Component (*describe)() = nullptr;
  std::vector<std::string> params;  // "name=value"
  Sharing sharing = Sharing::kExclusive;
  bool descriptor_sleep = false;  // sleep on Bell::descriptor even where there is a word
  bool other_processes = true;    // reaches more than the process itself
  int node_memory = -1;           // of the processes, which inherit it; -1: none
  bool get = false;               // these verbs must be there
  bool zero_copy = false;
  bool one_sided = false;
  std::vector<Exception> unsupported;        // permanent: skipped
  std::vector<Exception> expected_failures;  // temporary: a surprise pass fails
};

std::vector<Configuration> AllConfigurations();
std::vector<Configuration> ConfigurationsBetweenProcesses();

inline std::ostream& operator<<(std::ostream& out, const Configuration& configuration) {
  return out << configuration.name;
}

}  // namespace lamina::conformance
