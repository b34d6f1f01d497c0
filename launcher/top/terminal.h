// SPDX-License-Identifier: BSD-3-Clause
// The terminal of a program that shows a page and listens to keys. It is given back as it was,
// however the program ends but by SIGKILL.
//
// Threads: one.
#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

enum class Key : std::uint8_t {
  kNone,
  kLetter,  // see Pressed
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kResized,  // the window has another size, or the page is to be shown anew
  kGone,     // the terminal has gone, or a signal ends the program
};
struct Pressed {
  Key key = Key::kNone;
  char letter = '\0';
};

// Takes a key from the front of what a terminal has sent; kNone: that is not a whole one yet.
Pressed TakeKey(std::string* sent);

class Terminal {
 public:
  // Standard input and output are a terminal that can show a page.
  static bool IsThere(const Environment& environment);
  static Result<std::unique_ptr<Terminal>> Open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    std::size_t lines;
    std::size_t columns;
  };
  Size size() const;
  // `lines` fit into the window; the one of number `head` is emphasised.
  void Show(const std::vector<std::string>& lines, std::size_t head);
  // Waits for a key, for at most `ms`.
  Pressed Await(int ms);
  // The signal that ended the program; 0: none did.
  int ended_by() const { return ended_by_; }

 private:
  Terminal() = default;
  void Take();
  void GiveBack();
  Pressed OnSignal();

  termios before_{};
  int signals_ = -1;
  int ended_by_ = 0;
  std::string sent_;
};

}  // namespace lamina::launcher
