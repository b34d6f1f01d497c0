// SPDX-License-Identifier: BSD-3-Clause
// What is worth saying about a plan that does what was asked: threads and CPUs that do not match.
// Pure; nothing in the plan is changed but its notes and warnings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/plan/plan.h"

namespace lamina::launcher {

// OMP_NUM_THREADS: the first number of "8" or "4,2"; nothing for anything else.
std::optional<std::uint32_t> ThreadsOf(std::string_view omp_num_threads);

// What is said, once a job, where ranks share CPUs. `cpus`: those of the host, for people; "": not
// known here.
std::string SharingText(std::string_view host, std::string_view cpus);

// A warning, once, if a rank is kept on fewer CPUs than its OMP_NUM_THREADS; notes on ranks and
// threads that share CPUs. To be called when the ranks of this host are bound.
void Advise(Plan* plan);

}  // namespace lamina::launcher
