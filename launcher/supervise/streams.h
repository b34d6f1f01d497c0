// SPDX-License-Identifier: BSD-3-Clause
// Which descriptors each rank gets as 0, 1 and 2, and the pumping behind them.
//
//   input    the chosen rank gets ours as it is; from a terminal, or to all ranks, through pipes;
//            every other rank gets /dev/null
//   output   one rank alone gets ours as it is: nothing to merge, nothing to copy, and it sees a
//            terminal where there is one; several ranks, or marks at line starts, go through pipes
//            and a line merger, or straight to it from a Job that carries it; so do those that
//            options give to ranks, since who writes a file itself may miss that its disk is full;
//            where standard output and error are one place, one merger serves both
//
// Ranks that are saved from outside get pipes and /dev/null alone, because whatever is behind a
// pipe can be exchanged when they are revived.
//
// Threads: the event loop's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store/manifest.h"
#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class Streams final : public OutputPort {
 public:
  // `on_change` is called when finished() or output_gone() may have become true or Written() an
  // error.
  Streams(event_base* loop, const Plan& plan, std::function<void()> on_change);
  ~Streams() override;
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // What ranks get as 0, 1 and 2: ours where that serves, pipes or /dev/null alone, or nothing,
  // because their Job carries what they write.
  enum class Give : std::uint8_t { kOurs, kPipes, kNothing };
  // `cut` tells how far files had come in the saved state that the job goes on from: what is behind
  // is taken away, because it comes again. `unread` tells, by rank, what ranks had not read yet of
  // a standard input that is no file; it may be empty.
  Status Open(Give give, std::span<const checkpoint::Manifest::Stream> cut,
              std::vector<std::string> unread);
  // Writes what ranks have written so far, while they stand still, and returns how far all streams
  // have come. `read` tells how much of standard input each rank has read.
  std::vector<checkpoint::Manifest::Stream> Cut(std::span<const std::uint64_t> read);
  // Returns what that rank has not read yet of a standard input that is no file.
  std::string Unread(std::uint32_t rank, std::uint64_t read) const;
  // Returns how much was written into the pipe that is the rank's standard input.
  std::uint64_t GivenTo(std::uint32_t rank) const;
  // These two are for ranks that are given no descriptor (OutputPort).
  void Tell(Granted granted) override;
  void Take(std::uint32_t rank, std::uint8_t stream, std::string_view bytes) override;
  // Returns the descriptors of rank `rank`, valid until RanksStarted(). -1 stands for the
  // launcher's own or, where none can be handed over, for none.
  std::array<int, 3> OfRank(std::size_t rank) const { return rank_fds_[rank]; }
  // Closes the ranks' ends and what was handed to a rank.
  void RanksStarted();

  bool finished() const;
  // True once the reader of our standard output has gone.
  bool output_gone() const;
  // Returns an error if what ranks said could not be written and is lost.
  Status Written() const;
  // Gives up pipes that are open and silent, because somebody out of our reach holds them.
  void CloseSilent();
  // Writes "mpiexec: <text>" to standard error, between the lines of ranks.
  void Say(std::string_view text);

 private:
  Status OpenInput(Give give);
  // Goes on where ranks have left off in the file that is standard input.
  std::vector<std::uint64_t> SeekInput();
  Status OpenOutput(Give give);
  Status OpenFiles();
  Result<stdio::Output*> OpenFile(const std::string& path);
  // Returns whether the file is the one that was cut, and shortens it. What mpiexec has said stays
  // where standard error goes there too, because it may tell why the job had to be restarted.
  bool Shorten(const std::string& name, int fd) const;
  // `place` is 1 or 2, as `stream` is below.
  Status OpenPipe(std::size_t rank, std::uint8_t place);
  void AddFed(std::uint8_t stream);
  int Keep(int fd);
  stdio::Output* OutputOf(std::size_t rank, std::uint8_t stream);
  stdio::Output* ErrorOutput() const { return err_ != nullptr ? err_.get() : out_.get(); }

  event_base* loop_;
  const Plan& plan_;
  std::function<void()> on_change_;
  stdio::LineFormat format_;
  std::vector<std::array<int, 3>> rank_fds_;
  std::vector<int> until_started_;  // descriptors that only ranks need
  bool input_handed_over_ = false;
  // These are those who read standard input, each with the place in that file where they began.
  struct Reader {
    std::uint32_t rank = 0;
    std::uint64_t begin = 0;
  };
  std::vector<Reader> readers_;
  std::vector<checkpoint::Manifest::Stream> cut_;
  std::vector<std::string> unread_;  // by rank
  Granted granted_;
  std::unique_ptr<stdio::Input> input_;
  std::unique_ptr<stdio::Output> out_;
  std::unique_ptr<stdio::Output> err_;  // null: where `out_` goes
  struct File {
    int fd = -1;
    std::unique_ptr<stdio::Output> output;
  };
  std::map<std::string, File> files_;                   // by path
  std::vector<std::array<stdio::Output*, 2>> file_of_;  // by rank, null: our own; empty: no files
};

// Makes sure that 0, 1 and 2 are open, so that no descriptor of ours ends up in their place.
void OccupyStandardDescriptors();

}  // namespace lamina::launcher
