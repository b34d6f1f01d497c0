// SPDX-License-Identifier: BSD-3-Clause
// Says what is worth saying about a plan that does what was asked: threads and CPUs may not match.
// Pure; nothing in the plan is changed but its notes and warnings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/plan/plan.h"

namespace lamina::launcher {

// Returns the first number of OMP_NUM_THREADS, which is like "8" or "4,2"; nothing for anything
// else.
std::optional<std::uint32_t> ThreadsOf(std::string_view omp_num_threads);

// Returns what is said, once a job, if ranks share CPUs. `cpus` describes those of the host for
// people; "" if they are not known here.
std::string SharingText(std::string_view host, std::string_view cpus);

// Adds one warning if a rank is kept on fewer CPUs than its OMP_NUM_THREADS, and notes on ranks and
// threads that share CPUs. To be called when the ranks of this host are bound.
void Advise(Plan* plan);

}  // namespace lamina::launcher
