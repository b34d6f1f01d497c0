// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/progress_line.h"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "launcher/supervise/tuning.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kWipe = "\r\033[K";

bool Print(std::string_view text) { return write(STDERR_FILENO, text.data(), text.size()) >= 0; }

}  // namespace

ProgressLine::ProgressLine(event_base* loop, std::function<std::string(std::size_t)> text,
                           std::function<void(const std::string&)> say)
    : text_(std::move(text)), say_(std::move(say)), timer_(loop, [this] { Show(); }) {}

void ProgressLine::Begin(bool on_terminal) {
  on_terminal_ = on_terminal;
  timer_.Set(on_terminal ? kSlowStartMs : kVerySlowStartMs);
}

void ProgressLine::Wipe() {
  if (std::exchange(shown_, false)) Print(kWipe);
}

void ProgressLine::Show() {
  const std::string text = text_(on_terminal_ ? kNamesShown : kNamesSaid);
  Wipe();
  if (text.empty()) return;
  if (!on_terminal_) return say_(text);
  shown_ = Print(std::string(kWipe) + "mpiexec: " + text + "\r");
  if (shown_) timer_.Set(kProgressMs);
}

}  // namespace lamina::launcher
