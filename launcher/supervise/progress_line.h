// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal that is written over again while the job starts, and wiped before
// anything else is said. The cursor stays at its beginning.
//
// Threads: the event loop's.
#pragma once

#include <functional>
#include <string>

#include "launcher/supervise/timer.h"

namespace lamina::launcher {

class ProgressLine {
 public:
  // `text` is asked again and again; "" ends the line for good.
  ProgressLine(event_base* loop, std::function<std::string()> text);

  // The line appears if the start takes long.
  void Begin();
  void Wipe();

 private:
  void Show();

  std::function<std::string()> text_;
  Timer timer_;
  bool shown_ = false;
};

}  // namespace lamina::launcher
