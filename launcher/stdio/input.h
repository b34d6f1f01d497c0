// SPDX-License-Identifier: BSD-3-Clause
// An Input carries what is typed or piped into mpiexec to ranks, byte for byte.
//
// If one rank is the target and our input is no terminal, there is nothing to do: that rank gets
// the descriptor itself. An Input pumps in the two other cases: from a terminal (ranks are in the
// background there and may not read it), and to all ranks.
//
// Nothing is read while a rank has not taken what was read before, so at most one piece is held;
// the slowest rank sets the pace. From a terminal nothing is read while we are in the background
// ourselves: what is typed then is the shell's.
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct event;
struct event_base;

namespace lamina::launcher::stdio {

class Input {
 public:
  // The writing end of a rank's pipe, which is taken over.
  struct To {
    int fd = -1;
    std::uint64_t spared = 0;  // so many bytes of what is read do not go there
    std::string before;        // this goes there before them
  };
  // Reads `fd`, which is borrowed. `keeps`: see Unread().
  Input(event_base* loop, int fd, std::vector<To> targets, bool keeps = false);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Returns how many bytes were written to that target.
  std::uint64_t given(std::size_t target) const;
  // Returns what was for that target and what it has not read, if it has read so many bytes.
  // Precondition: this was made to keep what was not long ago.
  std::string Unread(std::size_t target, std::uint64_t read) const;

 private:
  struct Target;
  static void OnReadable(int fd, short what, void* input);
  static void OnWritable(int fd, short what, void* target);
  static void OnLater(int fd, short what, void* input);
  void Read();
  void Feed(Target* target);
  void Continue();
  void Close(Target* target);
  bool MayRead() const;

  int fd_;
  bool terminal_;
  bool always_ready_;
  const bool keeps_;
  bool ended_ = false;
  std::string piece_;
  std::vector<std::unique_ptr<Target>> targets_;
  event* readable_;
  event* later_;
};

// A terminal has to be pumped; anything else can be handed to a rank as it is.
bool IsTerminal(int fd);

}  // namespace lamina::launcher::stdio
