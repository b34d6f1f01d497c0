// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a file send one another for a window of it: parcels, and answers to them.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/datatype/construct.h"
#include "runtime/io/coverage.h"
#include "runtime/io/datarep.h"
#include "runtime/io/parcel.h"
#include "runtime/io/table.h"
#include "runtime/io/view.h"
#include "test/fuzz/input.h"

namespace lamina::io::exchange {
namespace {

// A byte is a small number, or says that one of any size follows.
std::int64_t Number(fuzz::Input* input) {
  const auto shape = input->Take<std::uint8_t>();
  if (shape == 0xff) return input->Take<std::int64_t>();
  return static_cast<std::int8_t>(shape);
}

template <class Value>
void Append(std::span<const Value> values, std::vector<std::byte>* to) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  to->insert(to->end(), bytes.begin(), bytes.end());
}

// A message like those of a rank, but with whatever numbers.
std::vector<std::byte> Parcel(fuzz::Input* input, std::int64_t window_first) {
  std::vector<Strip> strips(input->Take<std::uint8_t>() % 4);
  for (Strip& strip : strips) {
    strip = {Number(input), Number(input), Number(input), Number(input)};
    static_cast<void>(__builtin_add_overflow(strip.offset, window_first, &strip.offset));
  }
  const std::string_view data = input->TakeText();
  Header header{static_cast<std::int64_t>(strips.size()), static_cast<std::int64_t>(data.size())};
  if (input->Take<std::uint8_t>() % 4 == 1) header.strips = Number(input);
  if (input->Take<std::uint8_t>() % 4 != 0) header.data_bytes = Number(input);
  std::vector<std::byte> parcel;
  Append(std::span<const Header>(&header, 1), &parcel);
  Append(std::span<const Strip>(strips), &parcel);
  Append(fuzz::AsBytes(data), &parcel);
  return parcel;
}

std::int64_t Marked(const Coverage& coverage, std::int64_t window_bytes) {
  std::int64_t bytes = 0;
  for (Run run = coverage.Next(0); run.bytes > 0; run = coverage.Next(run.offset + run.bytes)) {
    CHECK(run.offset >= 0 && run.offset + run.bytes <= window_bytes);
    bytes += run.bytes;
  }
  return bytes;
}

// An aggregator takes what a rank writes, or answers what it wants to read. It knows where the file
// ends.
void Aggregate(std::span<const std::byte> parcel, bool writes, std::int64_t window_first,
               std::int64_t window_bytes, std::int64_t end) {
  end = std::max<std::int64_t>(end, 0);
  constexpr std::byte kOld{0x5a};
  std::vector<std::byte> window(static_cast<std::size_t>(window_bytes), kOld);
  Coverage coverage;
  coverage.Reset(window_bytes);
  const std::size_t whole = ParcelBytes(parcel, writes, window_bytes);
  if (writes) {
    const bool taken = TakeParcel(parcel, window_first, window, &coverage);
    CHECK(!taken || whole == parcel.size());
    for (std::int64_t i = 0; i < window_bytes; ++i)
      CHECK(window[static_cast<std::size_t>(i)] == kOld || coverage.Next(i).offset <= i);
    Marked(coverage, window_bytes);
    return;
  }
  const bool marked = MarkParcel(parcel, window_first, window_bytes, &coverage);
  CHECK(!marked || whole == parcel.size());
  const std::int64_t wanted = Marked(coverage, window_bytes);
  if (!marked) return;
  Bytes answer;
  MakeAnswer(parcel, window_first, window, end, &answer);
  CHECK(answer.size() >= sizeof(AnswerHeader));
  const auto bytes = static_cast<std::int64_t>(answer.size() - sizeof(AnswerHeader));
  if (end >= window_first && end - window_first >= window_bytes) CHECK(bytes >= wanted);
}

// A rank takes an answer to what it wants from the window: some bytes of every few.
void TakeBack(fuzz::Input* input, const Range& window) {
  const std::int64_t block = 1 + input->Take<std::uint8_t>() % 8;
  const std::int64_t tile = block + input->Take<std::uint8_t>() % 8;
  datatype::Datatype* const bytes =
      datatype::MakeContiguous(block, datatype::FindDatatype(MPI_BYTE));
  datatype::Datatype* const type = datatype::MakeResized(0, tile, bytes);
  datatype::Commit(type);
  ViewArguments arguments;
  arguments.displacement = input->Take<std::uint8_t>();
  arguments.etype = datatype::FindDatatype(MPI_BYTE);
  arguments.filetype = type;
  arguments.datarep = FindDatarep("native");
  View* view = nullptr;
  CHECK(MakeView(arguments, &view).ok());
  constexpr std::byte kOld{0x5a};
  std::vector<std::byte> memory(input->Take<std::uint8_t>() % 64, kOld);
  const Share share{
      view,
      input->Take<std::uint8_t>(),
      {memory.data(), static_cast<std::int64_t>(memory.size()), datatype::FindDatatype(MPI_BYTE)}};
  Bytes asked;
  const std::int64_t wanted = MakeParcel(share, window, false, &asked);
  const AnswerHeader about{Number(input) % 4, Number(input)};
  std::vector<std::byte> answer;
  Append(std::span<const AnswerHeader>(&about, 1), &answer);
  Append(fuzz::AsBytes(input->TakeText()), &answer);
  answer.resize(answer.size() -
                std::min<std::size_t>(answer.size(), input->Take<std::uint8_t>() % 4));
  std::int64_t position = INT64_MAX;
  if (TakeAnswer(answer, share, window, &position)) {
    const auto there = static_cast<std::int64_t>(answer.size() - sizeof about);
    CHECK(there <= wanted);
    CHECK((position == INT64_MAX) == (there == wanted));
  } else {
    CHECK(std::ranges::all_of(memory, [=](std::byte byte) { return byte == kOld; }));
  }
  Release(view);
  datatype::Release(type);
  datatype::Release(bytes);
}

void Play(fuzz::Input* input) {
  const auto shape = input->Take<std::uint8_t>();
  const std::int64_t first = shape % 8 == 7 ? std::int64_t{1} << 40 : shape % 8 * 16;
  const std::int64_t bytes = 1 + input->Take<std::uint8_t>();
  while (!input->empty()) {
    const auto kind = input->Take<std::uint8_t>() % 4;
    if (kind == 0)
      TakeBack(input, {first, first + bytes});
    else if (kind == 1)
      Aggregate(fuzz::AsBytes(input->TakeText()), input->Take<std::uint8_t>() % 2 == 0, first,
                bytes, Number(input));
    else
      Aggregate(Parcel(input, first), kind == 2, first, bytes, Number(input));
  }
}

}  // namespace
}  // namespace lamina::io::exchange

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lamina::fuzz::Input input(data, size);
  lamina::io::exchange::Play(&input);
  return 0;
}
