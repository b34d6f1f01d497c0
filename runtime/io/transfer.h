// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a data access, with everything it needs: where its data lies in the file, and
// what stands for its buffer if that must be converted.
//
//   Prepare ──> CarryOut, or others do it ──> Conclude
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE, but for CarryOut, which may
//          run on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/io/access.h"
#include "runtime/io/exchange.h"
#include "runtime/io/operation.h"
#include "runtime/io/table.h"

namespace lamina::io {

class Transfer {
 public:
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (view_ != nullptr) Release(view_);
  }

  // Claims the place of the access in the file, and converts what is written. `mine` is what is
  // wrong with the arguments already; a rank of an ordered access takes part nevertheless.
  Failure Prepare(File* file, const Request& request, Failure mine, bool moves_at_once);

  void CarryOut() { outcome_ = Carry(access_); }
  // Says that others have moved the first `bytes` bytes of the file.
  void WasCarried(std::int64_t bytes) { outcome_.bytes = bytes; }

  // Describes what this rank moves for a table of all ranks.
  exchange::Entry Describe() const;
  exchange::Share share() const { return {view_, access_.position, access_.memory}; }
  std::int64_t bytes() const { return bytes_; }

  // Converts what was read. `memory_bytes` is what the status counts.
  Failure Conclude(const File& file, std::int64_t* memory_bytes);

  // How far the individual pointer moves: over the whole etypes that were accessed.
  std::int64_t passed() const { return outcome_.bytes - outcome_.bytes % view_->etype_bytes; }

 private:
  Failure CheckEnd(const File& file) const;
  void Adopt(File* file, const Request& request);
  std::span<std::byte> Converted() { return {converted_.get(), static_cast<std::size_t>(bytes_)}; }

  View* view_ = nullptr;
  datatype::Buffer user_;
  Access access_;
  Outcome outcome_;
  std::int64_t bytes_ = 0;  // of the file
  bool converts_ = false;
  std::unique_ptr<std::byte[]> converted_;  // the data in the representation of the file
};

}  // namespace lamina::io
