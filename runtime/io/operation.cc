// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/operation.h"

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/core/process.h"
#include "runtime/io/agree.h"
#include "runtime/io/closing.h"
#include "runtime/io/exchange.h"
#include "runtime/io/file_system.h"
#include "runtime/io/table.h"
#include "runtime/io/transfer.h"
#include "runtime/io/worker.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/trace.h"

namespace lamina::io {
namespace {

// Tags of the messages of collective accesses, of which each has two; and of their ends. Those of
// the shared pointer are below.
constexpr int kFirstTag = 8;
constexpr int kTagsEach = 4;
constexpr unsigned kTagged = 4096;  // accesses that may be under way at once

exchange::Wish WishOf(const Hints& hints, bool writes) {
  const std::string& method = hints.Get(writes ? "romio_cb_write" : "romio_cb_read");
  const std::string& buffering = hints.Get("collective_buffering");
  if (method == "disable" || buffering == "false") return exchange::Wish::kDisable;
  if (method == "enable" || buffering == "true") return exchange::Wish::kEnable;
  return exchange::Wish::kAutomatic;
}

// All ranks answer alike.
bool MayExchange(const File& file, const Request& request) {
  return request.collective && request.pointer != Pointer::kShared && file.comm->size > 1 &&
         !file.atomic && (request.writes ? file.writes() : file.reads()) &&
         !IsSequential(file.amode);
}

// What all ranks of a collective access tell one another, and how they go on.
class Together {
 public:
  Together(File* file, bool writes)
      : file_(file),
        writes_(writes),
        tag_(kFirstTag + kTagsEach * static_cast<int>(file->collectives++ % kTagged)),
        table_(static_cast<std::size_t>(file->comm->size)) {}

  // Says what this rank tells.
  void Fill(const Transfer& transfer, const Failure& mine) {
    if (mine.ok()) own_ = transfer.Describe();
    own_.error_class = mine.error_class;
    own_.wish = WishOf(file_->hints, writes_);
    // Half of it is for the parcels.
    own_.buffer_bytes = file_->hints.bytes("cb_buffer_size") / 2;
    own_.nodes = file_->hints.bytes("cb_nodes");
  }
  std::span<const std::byte> own() const { return std::as_bytes(std::span(&own_, 1)); }
  std::span<std::byte> all() { return std::as_writable_bytes(std::span(table_)); }

  // A mistake in the arguments of one rank is everybody's failure.
  Failure Check(const Failure& mine) const {
    for (Rank rank = 0; rank < file_->comm->size; ++rank) {
      const auto error = static_cast<int>(table_[static_cast<std::size_t>(rank)].error_class);
      if (error == MPI_SUCCESS) continue;
      if (!mine.ok()) return mine;
      return Fail(error, "nothing is %s, because rank %d has a wrong argument",
                  writes_ ? "written" : "read", rank);
    }
    return {};
  }
  bool IsDirect() {
    const bool is_local = FileSystemOf(file_->identity.file_system).sharing == Sharing::kLocal;
    const bool direct = exchange::IsDirect(table_, writes_, file_->on_one_node && is_local);
    file_->method = direct ? "direct" : "exchange";
    return direct;
  }
  std::unique_ptr<exchange::Rounds> Exchange(const Transfer& transfer, core::Activity* watcher) {
    trace::Count(trace::Counter::kFileExchanges);
    RangeLocks* const locks = writes_ && file_->locking ? file_->locks.get() : nullptr;
    return std::make_unique<exchange::Rounds>(
        exchange::Task{file_->comm, file_->body.get(), file_->path, locks, writes_,
                       transfer.share(), tag_, watcher},
        std::move(table_));
  }
  int closing_tag() const { return tag_ + 2; }

 private:
  File* const file_;
  const bool writes_;
  const int tag_;
  exchange::Entry own_;
  std::vector<exchange::Entry> table_;
};

// Learns what all ranks access, and moves it together where that is better. `carried` becomes true
// if that was done.
Failure MoveTogether(File* file, bool writes, Transfer* transfer, Failure mine, bool* carried) {
  Together together(file, writes);
  together.Fill(*transfer, mine);
  if (Failure failure = Gather(file->comm, together.own(), together.all()); !failure.ok())
    return failure;
  if (Failure failure = together.Check(mine); !failure.ok()) return failure;
  if (together.IsDirect()) return {};
  const std::unique_ptr<exchange::Rounds> rounds = together.Exchange(*transfer, nullptr);
  for (;;) {
    const exchange::Rounds::Next next = rounds->Step();
    if (next == exchange::Rounds::Next::kDone) break;
    if (next == exchange::Rounds::Next::kWait) {
      p2p::WaitUntil(
          [](void* waiting) { return static_cast<exchange::Rounds*>(waiting)->CanStep(); },
          rounds.get());
    } else {
      const core::Unlocked unlocked;
      rounds->UseFile();
    }
  }
  Failure result = Agree(file->comm, rounds->failure());
  if (result.ok()) transfer->WasCarried(rounds->bytes());
  *carried = result.ok();
  return result;
}

// A nonblocking access, as the activity of its request.
//
//   alone:     the thread moves the data
//   together:  table ──> the thread moves the data
//                   └──> rounds, in which the thread uses the file ──> closing
class Operation final : public core::Activity {
 public:
  Operation(File* file, const Request& request)
      : file_(file), writes_(request.writes), collective_(request.collective), work_(this) {
    io::Retain(file_);
    ++file_->under_way;
    core::NoteUnsaved();  // its thread is in the middle of it
  }
  ~Operation() override { io::Release(file_); }

  Transfer& transfer() { return transfer_; }
  void BeginAlone(core::Request* request) {
    request_ = request;
    work_.Begin();
  }
  // `mine` is what is wrong with the arguments of this rank.
  void BeginTogether(core::Request* request, const Failure& mine) {
    request_ = request;
    failure_ = mine;
    together_.emplace(file_, writes_);
    together_->Fill(transfer_, mine);
    stage_ = Stage::kTable;
    if (Failure failure = StartGather(file_->comm, together_->own(), together_->all(), &table_);
        !failure.ok() && failure_.ok())
      failure_ = std::move(failure);
    if (table_ != nullptr) table_->watcher = this;
    core::Notify(this);
  }
  // Says that the access is over, or has not begun.
  void Withdraw() {
    --file_->under_way;
    core::ForgetUnsaved();
  }

  // Messages may end while the thread is at work, and then there is nothing to do yet. The notice
  // of the last one may come when all is over.
  void Advance() override {
    if (work_.under_way() || stage_ == Stage::kOver) return;
    if (stage_ == Stage::kTable && !ReadTable()) return;
    if (stage_ == Stage::kRounds && !GoOn()) return;
    if (stage_ == Stage::kClosing && !closing_->Step()) return;
    End();
  }
  std::string Explain() const override { return failure_.text; }
  bool MustComplete() const override { return collective_; }

 private:
  enum class Stage { kAlone, kTable, kRounds, kClosing, kOver };

  // What the thread does for it. This is an activity of its own, so that the notice of the thread
  // is not mistaken for one of a message.
  class Work final : public core::Activity, public Job {
   public:
    explicit Work(Operation* owner) : owner_(owner) {}
    void Begin() {
      under_way_ = true;
      ++core::notices_to_come;
      Submit(this);
    }
    bool under_way() const { return under_way_; }

    void Run() override {
      if (owner_->rounds_ != nullptr)
        owner_->rounds_->UseFile();
      else
        owner_->transfer_.CarryOut();
    }
    void Ended() override { core::NotifyFromAnyThread(this); }
    void Advance() override {
      under_way_ = false;
      --core::notices_to_come;
      owner_->Advance();
    }

   private:
    Operation* const owner_;
    bool under_way_ = false;
  };

  // Returns false if there is something to wait for.
  bool ReadTable() {
    if (table_ != nullptr && !table_->complete) return false;
    if (table_ != nullptr) {
      if (table_->error != MPI_SUCCESS) failure_ = LostRank(table_->error);
      core::FreeRequest(std::exchange(table_, nullptr));
      if (Failure failure = together_->Check(failure_); failure_.ok()) failure_ = failure;
    }
    stage_ = Stage::kAlone;
    if (!failure_.ok()) return true;
    if (together_->IsDirect()) {
      work_.Begin();
      return false;
    }
    rounds_ = together_->Exchange(transfer_, this);
    stage_ = Stage::kRounds;
    return true;
  }
  bool GoOn() {
    const exchange::Rounds::Next next = rounds_->Step();
    if (next == exchange::Rounds::Next::kUseFile) work_.Begin();
    if (next != exchange::Rounds::Next::kDone) return false;
    closing_.emplace(file_->comm, together_->closing_tag(), rounds_->failure(), this);
    stage_ = Stage::kClosing;
    return true;
  }
  void End() {
    if (stage_ == Stage::kClosing) {
      failure_ = closing_->result();
      transfer_.WasCarried(rounds_->bytes());
    }
    if (failure_.ok()) failure_ = transfer_.Conclude(*file_, &request_->bytes);
    stage_ = Stage::kOver;
    Withdraw();
    core::Finish(request_, failure_.error_class);
  }

  File* const file_;
  const bool writes_;
  const bool collective_;
  Transfer transfer_;
  core::Request* request_ = nullptr;
  Failure failure_;
  Stage stage_ = Stage::kAlone;
  Work work_;
  std::optional<Together> together_;
  core::Request* table_ = nullptr;
  std::unique_ptr<exchange::Rounds> rounds_;
  std::optional<Closing> closing_;
};

core::Request* NewRequest(File* file, const Request& request, Operation* activity) {
  core::Request* made = core::NewRequest(file->comm);
  made->type = core::Request::Type::kActivity;
  made->active = true;
  if (request.memory.type != nullptr) core::Hold(made, request.memory.type);
  made->activity = activity;
  return made;
}

}  // namespace

Failure Perform(File* file, const Request& request, Failure mine, MPI_Status* status) {
  Transfer transfer;
  mine = transfer.Prepare(file, request, std::move(mine), false);
  bool carried = false;
  if (MayExchange(*file, request))
    mine = MoveTogether(file, request.writes, &transfer, std::move(mine), &carried);
  if (!mine.ok()) return mine;
  if (!carried) {
    const core::Unlocked unlocked;
    transfer.CarryOut();
  }
  std::int64_t bytes = 0;
  Failure failure = transfer.Conclude(*file, &bytes);
  if (request.pointer == Pointer::kIndividual) file->position += transfer.passed();
  core::EmptyStatus(status);
  if (status != MPI_STATUS_IGNORE) core::SetStatusBytes(status, bytes);
  return failure;
}

Failure Start(File* file, const Request& request, Failure mine, core::Request** started) {
  auto operation = std::make_unique<Operation>(file, request);
  mine = operation->transfer().Prepare(file, request, std::move(mine), true);
  const bool together = MayExchange(*file, request);
  if (!mine.ok() && !together) {
    operation->Withdraw();
    return mine;
  }
  Operation* const begun = operation.release();
  core::Request* made = NewRequest(file, request, begun);
  if (together)
    begun->BeginTogether(made, mine);
  else
    begun->BeginAlone(made);
  // A rank with wrong arguments takes part without a request of the user's.
  if (mine.ok())
    *started = made;
  else
    made->orphan = true;
  return mine;
}

Failure BeginSplit(File* file, const Request& request, const char* end_call, Failure mine) {
  core::Request* started = nullptr;
  if (Failure failure = Start(file, request, std::move(mine), &started); !failure.ok())
    return failure;
  file->split = started;
  file->split_buffer = request.memory.address;
  file->split_call = end_call;
  return {};
}

Failure EndSplit(File* file, const char* end_call, const void* buffer, MPI_Status* status) {
  if (file->split == nullptr)
    return Fail(MPI_ERR_OTHER, "no split collective access of %s is under way", file->path.c_str());
  if (std::strcmp(end_call, file->split_call) != 0)
    return Fail(MPI_ERR_OTHER, "the split collective access of %s that is under way ends with %s",
                file->path.c_str(), file->split_call);
  if (buffer != file->split_buffer)
    return Fail(MPI_ERR_BUFFER, "buf is %p, and was %p when the split access began", buffer,
                file->split_buffer);
  core::Request* const ended = std::exchange(file->split, nullptr);
  p2p::Wait(ended);
  core::FillStatus(*ended, status);
  Failure failure;
  if (ended->error != MPI_SUCCESS) failure = {ended->error, ended->activity->Explain()};
  core::FreeRequest(ended);
  return failure;
}

}  // namespace lamina::io
