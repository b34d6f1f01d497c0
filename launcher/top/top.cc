// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/top/top.h"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cli/find_job.h"
#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "launcher/survey/job_answer.h"
#include "launcher/top/terminal.h"
#include "launcher/top/view.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// The pause between two looks may be in this range, in seconds.
constexpr double kIntervalMin = 0.1, kIntervalMax = 3600;
// A launcher has to answer within this time.
constexpr int kAnswerMs = 2000;
// One that begins or ends is asked again after this time.
constexpr int kAgainMs = 20;

struct Wanted {
  bool once = false;
  bool json = false;
  int interval_ms = 1000;
  std::string job;
};

std::optional<int> Milliseconds(std::string_view text) {
  double seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() ||
      !(seconds >= kIntervalMin && seconds <= kIntervalMax))
    return std::nullopt;
  return static_cast<int>(seconds * 1000);
}

Result<Wanted> Parse(std::span<const std::string> arguments) {
  Wanted wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--once") {
      wanted.once = true;
    } else if (word == "--json") {
      wanted.json = true;
    } else if (word == "--interval") {
      const auto ms =
          i + 1 < arguments.size() ? Milliseconds(arguments[i + 1]) : std::optional<int>();
      if (!ms)
        return Error(Code::kInvalid, "--interval takes seconds, from %g to %g", kIntervalMin,
                     kIntervalMax);
      wanted.interval_ms = *ms;
      ++i;
    } else if (!wanted.job.empty() || word.starts_with('-')) {
      return Error(Code::kInvalid, "\"%s\" does not belong here; --help tells more", word.c_str());
    } else {
      wanted.job = word;
    }
  }
  return wanted;
}

// What is known of a job at one time.
struct Look {
  JobAnswer job;
  std::vector<RankSample> samples;
};

// Looks at a job again and again.
class Watch {
 public:
  explicit Watch(const control::Launcher& launcher) : launcher_(launcher) {}

  // kPeerLost means that the job has ended.
  Result<std::vector<RankRow>> Next() {
    Result<Look> look = Ask();
    // Whoever begins or ends answers nothing for a moment.
    for (int waited = 0; !look.ok() && look.status().code() == Code::kPeerLost &&
                         waited < kAnswerMs && control::FindLauncher(launcher_.process).ok();
         waited += kAgainMs) {
      poll(nullptr, 0, kAgainMs);
      look = Ask();
    }
    if (!look.ok()) return std::move(look).status();
    job_ = std::move(look->job);
    std::vector<RankRow> rows = RowsOf(look->samples, before_);
    before_ = std::move(look->samples);
    return rows;
  }

  std::string Title() const {
    std::string title =
        Format("mpiexec %d: %u of %u ranks running on %zu %s, since %.1f s: ", launcher_.process,
               job_.running, job_.ranks, job_.hosts.size(),
               job_.hosts.size() == 1 ? "host" : "hosts", static_cast<double>(job_.age_ms) / 1000);
    return title + job_.command;
  }
  std::string JsonHead() const {
    return Format("\"mpiexec\": %d, \"age_ms\": %llu, \"running\": %u, \"command\": ",
                  launcher_.process, static_cast<unsigned long long>(job_.age_ms), job_.running) +
           JsonText(job_.command);
  }
  // Hosts whose ranks are shown as they were.
  std::string Trouble() const {
    std::string names;
    for (const JobAnswer::Host& host : job_.hosts)
      if (host.state == "up" && !host.round_trip_us)
        names += (names.empty() ? "" : ", ") + host.name;
    return names.empty() ? "" : "no answer from " + names + ", whose ranks are shown as they were";
  }

 private:
  Result<Look> Ask() const {
    Look look;
    Result<JobAnswer> job = AwaitPings(launcher_, "ping usage");
    if (!job.ok()) return std::move(job).status();
    look.job = *std::move(job);
    const Result<std::string> answer = control::Ask(launcher_, "usage", kAnswerMs);
    if (!answer.ok()) return Status(answer.status().code(), std::string(answer.status().message()));
    Result<std::vector<RankSample>> samples = DecodeUsageAnswer(*answer);
    if (!samples.ok()) return std::move(samples).status();
    look.samples = *std::move(samples);
    return look;
  }

  const control::Launcher launcher_;
  JobAnswer job_;
  std::vector<RankSample> before_;
};

int Fail(const Status& status) {
  fprintf(stderr, "lamina top: %s\n", std::string(status.message()).c_str());
  return status.code() == Code::kTimeout ? 1 : 2;
}

bool Print(const Watch& watch, const std::vector<RankRow>& rows, bool json) {
  if (json) {
    printf("%s\n", JsonOf(watch.JsonHead(), rows).c_str());
  } else {
    printf("%s\n", watch.Title().c_str());
    for (const std::string& line : TableOf(rows)) printf("%s\n", line.c_str());
    if (const std::string trouble = watch.Trouble(); !trouble.empty())
      printf("%s\n", trouble.c_str());
  }
  return fflush(stdout) == 0;
}

// Prints for scripts. The first look tells no rates, so it is not printed unless the job ends
// before the second one.
int PrintOnly(Watch* watch, std::vector<RankRow> rows, const Wanted& wanted) {
  for (bool first = true;; first = false) {
    poll(nullptr, 0, wanted.interval_ms);
    Result<std::vector<RankRow>> next = watch->Next();
    const bool ended = !next.ok() && next.status().code() == Code::kPeerLost;
    if (!next.ok() && !ended) return Fail(next.status());
    if (next.ok()) rows = *std::move(next);
    if (!ended || first) {
      if (!first && !wanted.json) printf("\n");
      if (!Print(*watch, rows, wanted.json)) return 1;
    }
    if (ended || wanted.once) return 0;
  }
}

// The page, and what keys do to it.
class Page {
 public:
  Page(Terminal* terminal, Watch* watch) : terminal_(terminal), watch_(watch) {}

  // Returns false once the user has seen enough.
  bool Obey(const Pressed& pressed) {
    const std::size_t shown = RowsShown(terminal_->size().lines);
    const std::size_t last = view_.rows.size() - std::min(view_.rows.size(), shown);
    const auto columns = static_cast<unsigned>(TopColumn::kCount);
    const auto column = static_cast<unsigned>(view_.column);
    switch (pressed.key) {
      case Key::kGone:
        return false;
      case Key::kUp:
        view_.first -= view_.first > 0 ? 1 : 0;
        break;
      case Key::kDown:
        ++view_.first;
        break;
      case Key::kPageUp:
        view_.first -= std::min(view_.first, shown);
        break;
      case Key::kPageDown:
        view_.first += shown;
        break;
      case Key::kHome:
        view_.first = 0;
        break;
      case Key::kEnd:
        view_.first = last;
        break;
      case Key::kLeft:
        view_.column = static_cast<TopColumn>((column + columns - 1) % columns);
        break;
      case Key::kRight:
        view_.column = static_cast<TopColumn>((column + 1) % columns);
        break;
      case Key::kLetter:
        if (pressed.letter == 'q') return false;
        if (pressed.letter == 's') view_.column = static_cast<TopColumn>((column + 1) % columns);
        if (pressed.letter == 'r') view_.reverse = !view_.reverse;
        break;
      default:
        break;
    }
    view_.first = std::min(view_.first, last);
    return true;
  }

  void Take(std::vector<RankRow> rows) {
    view_.rows = std::move(rows);
    view_.title = watch_->Title();
    view_.trouble = watch_->Trouble();
  }
  void SetTrouble(std::string trouble) { view_.trouble = std::move(trouble); }

  void Show() {
    SortRows(view_.column, view_.reverse, &view_.rows);
    const Terminal::Size size = terminal_->size();
    const std::size_t shown = RowsShown(size.lines);
    view_.first = std::min(view_.first, view_.rows.size() - std::min(view_.rows.size(), shown));
    terminal_->Show(ScreenOf(view_, size.lines, size.columns), size.lines >= 3 ? 1 : 0);
  }

 private:
  Terminal* const terminal_;
  Watch* const watch_;
  TopView view_;
};

// Returns true if the job has ended.
bool Interact(Page* page, Terminal* terminal, Watch* watch, int interval_ms) {
  for (;;) {
    const std::uint64_t until_ms = MonotonicMs() + static_cast<std::uint64_t>(interval_ms);
    for (std::uint64_t now_ms; (now_ms = MonotonicMs()) < until_ms;) {
      page->Show();
      if (!page->Obey(terminal->Await(static_cast<int>(until_ms - now_ms)))) return false;
    }
    Result<std::vector<RankRow>> next = watch->Next();
    if (next.ok())
      page->Take(*std::move(next));
    else if (next.status().code() == Code::kPeerLost)
      return true;
    else
      page->SetTrouble(std::string(next.status().message()));
  }
}

int ShowPage(Watch* watch, std::vector<RankRow> rows, int interval_ms) {
  Result<std::unique_ptr<Terminal>> terminal = Terminal::Open();
  if (!terminal.ok()) return Fail(terminal.status());
  Page page(terminal->get(), watch);
  page.Take(std::move(rows));
  const bool ended = Interact(&page, terminal->get(), watch, interval_ms);
  const int signal = (*terminal)->ended_by();
  terminal->reset();
  if (ended)
    printf("the job of %s has ended\n", watch->Title().substr(0, watch->Title().find(':')).c_str());
  if (signal != 0) {
    fflush(stdout);
    raise(signal);
  }
  return 0;
}

}  // namespace

int Top(std::span<const std::string> arguments, const CommandContext& context) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("top"), stdout);
      return 0;
    }
  const Result<Wanted> wanted = Parse(arguments);
  if (!wanted.ok()) return Fail(wanted.status());
  const Result<control::Launcher> job = FindJob(wanted->job);
  if (!job.ok()) return Fail(job.status());
  Watch watch(*job);
  Result<std::vector<RankRow>> rows = watch.Next();
  if (!rows.ok()) return Fail(rows.status());
  if (wanted->once || wanted->json || !Terminal::IsThere(context.environment))
    return PrintOnly(&watch, *std::move(rows), *wanted);
  return ShowPage(&watch, *std::move(rows), wanted->interval_ms);
}

}  // namespace lamina::launcher
