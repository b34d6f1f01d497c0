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

ProgressLine::ProgressLine(event_base* loop, std::function<std::string()> text)
    : text_(std::move(text)), timer_(loop, [this] { Show(); }) {}

void ProgressLine::Begin() { timer_.Set(kSlowStartMs); }

void ProgressLine::Wipe() {
  if (std::exchange(shown_, false)) Print(kWipe);
}

void ProgressLine::Show() {
  const std::string text = text_();
  Wipe();
  if (text.empty()) return;
  shown_ = Print(std::string(kWipe) + "mpiexec: " + text + "\r");
  if (shown_) timer_.Set(kProgressMs);
}

}  // namespace lamina::launcher
