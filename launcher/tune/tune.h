// SPDX-License-Identifier: BSD-3-Clause
// `lamina tune`: measures what messages cost here and writes it down as parameters, from which
// later jobs choose their collective algorithms.
//
// It starts itself as the ranks of a job, with mpiexec's own options, so what is measured is what a
// job of that kind gets. Rank 0 prints one "name value" a line, the command makes a parameter file
// of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// If it is the first argument, this word makes the program a measuring rank. Nobody is meant to
// type it.
inline constexpr std::string_view kTuneWord = "--lamina-tune-rank";

// Runs `lamina tune [-o FILE] MPIEXEC-OPTIONS` and returns the exit status. --help prints `usage`;
// `program` is this program, and `parameter_files` are those that jobs read by themselves.
int Tune(std::span<const std::string> arguments, const char* usage, const std::string& program,
         const std::vector<std::string>& parameter_files);

// Runs one rank of it. `library` is the path of the MPI library, which is opened here.
int RunTuneRank(const std::string& library);

struct Measured {
  std::string name;
  std::string value;
};

// Understands what rank 0 printed; kInvalid if that is not what it prints.
Result<std::vector<Measured>> ParseMeasured(std::string_view printed);
// Returns the parameter file `before` without its lines for names of `values`, and with those
// values at the end.
std::string Merge(std::string_view before, const std::vector<Measured>& values);

}  // namespace lamina::launcher
