// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal that is written over again while the job starts, and wiped before
// anything else is said. The cursor stays at its beginning. Where there is no terminal, one line is
// said once, if the start takes very long.
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "launcher/supervise/timer.h"

namespace lamina::launcher {

class ProgressLine {
 public:
  // `text` is asked for a line with this many names, again and again on a terminal; "" ends the
  // line for good. `say` takes a line where there is no terminal.
  ProgressLine(event_base* loop, std::function<std::string(std::size_t names_max)> text,
               std::function<void(const std::string&)> say);
  ~ProgressLine() { Wipe(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The line appears if the start takes long.
  void Begin(bool on_terminal);
  void Wipe();

 private:
  void Show();

  std::function<std::string(std::size_t)> text_;
  std::function<void(const std::string&)> say_;
  Timer timer_;
  bool on_terminal_ = false;
  bool shown_ = false;
};

}  // namespace lamina::launcher
