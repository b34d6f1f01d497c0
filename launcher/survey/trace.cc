// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/trace.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cli/subcommands.h"
#include "launcher/timeline/reader.h"
#include "runtime/base/new_file.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

struct FunctionSums {
  std::uint64_t calls = 0;
  std::uint64_t ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
};

// Adds up what is in a trace.
class Summary {
 public:
  void Track(const TraceTrack& track) {
    if (track.kind == TraceTrack::Kind::kRank) ranks_.push_back(track.name);
  }
  void Event(const TraceTrack& track, const TraceEvent& event) {
    if (event.kind == TraceEvent::Kind::kCounter) {
      std::int64_t& most = most_[std::string(event.name)];
      most = std::max(most, event.value);
      return;
    }
    first_ns_ = std::min(first_ns_, event.time_ns);
    last_ns_ = std::max(last_ns_, event.time_ns);
    std::vector<std::uint64_t>& began_ns = began_ns_[{track.process, track.thread}];
    FunctionSums& sums = functions_[std::string(event.name)];
    if (event.kind == TraceEvent::Kind::kBegin) {
      began_ns.push_back(event.time_ns);
      ++sums.calls;
      messages_ += event.flows.size();
      for (const auto& [name, bytes] : event.notes)
        (name == "bytes sent" ? sums.sent_bytes : sums.received_bytes) += bytes;
    } else {
      const std::uint64_t ns = event.time_ns - std::min(began_ns.back(), event.time_ns);
      began_ns.pop_back();  // the reader sees to it that there is one
      sums.ns += ns;
      sums.longest_ns = std::max(sums.longest_ns, ns);
    }
  }

  std::string Text() const {
    std::string text = Format("%zu %s, %.6f s from the first call to the last\n", ranks_.size(),
                              ranks_.size() == 1 ? "rank" : "ranks",
                              static_cast<double>(last_ns_ - std::min(first_ns_, last_ns_)) * 1e-9);
    for (const std::string& rank : ranks_)
      if (rank.find(" had no room)") != rank.npos) text += rank + "\n";
    text += Format("\n%-28s %10s %14s %12s %14s %14s %14s\n", "FUNCTION", "CALLS", "SECONDS",
                   "MEAN_US", "LONGEST_US", "SENT_BYTES", "RECEIVED_BYTES");
    std::vector<std::pair<std::string, FunctionSums>> order(functions_.begin(), functions_.end());
    std::ranges::stable_sort(order, std::greater{}, [](const auto& it) { return it.second.ns; });
    for (const auto& [name, sums] : order)
      text +=
          Format("%-28s %10llu %14.6f %12.3f %14.3f %14llu %14llu\n", name.c_str(),
                 static_cast<unsigned long long>(sums.calls), static_cast<double>(sums.ns) * 1e-9,
                 static_cast<double>(sums.ns) * 1e-3 /
                     static_cast<double>(std::max<std::uint64_t>(sums.calls, 1)),
                 static_cast<double>(sums.longest_ns) * 1e-3,
                 static_cast<unsigned long long>(sums.sent_bytes),
                 static_cast<unsigned long long>(sums.received_bytes));
    text += Format("\n%llu %s\n", static_cast<unsigned long long>(messages_),
                   messages_ == 1 ? "message" : "messages");
    for (const auto& [name, most] : most_)
      text += Format("%sat most %lld %s at one rank\n", &most == &most_.begin()->second ? "\n" : "",
                     static_cast<long long>(most), name.c_str());
    return text;
  }

 private:
  std::vector<std::string> ranks_;
  std::map<std::string, FunctionSums> functions_;
  std::map<std::string, std::int64_t> most_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>> began_ns_;
  std::uint64_t messages_ = 0;
  std::uint64_t first_ns_ = UINT64_MAX;
  std::uint64_t last_ns_ = 0;
};

std::string Microseconds(std::uint64_t ns) {
  return Format("%llu.%03llu", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned long long>(ns % 1000));
}

std::string Named(const TraceTrack& track) {
  const bool rank = track.kind == TraceTrack::Kind::kRank;
  return Format("{\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,\"name\":\"%s\",\"args\":{\"name\":",
                static_cast<unsigned long long>(track.process),
                static_cast<unsigned long long>(track.thread),
                rank ? "process_name" : "thread_name") +
         JsonText(track.name) + "}}";
}

std::string Object(const TraceTrack& track, const TraceEvent& event) {
  const char* const phase = event.kind == TraceEvent::Kind::kBegin ? "B"
                            : event.kind == TraceEvent::Kind::kEnd ? "E"
                                                                   : "C";
  std::string text = Format("{\"ph\":\"%s\",\"pid\":%llu,\"tid\":%llu,\"ts\":", phase,
                            static_cast<unsigned long long>(track.process),
                            static_cast<unsigned long long>(track.thread)) +
                     Microseconds(event.time_ns) + ",\"name\":" + JsonText(event.name);
  std::string arguments;
  if (event.kind == TraceEvent::Kind::kCounter)
    arguments = Format("\"value\":%lld", static_cast<long long>(event.value));
  for (const auto& [name, value] : event.notes)
    arguments += (arguments.empty() ? "" : ",") + JsonText(name) +
                 Format(":%llu", static_cast<unsigned long long>(value));
  if (!arguments.empty()) text += ",\"args\":{" + arguments + "}";
  return text + "}";
}

// A flow begins and ends within the slices that do.
std::string Flow(const TraceTrack& track, const TraceEvent& event, std::uint64_t flow) {
  const bool begins = event.kind == TraceEvent::Kind::kBegin;
  return Format(
             "{\"ph\":\"%s\",%s\"cat\":\"message\",\"name\":\"message\",\"id\":\"%llx\",\"pid\":%"
             "llu,"
             "\"tid\":%llu,\"ts\":",
             begins ? "s" : "f", begins ? "" : "\"bp\":\"e\",",
             static_cast<unsigned long long>(flow), static_cast<unsigned long long>(track.process),
             static_cast<unsigned long long>(track.thread)) +
         Microseconds(event.time_ns) + "}";
}

struct Wanted {
  bool summary = false;
  std::string format;
  std::string out;
  std::string file;
};

Result<Wanted> Parse(std::span<const std::string> arguments) {
  Wanted wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool last = i + 1 == arguments.size();
    if (word == "--summary") {
      wanted.summary = true;
    } else if (word == "--to" && !last) {
      wanted.format = arguments[++i];
    } else if (word == "-o" && !last) {
      wanted.out = arguments[++i];
    } else if (word.starts_with('-') || !wanted.file.empty()) {
      return Error(Code::kInvalid, "\"%s\" does not belong here; --help tells more", word.c_str());
    } else {
      wanted.file = word;
    }
  }
  if (wanted.file.empty())
    return Error(Code::kInvalid, "say which trace: the file that mpiexec --trace has left");
  if (!wanted.format.empty() && wanted.format != "chrome")
    return Error(Code::kInvalid, "--to %s is no format; there is chrome", wanted.format.c_str());
  if (!wanted.out.empty() && wanted.format.empty())
    return Error(Code::kInvalid, "-o belongs to --to chrome");
  return wanted;
}

}  // namespace

Result<std::string> TraceSummary(const std::string& path) {
  Summary summary;
  TraceReader reader(
      {[&](const TraceTrack& track) { summary.Track(track); },
       [&](const TraceTrack& track, const TraceEvent& event) { summary.Event(track, event); }});
  if (Status status = ReadTrace(path, &reader); !status.ok()) return status;
  return summary.Text();
}

Status TraceToChrome(const std::string& path, const std::string& out) {
  NewFile file("the events", out);
  if (Status status = file.Open(); !status.ok()) return status;
  file.Write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  const char* before = "\n";
  const auto write = [&](const std::string& object) {
    file.Write(std::exchange(before, ",\n") + object);
  };
  TraceReader reader({[&](const TraceTrack& track) {
                        if (track.kind != TraceTrack::Kind::kCounter) write(Named(track));
                      },
                      [&](const TraceTrack& track, const TraceEvent& event) {
                        const bool ends = event.kind == TraceEvent::Kind::kEnd;
                        if (!ends) write(Object(track, event));
                        for (const std::uint64_t flow : event.flows)
                          write(Flow(track, event, flow));
                        if (ends) write(Object(track, event));
                      }});
  if (Status status = ReadTrace(path, &reader); !status.ok()) return status;
  file.Write("\n]}\n");
  return file.Finish();
}

int Trace(std::span<const std::string> arguments, const CommandContext&) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("trace"), stdout);
      return 0;
    }
  const auto fail = [](const Status& status, int exit_status) {
    fprintf(stderr, "lamina trace: %s\n", std::string(status.message()).c_str());
    return exit_status;
  };
  const Result<Wanted> wanted = Parse(arguments);
  if (!wanted.ok()) return fail(wanted.status(), 2);
  if (wanted->summary || wanted->format.empty()) {
    const Result<std::string> text = TraceSummary(wanted->file);
    if (!text.ok()) return fail(text.status(), 1);
    fputs(text->c_str(), stdout);
  }
  if (wanted->format.empty()) return 0;
  const std::string out = wanted->out.empty() ? wanted->file + ".json" : wanted->out;
  const Status written = TraceToChrome(wanted->file, out);
  return written.ok() ? 0 : fail(written, 1);
}

}  // namespace lamina::launcher
