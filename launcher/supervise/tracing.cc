// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/tracing.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "launcher/timeline/timeline.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// So many records are made text at a time, which bounds the memory that takes.
constexpr std::size_t kRecordsAtOnce = 16384;

}  // namespace

Result<std::unique_ptr<Tracing>> Tracing::Make(const Plan& plan) {
  std::string name = plan.options.trace_file;
  if (name.empty())
    name = std::filesystem::path(plan.apps.front().argv.front()).filename().string() +
           Format(".%d.pftrace", static_cast<int>(getpid()));
  Descriptor file(open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.value() < 0)
    return SystemError(Code::kResource, errno, "cannot write the timeline %s", name.c_str());
  return std::unique_ptr<Tracing>(new Tracing(plan, std::move(name), std::move(file)));
}

void Tracing::Take(std::uint32_t rank, const TraceCopy& copy, std::span<const HostState> hosts) {
  if (copy.records.empty()) return;
  const std::uint32_t host = plan_.ranks[rank].host;
  TimelineRank its{rank, plan_.hosts[host].name, 0, static_cast<std::uint32_t>(plan_.ranks.size())};
  const auto state = std::ranges::find(hosts, host, &HostState::host);
  if (state != hosts.end()) {
    its.clock_ahead_ns = state->clock_ahead_ns.value_or(0);
    clock_error_ns_ = std::max(clock_error_ns_, state->clock_error_ns);
    clock_unknown_ = clock_unknown_ || !state->clock_ahead_ns;
  }
  calls_ += static_cast<std::uint64_t>(
      std::ranges::count_if(copy.records, [](const TraceRecord& it) { return !IsMark(it); }));
  lost_ += copy.lost;
  const std::span<const TraceRecord> records(copy.records);
  Write(TimelineHead(its, copy));
  TimelineState kept;
  for (std::size_t at = 0; at < records.size(); at += kRecordsAtOnce)
    Write(TimelineSlices(its, records.subspan(at, std::min(kRecordsAtOnce, records.size() - at)),
                         &kept));
  Write(TimelineEnd(its, kept));
}

void Tracing::Write(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size() && error_ == 0;) {
    const ssize_t wrote = write(file_.value(), bytes.data() + done, bytes.size() - done);
    if (wrote > 0)
      done += static_cast<std::size_t>(wrote);
    else if (errno != EINTR)
      error_ = errno;
  }
}

Result<std::string> Tracing::Finish() {
  if (error_ != 0)
    return SystemError(Code::kResource, error_, "cannot write the timeline %s", name_.c_str());
  std::string line =
      Format("timeline in %s; %llu calls", name_.c_str(), static_cast<unsigned long long>(calls_));
  if (lost_ > 0)
    line += Format("; %llu %s ones had no room (--trace-buffer)",
                   static_cast<unsigned long long>(lost_),
                   plan_.options.trace_keeps_first ? "later" : "earlier");
  if (clock_unknown_)
    line += "; the clocks of some hosts are not known, and their times are not shifted";
  else if (clock_error_ns_ > 0)
    line += Format("; times of other hosts are right to within %.0f us",
                   static_cast<double>(clock_error_ns_) / 1000);
  return line;
}

}  // namespace lamina::launcher
