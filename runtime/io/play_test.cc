// SPDX-License-Identifier: BSD-3-Clause
// Goal:   whatever the ranks write together, every byte is written once with the right value, no
//         hole is touched, and each parcel that is expected is made. Whatever they read together,
//         each gets its bytes up to the end of the file, and the rest of its memory is left alone.
// Method: plays all ranks without a network, for 1...64 of them, any number of aggregators, windows
//         from one byte to everything, odd spans and ranks without data.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/io/parcel.h"
#include "runtime/io/table.h"

namespace lamina::io::exchange {
namespace {

using datatype::Datatype;

struct Writer {
  View* view = nullptr;
  std::int64_t position = 0;
  std::vector<std::byte> data;
  Entry entry;

  Share share() {
    return {
        view,
        position,
        {data.data(), static_cast<std::int64_t>(data.size()), datatype::FindDatatype(MPI_BYTE)}};
  }
};

class Play {
 public:
  Play(unsigned seed, int ranks) : random_(seed), writers_(static_cast<std::size_t>(ranks)) {
    // Rank i owns every `ranks`-th block; the last block in a tile belongs to nobody.
    const std::int64_t block = Between(1, 5);
    const std::int64_t tile = block * (ranks + 1);
    for (int rank = 0; rank < ranks; ++rank) {
      Writer& writer = writers_[static_cast<std::size_t>(rank)];
      Datatype* bytes = datatype::MakeContiguous(block, datatype::FindDatatype(MPI_BYTE));
      Datatype* type = datatype::MakeResized(0, tile, bytes);
      datatype::Commit(type);
      ViewArguments arguments;
      arguments.displacement = 100 + rank * block;
      arguments.etype = datatype::FindDatatype(MPI_BYTE);
      arguments.filetype = type;
      arguments.datarep = FindDatarep("native");
      EXPECT_TRUE(MakeView(arguments, &writer.view).ok());
      datatype::Release(type);
      datatype::Release(bytes);
      writer.position = Between(0, 20);
      writer.data.resize(Between(0, 4) == 0 ? 0 : static_cast<std::size_t>(Between(1, 40)));
      for (std::byte& byte : writer.data) byte = static_cast<std::byte>(Between(1, 255));
      Describe(&writer);
      for (std::size_t i = 0; i < writer.data.size(); ++i) {
        const auto at = static_cast<std::size_t>(
            writer.view->OffsetAt(writer.position + static_cast<std::int64_t>(i)));
        if (at >= expected_.size()) expected_.resize(at + 1, 0);
        expected_[at] = std::to_integer<int>(writer.data[i]);
      }
    }
  }
  ~Play() {
    for (Writer& writer : writers_) Release(writer.view);
  }

  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool empty() const { return expected_.empty(); }

  void Run(int aggregators, std::int64_t window_bytes, std::int64_t unit) {
    std::vector<Entry> table;
    for (Writer& writer : writers_) {
      writer.entry.buffer_bytes = window_bytes;
      table.push_back(writer.entry);
    }
    std::vector<Rank> ranks(static_cast<std::size_t>(aggregators));
    std::iota(ranks.begin(), ranks.end(), 0);
    const Windows windows = Cut(table, ranks, unit);
    std::vector<int> file(expected_.size(), 0);
    for (const Domain& domain : windows.domains)
      for (std::int64_t round = 0; round < windows.rounds; ++round)
        Collect(WindowOf(windows, domain, round), &file);
    ASSERT_EQ(file, expected_);
    // Reads find the whole file, or one that ends somewhere.
    Read(windows, expected_.size());
    Read(windows,
         static_cast<std::size_t>(Between(0, static_cast<std::int64_t>(expected_.size()) - 1)));
  }

 private:
  static void Describe(Writer* writer) {
    const auto bytes = static_cast<std::int64_t>(writer->data.size());
    if (bytes == 0) return;
    writer->entry.first = writer->view->OffsetAt(writer->position);
    writer->entry.end = writer->view->OffsetAt(writer->position + bytes - 1) + 1;
    writer->entry.bytes = bytes;
  }

  void Collect(const Range& window, std::vector<int>* file) {
    if (window.empty()) return;
    std::vector<std::byte> memory(static_cast<std::size_t>(window.end - window.first));
    Coverage coverage;
    coverage.Reset(window.end - window.first);
    for (Writer& writer : writers_) {
      Bytes parcel;
      MakeParcel(writer.share(), window, true, &parcel);
      // A rank that is not expected to send has nothing to send.
      if (!Meets(writer.entry, window)) {
        ASSERT_EQ(parcel.size(), sizeof(Header));
        continue;
      }
      ASSERT_EQ(ParcelBytes(parcel.all().first(sizeof(Header)), true, window.end - window.first),
                parcel.size());
      ASSERT_TRUE(TakeParcel(parcel.all(), window.first, memory, &coverage));
    }
    for (io::Run run = coverage.Next(0); run.bytes > 0; run = coverage.Next(run.offset + run.bytes))
      for (std::int64_t i = run.offset; i < run.offset + run.bytes; ++i) {
        int& byte = (*file)[static_cast<std::size_t>(window.first + i)];
        ASSERT_EQ(byte, 0) << "written twice";
        byte = std::to_integer<int>(memory[static_cast<std::size_t>(i)]);
      }
  }

  // Reads through all windows, in a file of so many bytes. Then the ranks have what they wrote.
  void Read(const Windows& windows, std::size_t file_bytes) {
    std::vector<std::vector<std::byte>> written;
    std::vector<std::int64_t> positions;
    for (Writer& writer : writers_) {
      written.push_back(writer.data);
      std::fill(writer.data.begin(), writer.data.end(), std::byte{0});
      positions.push_back(writer.position + static_cast<std::int64_t>(writer.data.size()));
    }
    for (std::int64_t round = 0; round < windows.rounds; ++round)
      for (const Domain& domain : windows.domains)
        HandOut(WindowOf(windows, domain, round), file_bytes, &positions);
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      Writer& writer = writers_[i];
      const std::int64_t end =
          std::max(writer.position, writer.view->PositionAt(static_cast<std::int64_t>(file_bytes)));
      const std::int64_t got =
          std::min(static_cast<std::int64_t>(writer.data.size()), end - writer.position);
      ASSERT_EQ(positions[i] - writer.position, got) << "rank " << i;
      std::fill(written[i].begin() + got, written[i].end(), std::byte{0});
      std::vector<std::byte> read(writer.data);
      ASSERT_EQ(read, written[i]) << "rank " << i;
    }
    for (Writer& writer : writers_)
      for (std::size_t i = 0; i < writer.data.size(); ++i)
        writer.data[i] = static_cast<std::byte>(expected_[static_cast<std::size_t>(
            writer.view->OffsetAt(writer.position + static_cast<std::int64_t>(i)))]);
  }

  void HandOut(const Range& window, std::size_t file_bytes, std::vector<std::int64_t>* positions) {
    if (window.empty()) return;
    const std::int64_t window_bytes = window.end - window.first;
    std::vector<std::byte> memory(static_cast<std::size_t>(window_bytes));
    std::vector<Bytes> parcels(writers_.size());
    Coverage coverage;
    coverage.Reset(window_bytes);
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      if (!Meets(writers_[i].entry, window)) continue;
      MakeParcel(writers_[i].share(), window, false, &parcels[i]);
      ASSERT_EQ(ParcelBytes(parcels[i].all().first(sizeof(Header)), false, window_bytes),
                parcels[i].size());
      ASSERT_TRUE(MarkParcel(parcels[i].all(), window.first, window_bytes, &coverage));
    }
    const io::Run span = coverage.Span();
    std::int64_t end = INT64_MAX;
    for (std::int64_t i = span.offset; i < span.offset + span.bytes; ++i) {
      const auto at = static_cast<std::size_t>(window.first + i);
      if (at >= file_bytes) {
        end = static_cast<std::int64_t>(at);
        break;
      }
      memory[static_cast<std::size_t>(i)] = static_cast<std::byte>(expected_[at]);
    }
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      if (!Meets(writers_[i].entry, window)) continue;
      Bytes answer;
      MakeAnswer(parcels[i].all(), window.first, memory, end, &answer);
      ASSERT_TRUE(TakeAnswer(answer.all(), writers_[i].share(), window, &(*positions)[i]));
    }
  }

  std::mt19937 random_;
  std::vector<Writer> writers_;
  std::vector<int> expected_;
};

TEST(Exchange, EveryByteIsWrittenOnceAndRead) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    Play play(static_cast<unsigned>(ranks), ranks);
    if (play.empty()) continue;
    for (const std::int64_t window : {1, 7, 64, 100000}) {
      if (window < 64 && ranks > (window == 1 ? 8 : 24)) continue;
      for (const int aggregators : {1, 2, ranks}) {
        if (aggregators > ranks) continue;
        play.Run(aggregators, window, ranks % 2 == 0 ? 1 : 16);
        ASSERT_FALSE(testing::Test::HasFatalFailure())
            << ranks << " ranks, " << aggregators << " aggregators, window " << window;
      }
    }
  }
}

TEST(Exchange, AHeaderFarFromTheDataLeavesNoAggregatorIdle) {
  std::vector<Entry> table(8);
  table[0] = {0, 100, 100, 100, 0, Wish::kAutomatic, 1 << 20};
  for (std::int64_t i = 1; i < 8; ++i)
    table[static_cast<std::size_t>(i)] = {1'000'000'000'000,
                                          1'000'000'000'000 + (1 << 20),
                                          1 << 17,
                                          64,
                                          0,
                                          Wish::kAutomatic,
                                          1 << 20};
  const Rank aggregators[] = {0, 2, 4, 6};
  const Windows windows = Cut(table, aggregators, 4096);
  for (const Domain& domain : windows.domains) EXPECT_GT(domain.end - domain.first, 1 << 17);
}

TEST(Exchange, RanksWriteForThemselvesWhereThatIsBetter) {
  const auto method = [](std::vector<Entry> table, bool writes = true) {
    return IsDirect(table, writes, false);
  };
  EXPECT_TRUE(method({{0, 100, 100, 100}, {100, 200, 100, 100}})) << "apart and dense";
  EXPECT_FALSE(method({{0, 196, 100, 4}, {4, 200, 100, 4}})) << "interleaved";
  EXPECT_TRUE(method({{0, 196, 100, 4}, {0, 0, 0, 0}})) << "one writer";
  EXPECT_TRUE(method({{0, 1 << 30, 100, 4}, {4, 1 << 30, 100, 4}})) << "sparse";
  EXPECT_TRUE(method({{0, 4 << 20, 2 << 20, 1 << 20}, {1 << 20, 5 << 20, 2 << 20, 1 << 20}}))
      << "long runs";
  EXPECT_TRUE(method({{0, 196, 100, 4, 0, Wish::kDisable}, {4, 200, 100, 4}})) << "by hint";
  EXPECT_FALSE(method({{0, 100, 100, 100, 0, Wish::kEnable}, {100, 200, 100, 100}})) << "by hint";
  EXPECT_FALSE(method({{0, 100, 100, 100}, {0, 100, 100, 100}})) << "written twice";
  EXPECT_TRUE(method({{0, 100, 100, 100}, {0, 100, 100, 100}}, false)) << "read twice";
  EXPECT_FALSE(method({{0, 196, 100, 4}, {4, 200, 100, 4}}, false)) << "read, interleaved";
  Entry twice{0, 196, 200, 4};
  twice.alone = 1;
  EXPECT_TRUE(method({twice, {4, 200, 100, 4}}, false)) << "a view that overlaps itself";
}

// The node keeps what one of them has read, so nobody has to hand it out.
TEST(Exchange, FewReadersOfOneNodeReadForThemselves) {
  std::vector<Entry> few, many;
  for (std::int64_t i = 0; i < 8; ++i) few.push_back({4 * i, 400 + 4 * i, 50, 4});
  for (std::int64_t i = 0; i < 9; ++i) many.push_back({4 * i, 400 + 4 * i, 50, 4});
  EXPECT_TRUE(IsDirect(few, false, true));
  EXPECT_FALSE(IsDirect(few, true, true)) << "writers";
  EXPECT_FALSE(IsDirect(few, false, false)) << "of several nodes";
  EXPECT_FALSE(IsDirect(many, false, true)) << "each would read all of it";
  for (Entry& entry : many) entry.run_bytes = 4096;
  EXPECT_TRUE(IsDirect(many, false, true)) << "each reads its runs alone";
  few.front().wish = Wish::kEnable;
  EXPECT_FALSE(IsDirect(few, false, true)) << "by hint";
}

TEST(Exchange, AggregatorsComeFromAllNodes) {
  const std::uint32_t nodes[] = {7, 7, 3, 3, 7, 9};
  EXPECT_EQ(ChooseAggregators(nodes, 0), (std::vector<Rank>{0, 2, 5}));
  EXPECT_EQ(ChooseAggregators(nodes, 2), (std::vector<Rank>{0, 2}));
  EXPECT_EQ(ChooseAggregators(nodes, 4), (std::vector<Rank>{0, 1, 2, 5}));
  EXPECT_EQ(ChooseAggregators(nodes, 99), (std::vector<Rank>{0, 1, 2, 3, 4, 5}));
}

// These are the bytes of the example in README.md.
TEST(Parcel, GoldenBytes) {
  Datatype* type = datatype::MakeResized(0, 20, datatype::FindDatatype(MPI_INT));
  datatype::Commit(type);
  ViewArguments arguments;
  arguments.displacement = 100;
  arguments.etype = datatype::FindDatatype(MPI_INT);
  arguments.filetype = type;
  arguments.datarep = FindDatarep("native");
  View* view = nullptr;
  ASSERT_TRUE(MakeView(arguments, &view).ok());
  std::int32_t numbers[2] = {0x01020304, 0x05060708};
  const Share share{view, 0, {numbers, 2, datatype::FindDatatype(MPI_INT)}};
  Bytes parcel;
  EXPECT_EQ(MakeParcel(share, {0, 1000}, true, &parcel), 8);
  const std::uint8_t golden[] = {2 - 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0,  0, 0, 100, 0, 0,
                                 0,     0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0,   0, 0,
                                 0,     0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1,  8, 7, 6,   5};
  ASSERT_EQ(parcel.size(), sizeof golden);
  for (std::size_t i = 0; i < sizeof golden; ++i)
    EXPECT_EQ(std::to_integer<int>(parcel.all()[i]), golden[i]) << i;
  // A read sends the same without the data, and this comes back from a file that ends at 122.
  EXPECT_EQ(MakeParcel(share, {0, 1000}, false, &parcel), 8);
  EXPECT_EQ(parcel.size(), sizeof golden - 8);
  const std::uint8_t golden_answer[] = {0, 0, 0, 0, 0, 0, 0, 0, 122, 0, 0,
                                        0, 0, 0, 0, 0, 1, 1, 1, 1,   2, 2};
  std::vector<std::byte> window(1000);
  std::fill(window.begin() + 100, window.begin() + 104, std::byte{1});
  std::fill(window.begin() + 120, window.begin() + 122, std::byte{2});
  Bytes answer;
  MakeAnswer(parcel.all(), 0, window, 122, &answer);
  ASSERT_EQ(answer.size(), sizeof golden_answer);
  for (std::size_t i = 0; i < sizeof golden_answer; ++i)
    EXPECT_EQ(std::to_integer<int>(answer.all()[i]), golden_answer[i]) << i;
  Release(view);
  datatype::Release(type);
}

TEST(Parcel, NonsenseIsRefused) {
  std::vector<std::byte> window(16);
  Coverage coverage;
  coverage.Reset(16);
  const auto take = [&](const std::vector<std::int64_t>& words) {
    return TakeParcel(std::as_bytes(std::span(words)), 0, window, &coverage);
  };
  EXPECT_TRUE(take({1, 8, 0, 8, 0, 1, 0}));
  EXPECT_FALSE(take({}));
  EXPECT_FALSE(take({5, 8, 0, 8, 0, 1, 0})) << "more strips than there are";
  EXPECT_FALSE(take({1, 8, 12, 8, 0, 1, 0})) << "beyond the window";
  EXPECT_FALSE(take({1, 8, -1, 8, 0, 1, 0})) << "before the window";
  EXPECT_FALSE(take({1, 8, 0, 8, 0, 2, 0})) << "more data than there is";
  EXPECT_FALSE(take({1, 8, 0, 4, 0, 1, 0})) << "less data than there is";
  const auto mark = [&](const std::vector<std::int64_t>& words) {
    return MarkParcel(std::as_bytes(std::span(words)), 0, 16, &coverage);
  };
  EXPECT_TRUE(mark({1, 8, 0, 8, 0, 1}));
  EXPECT_FALSE(mark({}));
  EXPECT_FALSE(mark({1, 8, 12, 8, 0, 1})) << "beyond the window";
  EXPECT_FALSE(mark({1, 99, 0, 8, 0, 1})) << "more than the window";
  EXPECT_FALSE(mark({1, 8, 0, 8, 0, 1, 0})) << "something behind";
  std::int64_t position = 0;
  EXPECT_FALSE(TakeAnswer({}, {nullptr, 0, {}}, {0, 16}, &position));
}

TEST(Coverage, Span) {
  Coverage coverage;
  coverage.Reset(200);
  EXPECT_EQ(coverage.Span().bytes, 0);
  coverage.Mark(70, 3);
  EXPECT_EQ(coverage.Span().offset, 70);
  EXPECT_EQ(coverage.Span().bytes, 3);
  coverage.Mark(199, 1);
  EXPECT_EQ(coverage.Span().bytes, 130);
  coverage.Mark(0, 1);
  EXPECT_EQ(coverage.Span().bytes, 200);
}

}  // namespace
}  // namespace lamina::io::exchange
