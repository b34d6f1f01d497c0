// SPDX-License-Identifier: BSD-3-Clause
// An Output carries what ranks write, from their pipes or as it is fed, to one descriptor of ours.
//
// When the reader of our output is slow, the ranks' pipes are not read, so they wait and what is
// held is bounded. When the reader has gone, or no more can be written (a full disk), the pipes are
// closed, so that ranks see what they would have seen of a reader who leaves: SIGPIPE or EPIPE.
//
// Threads: the event loop's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/stdio/line_merger.h"
#include "launcher/stdio/outlet.h"

struct event;
struct event_base;

namespace lamina::launcher::stdio {

struct LineFormat {
  bool tag = false;        // "[rank 3] "
  bool timestamp = false;  // "12:34:56.789 "
};

class Output {
 public:
  // `fd` is borrowed. `on_end` is called when finished() may have become true.
  Output(event_base* loop, int fd, LineFormat format, std::function<void()> on_end);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Takes over `fd`, the reading end of the pipe that `rank` writes to.
  void AddRank(std::uint32_t rank, int fd);
  // Tells how much of what `rank` was fed of `stream` (1 or 2) has gone on its way, or (kGone) that
  // it is fed in vain from now on.
  using Written = std::function<void(std::uint32_t rank, std::uint8_t stream, std::uint32_t bytes)>;
  static constexpr std::uint32_t kGone = 0xffffffff;
  // Adds these ranks, which ascend, without pipes. They are fed, and are all there are of `stream`;
  // whoever feeds them has to wait for `written`.
  void AddFed(std::vector<std::uint32_t> ranks, std::uint8_t stream, Written written);
  // Takes a piece that a rank wrote; an empty one is the end.
  void Feed(std::uint32_t rank, std::uint8_t stream, std::string_view bytes);
  // Writes a line of the launcher's own, given without "\n".
  void Say(std::string_view line);
  // True once all pipes have ended and everything is written, or nobody reads us.
  bool finished() const { return open_ == 0 && (outlet_.empty() || outlet_.broken()); }
  bool broken() const { return outlet_.broken(); }
  // Returns the errno of what keeps us from writing; 0 if nothing does or nobody reads us any more.
  int error() const;
  // Takes and writes all that ranks have written so far, lines that stand open included. Nobody may
  // write meanwhile.
  void TakeAll();
  // Gives up pipes that have nothing to say and are not waiting for our reader.
  void CloseSilent();

 private:
  struct Source;
  static void OnReadable(int fd, short what, void* source);
  static void OnSilence(int fd, short what, void* output);
  void Read(Source* source);
  void Close(Source* source);
  void Note(Source* source);
  void Adjust();
  bool AdjustOne(Source* source, bool full);
  std::string MarkOf(std::size_t source) const;

  event_base* loop_;
  LineFormat format_;
  std::function<void()> on_end_;
  Outlet outlet_;
  LineMerger merger_;
  std::vector<std::unique_ptr<Source>> sources_;
  struct Fed {
    std::size_t index = 0;  // of the source of the first rank
    std::vector<std::uint32_t> ranks;
  };
  std::size_t IndexOf(std::uint32_t rank, std::uint8_t stream) const;
  std::array<Fed, 3> fed_;      // by stream
  std::vector<Source*> noted_;  // those that may have to be read again, paid, or looked after
  bool was_full_ = false;
  Written written_;
  std::size_t open_ = 0;
  event* silence_;
  bool silence_armed_ = false;
};

}  // namespace lamina::launcher::stdio
