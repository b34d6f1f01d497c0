// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a copy moves what it should and touches nothing else, whatever its length and wherever
//         both ends lie.
// Method: every short length from a block of exactly that size (ASan sees reads beyond it) into a
//         larger one, whose other bytes are looked at; long ones from and to every place of a line.
#include "runtime/memory/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace lamina::memory {
namespace {

TEST(Copy, MovesEveryLengthAndTouchesNothingElse) {
  for (std::size_t bytes = 0; bytes <= kShortCopyBytesMax + 20; ++bytes) {
    const auto from = std::make_unique<std::byte[]>(bytes);
    std::vector<std::byte> to(bytes + 8, std::byte{0xcc});
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i + 1);
    CopyMostlyShort(to.data(), from.get(), bytes);
    for (std::size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(to[i], i < bytes ? static_cast<std::byte>(i + 1) : std::byte{0xcc}) << bytes;
  }
}

template <class Copy>
void MovesBetweenAllPlaces(Copy copy) {
  constexpr std::size_t kPlaces = 72;
  for (const std::size_t bytes : {kMovedBytesMin - 1, kMovedBytesMin, std::size_t{4133}}) {
    std::vector<std::byte> from(bytes + kPlaces), to(bytes + 2 * kPlaces);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
    for (std::size_t begin : {0, 1, 8, 16, 31})
      for (std::size_t place = 0; place < kPlaces; ++place) {
        std::fill(to.begin(), to.end(), std::byte{0xcc});
        const std::byte* const source = from.data() + begin;
        copy(&to[place], source, bytes);
        const auto untouched = [](std::byte byte) { return byte == std::byte{0xcc}; };
        ASSERT_TRUE(std::equal(source, source + bytes, &to[place])) << bytes << ' ' << place;
        ASSERT_TRUE(std::all_of(to.data(), &to[place], untouched)) << place;
        ASSERT_TRUE(std::all_of(&to[place + bytes], to.data() + to.size(), untouched)) << place;
      }
  }
}

// Whatever this processor would take.
TEST(Copy, MovesLongOnesBetweenAllPlaces) {
  MovesBetweenAllPlaces(CopyLong);
  MovesBetweenAllPlaces(CopyFromEnd);
}

// What is slow on some processors, and what is not: the distance within a page.
TEST(Copy, KnowsWhatIsFewAhead) {
  alignas(4096) static std::byte pages[2 * 4096];
  const auto page = reinterpret_cast<std::uintptr_t>(pages);
  for (const std::size_t ahead : {1, 16, 63}) {
    EXPECT_TRUE(FewAhead(pages + ahead, page)) << ahead;
    EXPECT_TRUE(FewAhead(pages + ahead, page + 4096)) << ahead;
    EXPECT_FALSE(FewAhead(pages, page + ahead)) << ahead;
  }
  EXPECT_FALSE(FewAhead(pages, page));
  EXPECT_FALSE(FewAhead(pages + 64, page));
}

}  // namespace
}  // namespace lamina::memory
