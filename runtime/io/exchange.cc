// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/exchange.h"

#include <algorithm>
#include <utility>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/process.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/trace.h"

namespace lamina::io::exchange {
namespace {

// Domains end at whole pages, so that no two aggregators write to one.
constexpr std::int64_t kUnitBytes = 4096;
// A parcel that is longer than this comes in two messages, because an aggregator does not know how
// long it will be.
constexpr std::size_t kFirstPartBytes = 4096;

// In a communicator that spans jobs, which number nodes each in its own way, rank 0 moves all.
std::vector<Rank> Aggregators(const core::Comm& comm, std::int64_t wanted) {
  std::vector<std::uint32_t> nodes;
  bootstrap::Bootstrap* bootstrap = core::process->bootstrap.get();
  for (Rank rank = 0; rank < comm.size && bootstrap != nullptr; ++rank) {
    if (Index(comm.peers[rank]) >= core::process->identity.job_ranks) return {0};  // another job's
    Result<std::uint32_t> node = bootstrap->Node(Index(comm.peers[rank]));
    if (!node.ok()) return {0};
    nodes.push_back(*node);
  }
  std::vector<Rank> chosen = ChooseAggregators(nodes, wanted);
  if (chosen.empty()) chosen.push_back(0);
  return chosen;
}

}  // namespace

Rounds::Rounds(const Task& task, std::vector<Entry> table)
    : task_(task),
      table_(std::move(table)),
      windows_(Cut(table_, Aggregators(*task.comm, table_.front().nodes), kUnitBytes)),
      end_position_(task.share.position + task.share.memory.bytes()) {
  for (const Domain& domain : windows_.domains)
    if (domain.aggregator == task_.comm->rank && domain.first < domain.end)
      window_ = std::make_unique_for_overwrite<std::byte[]>(
          static_cast<std::size_t>(std::min(windows_.window_bytes, domain.end - domain.first)));
}

Rounds::Next Rounds::Step() {
  for (;;) switch (stage_) {
      case Stage::kBegin:
        if (round_ == windows_.rounds) return Next::kDone;
        BeginRound();
        stage_ = Stage::kCollect;
        break;
      case Stage::kCollect:
        Collect();
        if (!open_.empty()) return Next::kWait;
        stage_ = mine_.empty() ? Stage::kEnd : Stage::kFile;
        if (mine_.empty()) break;
        trace::Count(trace::Counter::kFileWindows);
        return Next::kUseFile;
      case Stage::kFile:
        if (!task_.writes) SendAnswers();
        stage_ = Stage::kEnd;
        break;
      case Stage::kEnd:
        if (!CanStep()) return Next::kWait;
        EndRound();
        ++round_;
        stage_ = Stage::kBegin;
        break;
    }
}

bool Rounds::CanStep() const {
  if (stage_ == Stage::kCollect)
    return std::any_of(open_.begin(), open_.end(),
                       [](const Letter* letter) { return letter->request->complete; });
  return std::all_of(sends_.begin(), sends_.end(),
                     [](const core::Request* request) { return request->complete; }) &&
         std::all_of(awaited_.begin(), awaited_.end(),
                     [](const Awaited& awaited) { return awaited.request->complete; });
}

// A rank starts all its sends before it receives, and waits for them after. So the rank that is
// furthest behind always finds what it waits for.
void Rounds::BeginRound() {
  const Rank rank = task_.comm->rank;
  mine_ = {};
  used_ = sent_ = 0;
  for (const Domain& domain : windows_.domains) {
    const Range window = WindowOf(windows_, domain, round_);
    if (window.empty()) continue;
    const bool own = domain.aggregator == rank;
    if (own) mine_ = window;
    if (!own && Meets(table_[static_cast<std::size_t>(rank)], window)) SendParcel(domain, window);
  }
  for (Rank from = 0; from < task_.comm->size && !mine_.empty(); ++from)
    if (Meets(table_[static_cast<std::size_t>(from)], mine_)) Expect(from);
}

void Rounds::SendParcel(const Domain& domain, const Range& window) {
  if (sent_ == parcels_.size()) parcels_.push_back(std::make_unique<Bytes>());
  Bytes* parcel = parcels_[sent_++].get();
  const std::int64_t asked = MakeParcel(task_.share, window, task_.writes, parcel);
  if (!task_.writes) {
    Awaited awaited{domain.aggregator, window, {}, core::NewRequest(task_.comm)};
    awaited.answer.Resize(sizeof(AnswerHeader) + static_cast<std::size_t>(asked));
    Post(awaited.request, awaited.from, task_.tag + 1, awaited.answer.all(), false);
    awaited_.push_back(std::move(awaited));
  }
  // A synchronous send keeps ranks from running more than a round ahead of their aggregator.
  const auto mode =
      round_ % 2 == 1 ? core::Request::Mode::kSynchronous : core::Request::Mode::kStandard;
  const std::size_t first = std::min(parcel->size(), kFirstPartBytes);
  for (const std::span<std::byte> part :
       {parcel->all().first(first), parcel->all().subspan(first)}) {
    if (part.empty()) continue;
    sends_.push_back(core::NewRequest(task_.comm));
    Post(sends_.back(), domain.aggregator, task_.tag, part, true, mode);
  }
}

Rounds::Letter* Rounds::NewLetter(Rank from) {
  if (used_ == letters_.size()) letters_.push_back(std::make_unique<Letter>());
  Letter* letter = letters_[used_++].get();
  letter->from = from;
  letter->begun = letter->good = false;
  return letter;
}

void Rounds::Expect(Rank from) {
  Letter* letter = NewLetter(from);
  if (from == task_.comm->rank) {
    static_cast<void>(MakeParcel(task_.share, mine_, task_.writes, &letter->parcel));
    letter->good = true;
    return;
  }
  letter->parcel.Resize(kFirstPartBytes);
  letter->request = core::NewRequest(task_.comm);
  Post(letter->request, from, task_.tag, letter->parcel.all(), false);
  open_.push_back(letter);
}

void Rounds::Collect() {
  for (Letter* letter : open_)
    while (letter->request != nullptr && letter->request->complete) Go(letter);
  std::erase_if(open_, [](const Letter* letter) { return letter->request == nullptr; });
}

// Takes a part of a parcel that has come, and asks for the rest.
void Rounds::Go(Letter* letter) {
  const auto bytes = static_cast<std::size_t>(letter->request->bytes);
  const int error = End(std::exchange(letter->request, nullptr));
  if (error != MPI_SUCCESS) {
    if (file_failure_.ok())
      file_failure_ = Fail(error, "rank %d is gone and has not sent its part", letter->from);
    return;
  }
  letter->good = true;
  if (std::exchange(letter->begun, true)) return;
  const std::size_t whole =
      ParcelBytes(letter->parcel.all().first(bytes), task_.writes, mine_.end - mine_.first);
  letter->parcel.Resize(std::max(bytes, whole), bytes);
  if (whole <= bytes) return;
  letter->good = false;
  letter->request = core::NewRequest(task_.comm);
  Post(letter->request, letter->from, task_.tag, letter->parcel.all().subspan(bytes), false);
}

void Rounds::SendAnswers() {
  for (std::size_t i = 0; i < used_; ++i) {
    Letter* letter = letters_[i].get();
    if (letter->from == task_.comm->rank) {
      static_cast<void>(TakeAnswer(letter->answer.all(), task_.share, mine_, &end_position_));
      continue;
    }
    sends_.push_back(core::NewRequest(task_.comm));
    Post(sends_.back(), letter->from, task_.tag + 1, letter->answer.all(), true);
  }
}

void Rounds::EndRound() {
  for (core::Request* request : sends_)
    if (const int error = End(request); error_ == MPI_SUCCESS) error_ = error;
  sends_.clear();
  for (Awaited& awaited : awaited_) {
    const auto bytes = static_cast<std::size_t>(awaited.request->bytes);
    int error = End(awaited.request);
    if (error == MPI_SUCCESS) {
      awaited.answer.Resize(std::min(bytes, awaited.answer.size()));
      const bool taken =
          TakeAnswer(awaited.answer.all(), task_.share, awaited.window, &end_position_);
      if (!taken) error = MPI_ERR_INTERN;
    }
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  awaited_.clear();
}

void Rounds::Post(core::Request* request, Rank peer, int tag, std::span<std::byte> bytes,
                  bool sends, core::Request::Mode mode) {
  const p2p::Envelope envelope{task_.comm, task_.comm->context, peer, tag};
  const datatype::Buffer buffer{bytes.data(), static_cast<std::int64_t>(bytes.size()),
                                datatype::FindDatatype(MPI_BYTE)};
  if (sends)
    p2p::PrepareSend(request, envelope, buffer, mode);
  else
    p2p::PrepareReceive(request, envelope, buffer);
  request->watcher = task_.watcher;
  p2p::Start(request);
}

int Rounds::End(core::Request* request) {
  const int error = request->error;
  core::FreeRequest(request);
  return error;
}

void Rounds::UseFile() {
  coverage_.Reset(mine_.end - mine_.first);
  for (std::size_t i = 0; i < used_; ++i) {
    Letter& letter = *letters_[i];
    if (!letter.good) continue;
    const std::span<const std::byte> parcel = letter.parcel.all();
    letter.good = task_.writes
                      ? TakeParcel(parcel, mine_.first, Window(), &coverage_)
                      : MarkParcel(parcel, mine_.first, mine_.end - mine_.first, &coverage_);
    if (!letter.good && file_failure_.ok())
      file_failure_ = Fail(MPI_ERR_INTERN, "rank %d has sent what is not of this window of %s",
                           letter.from, task_.path.c_str());
  }
  if (task_.writes)
    WriteWindow();
  else
    ReadWindow();
}

void Rounds::Fails(const char* call, const Run& range, int error) {
  if (file_failure_.ok())
    file_failure_ = TransferFailure(call, task_.path, range.offset, range.bytes, error);
}

// Writes what was given and nothing else.
void Rounds::WriteWindow() {
  if (!file_failure_.ok()) return;
  const Run window{mine_.first, mine_.end - mine_.first};
  int error = task_.locks == nullptr ? 0 : task_.locks->Lock(window, false);
  if (error != 0) return Fails("lock", window, error);
  for (Run run = coverage_.Next(0); run.bytes > 0; run = coverage_.Next(run.offset + run.bytes)) {
    const std::int64_t offset = mine_.first + run.offset;
    const Moved moved = task_.body->WriteAt(
        offset, {window_.get() + run.offset, static_cast<std::size_t>(run.bytes)});
    if (moved.error_number == 0) continue;
    Fails("pwrite", {offset + moved.bytes, run.bytes - moved.bytes}, moved.error_number);
    break;
  }
  error = task_.locks == nullptr ? 0 : task_.locks->Unlock();
  if (error != 0) Fails("unlock", window, error);
}

// Reads from the first byte to the last that somebody asks for, and hands out. What lies in between
// is mostly wanted too.
void Rounds::ReadWindow() {
  const Run span = coverage_.Span();
  std::int64_t end = INT64_MAX;
  if (span.bytes > 0 && file_failure_.ok()) {
    const std::int64_t offset = mine_.first + span.offset;
    const Moved moved = task_.body->ReadAt(
        offset, {window_.get() + span.offset, static_cast<std::size_t>(span.bytes)});
    if (moved.bytes < span.bytes) end = offset + moved.bytes;
    if (moved.error_number != 0)
      Fails("pread", {offset + moved.bytes, span.bytes - moved.bytes}, moved.error_number);
  }
  for (std::size_t i = 0; i < used_; ++i) {
    Letter& letter = *letters_[i];
    if (file_failure_.ok() && letter.good)
      MakeAnswer(letter.parcel.all(), mine_.first, Window(), end, &letter.answer);
    else
      MakeErrorAnswer(file_failure_.ok() ? MPI_ERR_INTERN : file_failure_.error_class,
                      &letter.answer);
  }
}

Failure Rounds::failure() const {
  if (!file_failure_.ok() || error_ == MPI_SUCCESS) return file_failure_;
  return Fail(error_, "data did not come through between this rank and the one that %s the file",
              task_.writes ? "writes" : "reads");
}

}  // namespace lamina::io::exchange
