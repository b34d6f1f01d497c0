// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/sharing_words.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kOversubscribed = "oversubscribed";

}  // namespace

std::string WaitAssignment(Sharing on_host) {
  return std::string(kWaitVariable) + "=" +
         std::string(on_host == Sharing::kShared ? kOversubscribed : "exclusive");
}

std::string CrowdAssignment(Sharing in_job) {
  return std::string(kCrowdVariable) + (in_job == Sharing::kShared ? "=4" : "=1");
}

bool MeansShared(std::string_view wait_mode) { return wait_mode == kOversubscribed; }

}  // namespace lamina::launcher
