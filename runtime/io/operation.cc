// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/operation.h"

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/text.h"
#include "runtime/core/process.h"
#include "runtime/io/access.h"
#include "runtime/io/agree.h"
#include "runtime/io/exchange.h"
#include "runtime/io/table.h"
#include "runtime/io/tuning.h"
#include "runtime/io/worker.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/trace.h"

namespace lamina::io {
namespace {

using datatype::Buffer;

Failure CheckDirection(const File& file, const Request& request) {
  if (IsSequential(file.amode) && request.pointer != Pointer::kShared)
    return Fail(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "%s was opened with MPI_MODE_SEQUENTIAL, where only the shared file pointer is used",
        file.path.c_str());
  if (request.writes && !file.writes())
    return Fail(MPI_ERR_READ_ONLY, "%s was opened with MPI_MODE_RDONLY", file.path.c_str());
  if (!request.writes && !file.reads())
    return Fail(MPI_ERR_ACCESS, "%s was opened with MPI_MODE_WRONLY", file.path.c_str());
  if (request.collective && file.split != nullptr)
    return Fail(MPI_ERR_OTHER,
                "a split collective access of %s is under way, and %s must be called first",
                file.path.c_str(), file.split_call);
  return {};
}

// Finds how many bytes of the file an access is about.
Failure FindBytes(const File& file, const Request& request, std::int64_t* bytes) {
  const View& view = *file.view;
  std::int64_t each = 0;
  if (Failure failure = FileBytes(*view.datarep, *request.memory.type, &each); !failure.ok())
    return failure;
  if (__builtin_mul_overflow(each, request.memory.count, bytes))
    return Fail(MPI_ERR_ARG, "the access is longer than 64 bits can count");
  if (*bytes % view.etype_bytes != 0)
    return Fail(MPI_ERR_IO, "the access has %lld bytes, which are no whole etypes of %lld",
                static_cast<long long>(*bytes), static_cast<long long>(view.etype_bytes));
  if (*bytes > 0 && view.form->size == 0)
    return Fail(MPI_ERR_IO, "the filetype of the view has no data");
  return {};
}

Failure FindExplicit(const File& file, MPI_Offset offset, std::int64_t* position) {
  if (offset < 0)
    return Fail(MPI_ERR_ARG, "offset is %lld, must not be negative",
                static_cast<long long>(offset));
  if (__builtin_mul_overflow(offset, file.view->etype_bytes, position))
    return Fail(MPI_ERR_ARG, "offset is %lld, which is beyond the largest offset of a file",
                static_cast<long long>(offset));
  return {};
}

// Takes the stretches of all ranks off the shared pointer, in the order of ranks.
Failure ClaimInOrder(File* file, std::int64_t bytes, Failure mine, std::int64_t* position) {
  std::int64_t below = 0;
  std::int64_t all = 0;
  if (Failure failure = AddUp(file->comm, mine.ok() ? bytes : 0, &below, &all); !failure.ok())
    return failure;
  std::int64_t first = 0;
  Failure claimed;
  if (file->comm->rank == 0) claimed = file->shared->Claim(all, &first);
  if (Failure failure = Share(file->comm, std::as_writable_bytes(std::span(&first, 1)));
      !failure.ok())
    return failure;
  if (!mine.ok()) return mine;
  *position = first + below;
  return claimed;
}

// An access with everything it needs, which may be carried out on any thread.
class Transfer {
 public:
  // Claims the place of the access in the file, and converts what is written.
  Failure Prepare(File* file, const Request& request, Failure mine, bool moves_at_once) {
    if (mine.ok()) mine = CheckDirection(*file, request);
    if (mine.ok()) mine = FindBytes(*file, request, &bytes_);
    if (mine.ok() && request.pointer == Pointer::kExplicit)
      mine = FindExplicit(*file, request.offset, &access_.position);
    if (request.pointer == Pointer::kShared && request.collective)
      mine = ClaimInOrder(file, bytes_, std::move(mine), &access_.position);
    if (!mine.ok()) return mine;
    if (request.pointer == Pointer::kShared && !request.collective)
      mine = file->shared->Claim(bytes_, &access_.position);
    if (request.pointer == Pointer::kIndividual) access_.position = file->position;
    if (mine.ok()) mine = CheckEnd(*file);
    if (!mine.ok()) return mine;
    if (request.pointer == Pointer::kIndividual && moves_at_once) file->position += bytes_;
    Adopt(file, request);
    if (!converts_ || !access_.writes) return {};
    return Encode(*view_->datarep, user_, Converted());
  }
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (view_ != nullptr) Release(view_);
  }

  void CarryOut() { outcome_ = Carry(access_); }
  // Says that all was written by others.
  void WasCarried() { outcome_.bytes = bytes_; }

  // Describes what this rank writes for a table of all ranks.
  exchange::Entry Describe() const {
    exchange::Entry entry;
    if (bytes_ == 0) return entry;
    entry.first = view_->OffsetAt(access_.position);
    entry.end = view_->OffsetAt(access_.position + bytes_ - 1) + 1;
    entry.bytes = entry.run_bytes = bytes_;
    if (view_->dense) return entry;
    Cursor cursor = view_->Begin(access_.position);
    std::int64_t seen = 0;
    std::int64_t runs = 0;
    for (; runs < kProbedRuns && seen < bytes_; ++runs) seen += cursor.Next(bytes_ - seen).bytes;
    entry.run_bytes = seen / runs;
    return entry;
  }
  exchange::Share share() const { return {view_, access_.position, access_.memory}; }

  // Converts what was read. `memory_bytes` is what the status counts.
  Failure Conclude(const File& file, std::int64_t* memory_bytes) {
    trace::Count(access_.writes ? trace::Counter::kFileWrites : trace::Counter::kFileReads);
    trace::Count(
        access_.writes ? trace::Counter::kFileWrittenBytes : trace::Counter::kFileReadBytes,
        static_cast<std::uint64_t>(outcome_.bytes));
    trace::Count(trace::Counter::kFilePatches, static_cast<std::uint64_t>(outcome_.patched));
    *memory_bytes = outcome_.bytes;
    Failure failure;
    if (converts_ && access_.writes)
      *memory_bytes = outcome_.bytes == bytes_ ? user_.bytes() : 0;
    else if (converts_)
      failure = Decode(*view_->datarep, Converted().first(static_cast<std::size_t>(outcome_.bytes)),
                       user_, memory_bytes);
    if (outcome_.error_number == 0) return failure;
    return TransferFailure(outcome_.call, file.path, outcome_.offset, outcome_.asked,
                           outcome_.error_number);
  }

  // How far the individual pointer moves: over the whole etypes that were accessed.
  std::int64_t passed() const { return outcome_.bytes - outcome_.bytes % view_->etype_bytes; }

 private:
  Failure CheckEnd(const File& file) const {
    std::int64_t end = 0;
    if (bytes_ == 0) return {};
    const bool fits = !__builtin_add_overflow(access_.position, bytes_, &end) &&
                      !__builtin_add_overflow(end, file.view->displacement, &end);
    if (!fits) return Fail(MPI_ERR_ARG, "the access would end beyond the largest offset of a file");
    if (file.view->Has(access_.position + bytes_)) return {};
    return Fail(MPI_ERR_IO,
                "the access goes beyond the first copy of the filetype, and the next one would "
                "overlap it or go back");
  }

  void Adopt(File* file, const Request& request) {
    view_ = file->view;
    Retain(view_);
    user_ = request.memory;
    converts_ = !view_->datarep->native() && bytes_ > 0;
    access_.body = file->body.get();
    access_.view = view_;
    access_.writes = request.writes;
    const bool guarded = file->locking && request.writes;
    access_.locks = file->atomic || guarded ? file->locks.get() : nullptr;
    access_.atomic = file->atomic;
    access_.patches = guarded && file->hints.Get("romio_ds_write") != "disable";
    access_.memory = user_;
    file->wrote = file->wrote || request.writes;
    if (!converts_) return;
    converted_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
    access_.memory = {converted_.get(), bytes_, datatype::FindDatatype(MPI_BYTE)};
  }
  std::span<std::byte> Converted() { return {converted_.get(), static_cast<std::size_t>(bytes_)}; }

  View* view_ = nullptr;
  Buffer user_;
  Access access_;
  Outcome outcome_;
  std::int64_t bytes_ = 0;  // of the file
  bool converts_ = false;
  std::unique_ptr<std::byte[]> converted_;  // the data in the representation of the file
};

// A nonblocking access, as the activity of its request.
class Operation final : public core::Activity, public Job {
 public:
  Operation(File* file, bool collective) : file_(file), collective_(collective) {
    io::Retain(file_);
    ++file_->under_way;
  }
  ~Operation() override { io::Release(file_); }

  Transfer& transfer() { return transfer_; }
  void Begin(core::Request* request) {
    request_ = request;
    ++core::notices_to_come;
    Submit(this);
  }
  // Says that the access has not begun.
  void Withdraw() { --file_->under_way; }

  void Run() override { transfer_.CarryOut(); }
  void Ended() override { core::NotifyFromAnyThread(this); }

  void Advance() override {
    --core::notices_to_come;
    failure_ = transfer_.Conclude(*file_, &request_->bytes);
    --file_->under_way;
    core::Finish(request_, failure_.error_class);
  }
  std::string Explain() const override { return failure_.text; }
  bool MustComplete() const override { return collective_; }

 private:
  File* const file_;
  const bool collective_;
  Transfer transfer_;
  core::Request* request_ = nullptr;
  Failure failure_;
};

exchange::Wish WishOf(const Hints& hints) {
  const std::string& write = hints.Get("romio_cb_write");
  const std::string& buffering = hints.Get("collective_buffering");
  if (write == "disable" || buffering == "false") return exchange::Wish::kDisable;
  if (write == "enable" || buffering == "true") return exchange::Wish::kEnable;
  return exchange::Wish::kAutomatic;
}

// All ranks answer alike.
bool MayExchange(const File& file, const Request& request) {
  return request.collective && request.writes && request.pointer != Pointer::kShared &&
         file.comm->size > 1 && !file.atomic && file.writes() && !IsSequential(file.amode);
}

// Learns what all ranks write, and writes it together where that is better. `carried` becomes true
// if that was done. A mistake in the arguments of one rank is everybody's failure.
Failure WriteTogether(File* file, Transfer* transfer, Failure mine, bool* carried) {
  core::Comm* const comm = file->comm;
  exchange::Entry own;
  if (mine.ok()) own = transfer->Describe();
  own.error_class = mine.error_class;
  own.wish = WishOf(file->hints);
  // Half of it is for the parcels.
  own.buffer_bytes = ParseInteger(file->hints.Get("cb_buffer_size")).value_or(0) / 2;
  std::vector<exchange::Entry> table(static_cast<std::size_t>(comm->size));
  if (Failure failure =
          Gather(comm, std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(table)));
      !failure.ok())
    return failure;
  for (Rank rank = 0; rank < comm->size; ++rank) {
    const auto error = static_cast<int>(table[static_cast<std::size_t>(rank)].error_class);
    if (error == MPI_SUCCESS) continue;
    if (!mine.ok()) return mine;
    return Fail(error, "nothing is written, because rank %d has a wrong argument", rank);
  }
  const bool direct = exchange::IsDirect(table);
  file->method = direct ? "direct" : "exchange";
  if (direct) return mine;
  trace::Count(trace::Counter::kFileExchanges);
  Failure result = Agree(comm, exchange::Write({comm, file->body.get(), file->path,
                                                file->locking ? file->locks.get() : nullptr},
                                               table, transfer->share()));
  if (result.ok()) transfer->WasCarried();
  *carried = result.ok();
  return result;
}

}  // namespace

Failure Perform(File* file, const Request& request, Failure mine, MPI_Status* status) {
  Transfer transfer;
  mine = transfer.Prepare(file, request, std::move(mine), false);
  bool carried = false;
  if (MayExchange(*file, request)) mine = WriteTogether(file, &transfer, std::move(mine), &carried);
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
  auto operation = std::make_unique<Operation>(file, request.collective);
  if (Failure failure = operation->transfer().Prepare(file, request, std::move(mine), true);
      !failure.ok()) {
    operation->Withdraw();
    return failure;
  }
  core::Request* made = core::NewRequest(file->comm);
  made->type = core::Request::Type::kActivity;
  made->active = true;
  core::Hold(made, request.memory.type);
  Operation* const begun = operation.release();
  made->activity = begun;
  begun->Begin(made);
  *started = made;
  return {};
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
