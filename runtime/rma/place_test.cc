// SPDX-License-Identifier: BSD-3-Clause
// Goal:   data goes to a place and back, and is combined there, whatever its layout, alignment and
//         length, on mapped memory and on that of another process alike; what is not part of the
//         data stays as it is.
// Method: random shapes on both sides against a list of bytes; this process is its own peer.
#include "runtime/rma/place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/memory/peer_memory.h"
#include "runtime/rma/block.h"

namespace lamina::rma {
namespace {

using datatype::FindDatatype;
using datatype::FindOp;

std::minstd_rand dice(1);
std::int64_t Draw(std::int64_t below) { return static_cast<std::int64_t>(dice()) % below; }

// Elements of one basic type, `n` in all, within `span_elements`.
struct RandomShape {
  Datatype* type;
  std::int64_t count;
  std::vector<std::int64_t> offsets;         // of each element, in bytes
  std::shared_ptr<Datatype> made = nullptr;  // `type`, if it was made for this shape
};

RandomShape DrawShape(MPI_Datatype basic, std::int64_t n) {
  Datatype* const element = FindDatatype(basic);
  std::vector<datatype::Part> parts;
  RandomShape shape{element, n, {}};
  const std::int64_t kind = Draw(3);
  if (kind == 0) {
    for (std::int64_t i = 0; i < n; ++i) shape.offsets.push_back(i * element->extent);
    return shape;
  }
  std::int64_t at = 0;
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t block = kind == 1 ? 1 : 1 + Draw(std::min<std::int64_t>(n - done, 5));
    parts.push_back({element, at, block});
    for (std::int64_t i = 0; i < block; ++i) shape.offsets.push_back(at + i * element->extent);
    at += (block + (kind == 1 ? 1 : Draw(3))) * element->extent;
    done += block;
  }
  if (kind == 2 && parts.size() > 1) {  // not in the order of memory
    std::swap(parts.front().displacement, parts.back().displacement);
    shape.offsets.clear();
    // Blocks of different lengths would overlap after the swap.
    if (parts.front().count != parts.back().count)
      std::swap(parts.front().displacement, parts.back().displacement);
    for (const datatype::Part& part : parts)
      for (std::int64_t i = 0; i < part.count; ++i)
        shape.offsets.push_back(part.displacement + i * element->extent);
  }
  shape.type = datatype::MakeBlocks(parts);
  shape.made.reset(shape.type, [](Datatype* type) { datatype::Release(type); });
  datatype::Commit(shape.type);
  shape.count = 1;
  return shape;
}

constexpr std::size_t kBytes = 1 << 17;

class Places : public testing::TestWithParam<bool> {
 protected:
  Places() : block_(Block::MakePrivate(false)), memory_(kBytes), model_(kBytes) {
    for (std::size_t i = 0; i < kBytes; ++i)
      memory_[i] = model_[i] = static_cast<std::byte>(i * 37);
  }
  void SetUp() override {
    std::byte byte{};
    if (GetParam() && memory::ReadPeer(getpid(), memory::AddressOf(memory_.data()), {&byte, 1}) ==
                          memory::Access::kDenied)
      GTEST_SKIP() << "the kernel forbids process_vm_readv";
  }
  Place At(std::int64_t offset) {
    Place place;
    place.offset = static_cast<std::uint64_t>(offset);
    if (GetParam()) {
      place.pid = getpid();
      place.address = memory::AddressOf(memory_.data() + offset);
    } else {
      place.memory = memory_.data() + offset;
    }
    return place;
  }
  Exclusion Zones() { return {block_.get(), 0, 0}; }
  bool Same() const { return std::memcmp(memory_.data(), model_.data(), kBytes) == 0; }

  std::unique_ptr<Block> block_;
  std::vector<std::byte> memory_, model_;
};

std::int64_t DrawLength() { return Draw(3) == 0 ? 1 + Draw(4000) : 1 + Draw(60); }

TEST_P(Places, ArePutToAndGotFrom) {
  for (int i = 0; i < 100; ++i) {
    const std::int64_t n = DrawLength(), offset = Draw(1000);
    const RandomShape here = DrawShape(MPI_INT, n), there = DrawShape(MPI_INT, n);
    std::vector<std::byte> ours(kBytes);
    for (std::byte& byte : ours) byte = static_cast<std::byte>(dice());
    std::vector<std::byte> expected = ours;
    const Buffer buffer{ours.data(), here.count, here.type};
    const bool puts = Draw(2) == 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
      std::byte* const cell = model_.data() + offset + there.offsets[k];
      if (puts)
        std::memcpy(cell, ours.data() + here.offsets[k], 4);
      else
        std::memcpy(expected.data() + here.offsets[k], cell, 4);
    }
    const Shape shape{there.count, there.type, {}};
    ASSERT_EQ(puts ? Put(At(offset), shape, buffer) : Get(At(offset), shape, buffer), MPI_SUCCESS);
    ASSERT_TRUE(Same());
    ASSERT_EQ(ours, expected);
  }
}

TEST_P(Places, AreCombinedWith) {
  for (int i = 0; i < 100; ++i) {
    const std::int64_t n = DrawLength();
    // Every fourth place is misaligned.
    const std::int64_t offset = Draw(250) * 8 + (i % 4 == 0 ? 3 : 0);
    const RandomShape here = DrawShape(MPI_INT64_T, n), there = DrawShape(MPI_INT64_T, n);
    const RandomShape result = DrawShape(MPI_INT64_T, n);
    std::vector<std::byte> operand(kBytes), got(kBytes), expected(kBytes);
    for (std::byte& byte : operand) byte = static_cast<std::byte>(dice());
    const MPI_Op kOps[] = {MPI_SUM, MPI_REPLACE, MPI_NO_OP, MPI_BXOR};
    const MPI_Op op = kOps[Draw(4)];
    const bool fetches = op == MPI_NO_OP || Draw(2) == 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
      std::byte* const cell = model_.data() + offset + there.offsets[k];
      std::uint64_t old = 0, value = 0;
      std::memcpy(&old, cell, sizeof old);
      std::memcpy(&value, operand.data() + here.offsets[k], sizeof value);
      if (fetches) std::memcpy(expected.data() + result.offsets[k], &old, sizeof old);
      const std::uint64_t made = op == MPI_SUM       ? old + value
                                 : op == MPI_REPLACE ? value
                                 : op == MPI_BXOR    ? old ^ value
                                                     : old;
      std::memcpy(cell, &made, sizeof made);
    }
    Accumulation it{
        FindOp(op), FindDatatype(MPI_INT64_T), {operand.data(), here.count, here.type}, {}};
    if (fetches) it.result = {got.data(), result.count, result.type};
    ASSERT_EQ(Accumulate(At(offset), {there.count, there.type, {}}, it, Zones()), MPI_SUCCESS);
    ASSERT_TRUE(Same());
    ASSERT_EQ(got, expected);
  }
}

struct ShortInt {
  short value;
  int place;
};

TEST_P(Places, PairsKeepTheirHoles) {
  for (int i = 0; i < 100; ++i) {
    const std::int64_t n = 1 + Draw(40), offset = Draw(100) * 8;
    const RandomShape here = DrawShape(MPI_SHORT_INT, n), there = DrawShape(MPI_SHORT_INT, n);
    std::vector<std::byte> operand(8192);
    for (std::byte& byte : operand) byte = static_cast<std::byte>(dice());
    for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
      ShortInt old, mine;
      std::byte* const cell = model_.data() + offset + there.offsets[k];
      std::memcpy(&old, cell, sizeof old);
      std::memcpy(&mine, operand.data() + here.offsets[k], sizeof mine);
      const bool better =
          mine.value > old.value || (mine.value == old.value && mine.place < old.place);
      if (!better) continue;
      std::memcpy(cell, &mine.value, sizeof mine.value);
      std::memcpy(cell + offsetof(ShortInt, place), &mine.place, sizeof mine.place);
    }
    const Accumulation it{FindOp(MPI_MAXLOC),
                          FindDatatype(MPI_SHORT_INT),
                          {operand.data(), here.count, here.type},
                          {}};
    ASSERT_EQ(Accumulate(At(offset), {there.count, there.type, {}}, it, Zones()), MPI_SUCCESS);
    ASSERT_TRUE(Same());
  }
}

TEST_P(Places, TakeRunsThatAMessageBrought) {
  const datatype::Run runs[] = {{64, 4, 16, 3}, {0, 8, 0, 1}};
  std::int32_t data[5] = {1, 2, 3, 4, 5}, got[5] = {};
  const Buffer from{data, 20, FindDatatype(MPI_BYTE)}, into{got, 20, FindDatatype(MPI_BYTE)};
  ASSERT_EQ(Put(At(32), {0, nullptr, runs}, from), MPI_SUCCESS);
  for (std::size_t i = 0; i < 3; ++i) std::memcpy(model_.data() + 96 + 16 * i, &data[i], 4);
  std::memcpy(model_.data() + 32, &data[3], 8);
  EXPECT_TRUE(Same());
  ASSERT_EQ(Get(At(32), {0, nullptr, runs}, into), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(got, data, sizeof data), 0);
}

TEST_P(Places, AreSwappedIfTheyAreWhatIsExpected) {
  std::int64_t old = 0, seen = 0;
  std::memcpy(&old, memory_.data() + 64, sizeof old);
  const std::int64_t desired = 5, other = old + 1;
  ASSERT_EQ(CompareAndSwap(At(64), {&other, &desired, &seen, 8}, Zones()), MPI_SUCCESS);
  EXPECT_EQ(seen, old);
  EXPECT_TRUE(Same());
  ASSERT_EQ(CompareAndSwap(At(64), {&old, &desired, &seen, 8}, Zones()), MPI_SUCCESS);
  EXPECT_EQ(seen, old);
  std::memcpy(model_.data() + 64, &desired, sizeof desired);
  EXPECT_TRUE(Same());
}

INSTANTIATE_TEST_SUITE_P(Paths, Places, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Copied" : "Mapped");
});

}  // namespace
}  // namespace lamina::rma
