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
  // Reads `fd`, which is borrowed. `targets` are the writing ends of the ranks' pipes, which are
  // taken over. spared[i] bytes do not go to targets[i]; empty: everything goes to all.
  Input(event_base* loop, int fd, const std::vector<int>& targets,
        const std::vector<std::uint64_t>& spared = {});
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Returns how many bytes were written to that target.
  std::uint64_t given(std::size_t target) const;

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
  bool ended_ = false;
  std::string piece_;
  std::vector<std::unique_ptr<Target>> targets_;
  event* readable_;
  event* later_;
};

// A terminal has to be pumped; anything else can be handed to a rank as it is.
bool IsTerminal(int fd);

}  // namespace lamina::launcher::stdio
