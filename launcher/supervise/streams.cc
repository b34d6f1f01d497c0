// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lamina::launcher {
namespace {

// True for `2>&1` and for a terminal. Lines then stay whole only if one hand writes them all.
bool SamePlace(int fd, int other) {
  struct stat one {};
  struct stat two {};
  return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

}  // namespace

void OccupyStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0) return;
}

Streams::Streams(event_base* loop, const Plan& plan, std::function<void()> on_change)
    : loop_(loop),
      plan_(plan),
      on_change_(std::move(on_change)),
      format_{plan.options.tag_output, plan.options.timestamp_output},
      rank_fds_(plan.ranks.size(), {-1, -1, -1}) {}

Streams::~Streams() {
  for (const int fd : until_started_) close(fd);
  files_.clear();
  for (const int fd : file_fds_) close(fd);
}

int Streams::Keep(int fd) {
  if (fd >= 0) until_started_.push_back(fd);
  return fd;
}

Status Streams::Open(bool hand_over) {
  if (Status status = OpenInput(hand_over); !status.ok()) return status;
  return OpenOutput(hand_over);
}

Status Streams::OpenInput(bool hand_over) {
  const int nothing = Keep(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing < 0) return SystemError(Code::kResource, errno, "cannot open /dev/null");
  for (auto& fds : rank_fds_) fds[0] = nothing;
  const RunOptions& options = plan_.options;
  const bool one = options.stdin_to == StdinTo::kRank && options.stdin_rank < rank_fds_.size();
  if (one && hand_over && !stdio::IsTerminal(STDIN_FILENO)) {
    rank_fds_[options.stdin_rank][0] = STDIN_FILENO;
    input_handed_over_ = true;
    return {};
  }
  std::vector<int> targets;
  for (std::size_t rank = 0; rank < rank_fds_.size(); ++rank) {
    if (options.stdin_to != StdinTo::kAll && !(one && rank == options.stdin_rank)) continue;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return SystemError(Code::kResource, errno, "cannot make a pipe for rank %zu", rank);
    rank_fds_[rank][0] = Keep(ends[0]);
    targets.push_back(ends[1]);
  }
  if (!targets.empty()) input_ = std::make_unique<stdio::Input>(loop_, STDIN_FILENO, targets);
  return {};
}

Status Streams::OpenOutput(bool hand_over) {
  const bool marked = format_.tag || format_.timestamp;
  if (!plan_.options.output_directory.empty()) {
    if (mkdir(plan_.options.output_directory.c_str(), 0777) != 0 && errno != EEXIST)
      return SystemError(Code::kDenied, errno, "cannot make the output directory %s",
                         plan_.options.output_directory.c_str());
    for (std::size_t rank = 0; rank < rank_fds_.size(); ++rank)
      if (Status status = OpenFiles(rank, hand_over); !status.ok()) return status;
    return {};
  }
  if (rank_fds_.size() == 1 && !marked && hand_over) return {};
  out_ = std::make_unique<stdio::Output>(loop_, STDOUT_FILENO, format_, on_change_);
  if (!SamePlace(STDOUT_FILENO, STDERR_FILENO))
    err_ = std::make_unique<stdio::Output>(loop_, STDERR_FILENO, format_, on_change_);
  if (!hand_over) {
    AddFed(0, rank_fds_.size(), 1);
    AddFed(0, rank_fds_.size(), 2);
    return {};
  }
  for (std::size_t rank = 0; rank < rank_fds_.size(); ++rank) {
    if (Status status = OpenPipe(rank, 1, out_.get()); !status.ok()) return status;
    if (Status status = OpenPipe(rank, 2, ErrorOutput()); !status.ok()) return status;
  }
  return {};
}

void Streams::Tell(Granted granted) { granted_ = std::move(granted); }

void Streams::Take(std::uint32_t rank, std::uint8_t stream, std::string_view bytes) {
  OutputOf(rank, stream)->Feed(rank, stream, bytes);
}

void Streams::AddFed(std::size_t first, std::size_t ranks, std::uint8_t stream) {
  OutputOf(first, stream)
      ->AddFed(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(ranks), stream,
               [this](std::uint32_t rank, std::uint8_t of, std::uint32_t bytes) {
                 if (granted_ != nullptr) granted_(rank, of, bytes);
               });
}

Status Streams::OpenPipe(std::size_t rank, int place, stdio::Output* output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return SystemError(Code::kResource, errno, "cannot make a pipe for rank %zu", rank);
  rank_fds_[rank][static_cast<std::size_t>(place)] = Keep(ends[1]);
  output->AddRank(static_cast<std::uint32_t>(rank), ends[0]);
  return {};
}

std::string Streams::FileOf(std::size_t rank, int place) const {
  return plan_.options.output_directory + "/rank." + std::to_string(rank) +
         (place == 1 ? ".out" : ".err");
}

Status Streams::OpenFiles(std::size_t rank, bool hand_over) {
  for (const int place : {1, 2}) {
    const std::string path = FileOf(rank, place);
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return SystemError(Code::kDenied, errno, "cannot write %s", path.c_str());
    file_fds_.push_back(fd);
    files_.push_back(std::make_unique<stdio::Output>(loop_, fd, format_, on_change_));
    if (!hand_over) {
      AddFed(rank, 1, static_cast<std::uint8_t>(place));
      continue;
    }
    if (Status status = OpenPipe(rank, place, files_.back().get()); !status.ok()) return status;
  }
  return {};
}

void Streams::RanksStarted() {
  for (const int fd : until_started_) close(fd);
  until_started_.clear();
  for (auto& fds : rank_fds_) fds = {-1, -1, -1};
  if (!input_handed_over_) return;
  // We let go of it, so that whoever writes to it learns when the rank is gone.
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  close(nothing);
}

bool Streams::finished() const {
  for (const auto& file : files_)
    if (!file->finished()) return false;
  return (out_ == nullptr || out_->finished()) && (err_ == nullptr || err_->finished());
}

bool Streams::output_gone() const {
  if (out_ != nullptr) return out_->broken();
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

Status Streams::Written() const {
  if (const int error = out_ != nullptr ? out_->error() : 0; error != 0)
    return SystemError(Code::kResource, error, "cannot write standard output");
  if (const int error = err_ != nullptr ? err_->error() : 0; error != 0)
    return SystemError(Code::kResource, error, "cannot write standard error");
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (const int error = files_[i]->error(); error != 0)
      return SystemError(Code::kResource, error, "cannot write %s",
                         FileOf(i / 2, i % 2 == 0 ? 1 : 2).c_str());
  return {};
}

void Streams::CloseSilent() {
  if (out_ != nullptr) out_->CloseSilent();
  if (err_ != nullptr) err_->CloseSilent();
  for (const auto& file : files_) file->CloseSilent();
}

void Streams::Say(std::string_view text) {
  const std::string line = "mpiexec: " + std::string(text);
  if (ErrorOutput() != nullptr) return ErrorOutput()->Say(line);
  const std::string whole = line + "\n";
  if (write(STDERR_FILENO, whole.data(), whole.size()) < 0) return;  // nobody left to tell
}

}  // namespace lamina::launcher
