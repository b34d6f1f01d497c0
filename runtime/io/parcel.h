// SPDX-License-Identifier: BSD-3-Clause
// A parcel is what one rank sends to an aggregator for one window: a header, strips that say where
// its data lies, and the data if it is written. An answer is what comes back if data is read.
// README.md of this folder has their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/datatype/datatype.h"
#include "runtime/io/coverage.h"
#include "runtime/io/table.h"
#include "runtime/io/view.h"

namespace lamina::io::exchange {

// A strip is a regular row of equal runs.
struct Strip {
  std::int64_t offset;  // of the first run, in the file
  std::int64_t bytes;   // of each run
  std::int64_t stride;  // from one run to the next
  std::int64_t count;   // of runs
};
struct Header {
  std::int64_t strips;
  std::int64_t data_bytes;
};
struct AnswerHeader {
  std::int64_t error_class;  // other than MPI_SUCCESS: there is no data
  std::int64_t end;          // where the file ends, or a larger number
};

// Bytes that are sent or received. The memory is kept for the next ones, which are mostly as many.
class Bytes {
 public:
  // What was there is lost, but for the first `kept` bytes.
  void Resize(std::size_t bytes, std::size_t kept = 0);
  std::span<std::byte> all() const { return {data_.get(), bytes_}; }
  std::size_t size() const { return bytes_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t bytes_ = 0;
  std::size_t room_ = 0;
};

// Says what a rank moves: the data of `memory` from `position` of the view on. Memory is in the
// representation of the file.
struct Share {
  const View* view;
  std::int64_t position;
  datatype::Buffer memory;
};

// Makes the parcel for a window; it has no strips if the share has no data there. Returns its bytes
// of data.
std::int64_t MakeParcel(const Share& share, const Range& window, bool writes, Bytes* parcel);

// Returns how long the parcel is that begins so, or 0 if no parcel for a window of this size does.
std::size_t ParcelBytes(std::span<const std::byte> head, bool writes, std::int64_t window_bytes);

// Both look at a parcel for a window of `window.size()` bytes that begins at `window_first`, and
// return false, having done what they could, if it does not make sense or goes beyond the window.
// Take puts its data there and marks it; Mark marks what it asks for.
bool TakeParcel(std::span<const std::byte> parcel, std::int64_t window_first,
                std::span<std::byte> window, Coverage* coverage);
bool MarkParcel(std::span<const std::byte> parcel, std::int64_t window_first,
                std::int64_t window_bytes, Coverage* coverage);

// Makes the answer to a parcel that MarkParcel has accepted: the data that lies in front of `end`.
void MakeAnswer(std::span<const std::byte> parcel, std::int64_t window_first,
                std::span<const std::byte> window, std::int64_t end, Bytes* answer);
void MakeErrorAnswer(int error_class, Bytes* answer);

// Puts the data of an answer where it belongs. `position` becomes the one of the first byte that
// the file does not have, if there is such a byte in this window. Returns false if the answer is
// none.
bool TakeAnswer(std::span<const std::byte> answer, const Share& share, const Range& window,
                std::int64_t* position);

}  // namespace lamina::io::exchange
