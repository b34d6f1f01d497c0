// SPDX-License-Identifier: BSD-3-Clause
// What the options for places and CPUs do. They are actions of the table in options.cc.
#pragma once

#include <string_view>

#include "launcher/cli/options.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

Status RankFile(Draft& draft, std::string_view path);
Status CpusPerRank(Draft& draft, std::string_view value);
Status Map(Draft& draft, std::string_view value);
Status RankBy(Draft& draft, std::string_view value);
Status Bind(Draft& draft, std::string_view value);
Status Oversubscribe(Draft& draft, std::string_view);
Status NeverOversubscribe(Draft& draft, std::string_view);
Status HwthreadsAreCpus(Draft& draft, std::string_view);
Status CpuSetOption(Draft& draft, std::string_view list);

}  // namespace lamina::launcher
