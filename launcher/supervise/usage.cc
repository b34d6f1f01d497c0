// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of the job use of their hosts and do in MPI, for whoever asks.
#include "launcher/usage/usage.h"

#include <algorithm>

#include "launcher/supervise/answer.h"
#include "launcher/supervise/supervisor.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

// A rank has two lines, of which the second is for people.
std::string Supervisor::AnswerUsage() const {
  const std::vector<RankView> views = Views();
  const std::uint64_t now_ms = RealMs();
  std::string answer;
  for (const RankPlan& plan : plan_.ranks) {
    const std::uint32_t rank = plan.rank;
    const RankView& view = views[rank];
    if (!view.running) continue;
    const RankTrace* const trace = TraceOf(rank);
    RankUsage usage;
    if (trace != nullptr)
      usage = trace->usage;
    else
      usage = MeasureRank(rank, job_->ProcessOf(rank), rings_.Descriptor(rank));
    usage.rank = rank;  // also where nothing is known of it yet
    const std::int64_t process = job_->ProcessThere(rank);
    const std::uint64_t since_ms = view.wait.since_ms;
    answer += DescribeUsage(plan_.hosts[plan.host].name, process, usage) +
              Format("does %u %llu ", rank,
                     static_cast<unsigned long long>(
                         since_ms == 0 ? 0 : now_ms - std::min(now_ms, since_ms))) +
              DoesWords(view, views.size()) + "\n";
  }
  return answer + "end\n";
}

}  // namespace lamina::launcher
