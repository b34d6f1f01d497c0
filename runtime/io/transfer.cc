// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/transfer.h"

#include <utility>

#include "runtime/io/agree.h"
#include "runtime/io/tuning.h"
#include "runtime/trace/trace.h"

namespace lamina::io {
namespace {

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

}  // namespace

Failure Transfer::Prepare(File* file, const Request& request, Failure mine, bool moves_at_once) {
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

Failure Transfer::CheckEnd(const File& file) const {
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

void Transfer::Adopt(File* file, const Request& request) {
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
  const Sieving& sieving = file->hints.sieving();
  access_.patches = guarded && sieving.writes;
  access_.sieves = sieving.reads;
  access_.read_window_bytes = sieving.read_window_bytes;
  access_.write_window_bytes = sieving.write_window_bytes;
  access_.memory = user_;
  file->wrote = file->wrote || request.writes;
  if (!converts_) return;
  converted_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  access_.memory = {converted_.get(), bytes_, datatype::FindDatatype(MPI_BYTE)};
}

exchange::Entry Transfer::Describe() const {
  exchange::Entry entry;
  if (bytes_ == 0) return entry;
  entry.first = view_->OffsetAt(access_.position);
  entry.end = view_->OffsetAt(access_.position + bytes_ - 1) + 1;
  entry.bytes = entry.run_bytes = bytes_;
  entry.alone = view_->overlaps ? 1 : 0;
  if (view_->dense) return entry;
  Cursor cursor = view_->Begin(access_.position);
  std::int64_t seen = 0;
  std::int64_t runs = 0;
  for (; runs < kProbedRuns && seen < bytes_; ++runs) seen += cursor.Next(bytes_ - seen).bytes;
  entry.run_bytes = seen / runs;
  return entry;
}

Failure Transfer::Conclude(const File& file, std::int64_t* memory_bytes) {
  trace::Count(access_.writes ? trace::Counter::kFileWrites : trace::Counter::kFileReads);
  trace::Count(access_.writes ? trace::Counter::kFileWrittenBytes : trace::Counter::kFileReadBytes,
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

}  // namespace lamina::io
