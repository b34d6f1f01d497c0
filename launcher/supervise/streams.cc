// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "launcher/plan/output_pattern.h"

namespace lamina::launcher {
namespace {

constexpr const char* kOwnMark = "mpiexec: ";

// True for `2>&1` and for a terminal. Lines then stay whole only if one hand writes them all.
bool SamePlace(int fd, int other) {
  struct stat one {};
  struct stat two {};
  return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

// What a manifest calls the standard input of a rank.
std::string InputName(std::uint32_t rank) { return "0:" + std::to_string(rank); }

// Returns what this program has said in a file behind the first `bytes` of it, line by line. A line
// of a rank may stand open before such a line.
std::string SaidBehind(int fd, std::uint64_t bytes) {
  std::ifstream file("/proc/self/fd/" + std::to_string(fd));
  file.seekg(static_cast<std::streamoff>(bytes));
  std::string said;
  for (std::string line; std::getline(file, line);)
    if (const std::size_t at = line.find(kOwnMark); at != line.npos) said += line.substr(at) + "\n";
  return said;
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
  for (auto& [path, file] : files_) {
    file.output.reset();
    if (file.fd >= 0) close(file.fd);
  }
}

int Streams::Keep(int fd) {
  if (fd >= 0) until_started_.push_back(fd);
  return fd;
}

Status Streams::Open(Give give, std::span<const checkpoint::Manifest::Stream> cut,
                     std::vector<std::string> unread) {
  cut_.assign(cut.begin(), cut.end());
  unread_ = std::move(unread);
  Shorten("1", STDOUT_FILENO);
  if (Status status = OpenInput(give); !status.ok()) return status;
  return OpenOutput(give);
}

bool Streams::Shorten(const std::string& name, int fd) const {
  const auto its = std::find_if(cut_.begin(), cut_.end(),
                                [&name](const auto& stream) { return stream.name == name; });
  struct stat file {};
  if (its == cut_.end() || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) ||
      file.st_ino != its->inode)
    return false;
  if (file.st_size <= static_cast<off_t>(its->bytes)) return true;
  const std::string said =
      SamePlace(fd, STDERR_FILENO) ? SaidBehind(fd, its->bytes) : std::string();
  if (ftruncate(fd, static_cast<off_t>(its->bytes)) != 0) return true;
  lseek(fd, 0, SEEK_END);
  return said.empty() || write(fd, said.data(), said.size()) > 0;
}

std::uint64_t Streams::GivenTo(std::uint32_t rank) const {
  for (std::size_t at = 0; at < readers_.size(); ++at)
    if (readers_[at].rank == rank && input_ != nullptr) return input_->given(at);
  return 0;
}

std::string Streams::Unread(std::uint32_t rank, std::uint64_t read) const {
  struct stat input {};
  if (fstat(STDIN_FILENO, &input) != 0 || S_ISREG(input.st_mode)) return "";
  for (std::size_t at = 0; at < readers_.size(); ++at)
    if (readers_[at].rank == rank && input_ != nullptr) return input_->Unread(at, read);
  return "";
}

std::vector<checkpoint::Manifest::Stream> Streams::Cut(std::span<const std::uint64_t> read) {
  if (out_ != nullptr) out_->TakeAll();
  if (err_ != nullptr) err_->TakeAll();
  for (const auto& [path, file] : files_) file.output->TakeAll();
  std::vector<checkpoint::Manifest::Stream> cut;
  const auto note = [&cut](const std::string& name, int fd) {
    struct stat file {};
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
      cut.push_back({name, static_cast<std::uint64_t>(file.st_size), file.st_ino});
  };
  note("1", STDOUT_FILENO);
  for (const auto& [path, file] : files_) note(path, file.fd);
  struct stat input {};
  if (fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode))
    for (const Reader& reader : readers_)
      cut.push_back({InputName(reader.rank), reader.begin + read[reader.rank], input.st_ino});
  return cut;
}

Status Streams::OpenInput(Give give) {
  const int nothing = Keep(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing < 0) return SystemError(Code::kResource, errno, "cannot open /dev/null");
  for (auto& fds : rank_fds_) fds[0] = nothing;
  const RunOptions& options = plan_.options;
  const bool one = options.stdin_to == StdinTo::kRank && options.stdin_rank < rank_fds_.size();
  if (one && give == Give::kOurs && !stdio::IsTerminal(STDIN_FILENO)) {
    rank_fds_[options.stdin_rank][0] = STDIN_FILENO;
    input_handed_over_ = true;
    return {};
  }
  std::vector<stdio::Input::To> targets;
  for (std::size_t rank = 0; rank < rank_fds_.size(); ++rank) {
    if (options.stdin_to != StdinTo::kAll && !(one && rank == options.stdin_rank)) continue;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return SystemError(Code::kResource, errno, "cannot make a pipe for rank %zu", rank);
    rank_fds_[rank][0] = Keep(ends[0]);
    targets.push_back({ends[1], 0, rank < unread_.size() ? std::move(unread_[rank]) : ""});
    readers_.push_back({static_cast<std::uint32_t>(rank), 0});
  }
  if (targets.empty()) return {};
  const std::vector<std::uint64_t> spared = SeekInput();
  for (std::size_t at = 0; at < spared.size(); ++at) targets[at].spared = spared[at];
  input_ = std::make_unique<stdio::Input>(loop_, STDIN_FILENO, std::move(targets),
                                          options.checkpoint.outside);
  return {};
}

// Returns how much each reader is to be spared, because it has read more than others.
std::vector<std::uint64_t> Streams::SeekInput() {
  struct stat input {};
  const off_t here = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (here < 0 || fstat(STDIN_FILENO, &input) != 0 || !S_ISREG(input.st_mode)) return {};
  for (Reader& reader : readers_) {
    reader.begin = static_cast<std::uint64_t>(here);
    for (const checkpoint::Manifest::Stream& stream : cut_)
      if (stream.name == InputName(reader.rank) && stream.inode == input.st_ino)
        reader.begin = stream.bytes;
  }
  const auto first = std::min_element(
      readers_.begin(), readers_.end(),
      [](const Reader& one, const Reader& other) { return one.begin < other.begin; });
  if (lseek(STDIN_FILENO, static_cast<off_t>(first->begin), SEEK_SET) < 0) return {};
  std::vector<std::uint64_t> spared;
  for (const Reader& reader : readers_) spared.push_back(reader.begin - first->begin);
  return spared;
}

Status Streams::OpenOutput(Give give) {
  const RunOptions& options = plan_.options;
  const bool marked = format_.tag || format_.timestamp;
  const bool in_files = !options.out_pattern.empty() || !options.err_pattern.empty();
  if (rank_fds_.size() == 1 && !marked && !in_files && give == Give::kOurs) {
    if (options.merge_errors) rank_fds_[0][2] = STDOUT_FILENO;
    return {};
  }
  if (Status status = OpenFiles(); !status.ok()) return status;
  if (options.out_pattern.empty())
    out_ = std::make_unique<stdio::Output>(loop_, STDOUT_FILENO, format_, on_change_);
  const bool errors_here = options.err_pattern.empty() && !options.merge_errors;
  if ((errors_here || out_ != nullptr) &&
      (out_ == nullptr || !SamePlace(STDOUT_FILENO, STDERR_FILENO)))
    err_ = std::make_unique<stdio::Output>(loop_, STDERR_FILENO, format_, on_change_);
  if (give == Give::kNothing) {
    AddFed(1);
    AddFed(2);
    return {};
  }
  for (std::size_t rank = 0; rank < rank_fds_.size(); ++rank) {
    if (Status status = OpenPipe(rank, 1); !status.ok()) return status;
    // Through one pipe both keep their order.
    if (options.merge_errors)
      rank_fds_[rank][2] = rank_fds_[rank][1];
    else if (Status status = OpenPipe(rank, 2); !status.ok())
      return status;
  }
  return {};
}

stdio::Output* Streams::OutputOf(std::size_t rank, std::uint8_t stream) {
  if (plan_.options.merge_errors) stream = 1;
  stdio::Output* file = file_of_.empty() ? nullptr : file_of_[rank][stream - 1u];
  if (file != nullptr) return file;
  return stream == 1 ? out_.get() : ErrorOutput();
}

void Streams::Tell(Granted granted) { granted_ = std::move(granted); }

void Streams::Take(std::uint32_t rank, std::uint8_t stream, std::string_view bytes) {
  OutputOf(rank, stream)->Feed(rank, stream, bytes);
}

void Streams::AddFed(std::uint8_t stream) {
  std::map<stdio::Output*, std::vector<std::uint32_t>> ranks;
  for (std::size_t rank = 0; rank < rank_fds_.size(); ++rank)
    ranks[OutputOf(rank, stream)].push_back(static_cast<std::uint32_t>(rank));
  for (auto& [output, fed] : ranks)
    output->AddFed(std::move(fed), stream,
                   [this](std::uint32_t rank, std::uint8_t of, std::uint32_t bytes) {
                     if (granted_ != nullptr) granted_(rank, of, bytes);
                   });
}

Status Streams::OpenPipe(std::size_t rank, std::uint8_t place) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return SystemError(Code::kResource, errno, "cannot make a pipe for rank %zu", rank);
  rank_fds_[rank][place] = Keep(ends[1]);
  OutputOf(rank, place)->AddRank(static_cast<std::uint32_t>(rank), ends[0]);
  return {};
}

Status Streams::OpenFiles() {
  const RunOptions& options = plan_.options;
  if (options.out_pattern.empty() && options.err_pattern.empty()) return {};
  file_of_.assign(plan_.ranks.size(), {nullptr, nullptr});
  for (std::size_t rank = 0; rank < plan_.ranks.size(); ++rank)
    for (const std::size_t place : {0u, 1u}) {
      const std::string& pattern = place == 0 ? options.out_pattern : options.err_pattern;
      if (pattern.empty() || (place == 1 && options.merge_errors)) continue;
      Result<stdio::Output*> file = OpenFile(FileOf(pattern, plan_, plan_.ranks[rank]));
      if (!file.ok()) return std::move(file).status();
      file_of_[rank][place] = *file;
    }
  return {};
}

// Several ranks may write to one file, whose lines stay whole.
Result<stdio::Output*> Streams::OpenFile(const std::string& path) {
  const auto [entry, is_new] = files_.try_emplace(path);
  File& file = entry->second;
  if (!is_new) return file.output.get();
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error)
    return SystemError(Code::kDenied, error.value(), "cannot make the output directory %s",
                       directory.c_str());
  file.fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file.fd < 0 || (!Shorten(path, file.fd) && ftruncate(file.fd, 0) != 0 && errno != EINVAL))
    return SystemError(Code::kDenied, errno, "cannot write %s", path.c_str());
  file.output = std::make_unique<stdio::Output>(loop_, file.fd, format_, on_change_);
  return file.output.get();
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
  for (const auto& [path, file] : files_)
    if (!file.output->finished()) return false;
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
  for (const auto& [path, file] : files_)
    if (const int error = file.output->error(); error != 0)
      return SystemError(Code::kResource, error, "cannot write %s", path.c_str());
  return {};
}

void Streams::CloseSilent() {
  if (out_ != nullptr) out_->CloseSilent();
  if (err_ != nullptr) err_->CloseSilent();
  for (const auto& [path, file] : files_) file.output->CloseSilent();
}

void Streams::Say(std::string_view text) {
  const std::string line = kOwnMark + std::string(text);
  if (ErrorOutput() != nullptr) return ErrorOutput()->Say(line);
  const std::string whole = line + "\n";
  if (write(STDERR_FILENO, whole.data(), whole.size()) < 0) return;  // nobody left to tell
}

}  // namespace lamina::launcher
