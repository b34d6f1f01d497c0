// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about one-sided communication.
#pragma once

#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::rma {

struct Params {
  std::string path = "auto";
  std::string agent = "auto";
};
inline constexpr std::tuple kFields{
    param::Describe(
        "rma.path", &Params::path, "auto|copied|framed",
        "How memory of ranks on this node is reached. auto: directly if it is shared, else copied "
        "between processes. copied: always the latter. framed: by messages that the target "
        "answers."),
    param::Describe(
        "rma.agent", &Params::agent, "auto|never",
        "auto: a thread answers ranks of other nodes that lock a window here while the program "
        "computes. never: they wait until it calls MPI, whose calls then take no lock."),
};

}  // namespace lamina::rma
