// SPDX-License-Identifier: BSD-3-Clause
// Goal:   memory that cannot be read or written is known, also when it changes.
// Method: a text as the kernel writes it; pages of this process with and without rights.
#include "runtime/rma/guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace lamina::rma {
namespace {

constexpr std::size_t kPage = 4096;

TEST(Guard, ReadsWhatTheKernelSays) {
  Guard guard;
  guard.Take(
      "1000-3000 r--p 00000000 00:00 0 /a b\n3000-5000 rw-p 00000000 00:00 0\n"
      "nonsense\n7000-8000 ---p 0 0 0\n8000-9000 -w-p 0 0 0");
  const auto at = [](std::uint64_t address) { return reinterpret_cast<const void*>(address); };
  EXPECT_TRUE(guard.Allows(at(0x1000), 0x4000, Right::kRead));
  EXPECT_TRUE(guard.Allows(at(0x3000), 0x2000, Right::kWrite));
  EXPECT_TRUE(guard.Allows(at(0x8000), 0x1000, Right::kWrite));
  // What is not allowed is asked for once more, and these are no addresses of this process.
  EXPECT_FALSE(guard.Allows(at(0x2fff), 2, Right::kWrite));
}

TEST(Guard, AsksAgainWhereItSaysNo) {
  void* const memory =
      mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const pages = static_cast<char*>(memory);
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_READ), 0);
  Guard guard;
  EXPECT_TRUE(guard.Allows(pages, 3 * kPage, Right::kRead));
  EXPECT_TRUE(guard.Allows(pages, kPage, Right::kWrite));
  EXPECT_FALSE(guard.Allows(pages, kPage + 1, Right::kWrite));
  EXPECT_FALSE(guard.Allows(pages + kPage + 8, 8, Right::kWrite));
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_READ | PROT_WRITE), 0);
  EXPECT_TRUE(guard.Allows(pages, 3 * kPage, Right::kWrite));
  ASSERT_EQ(munmap(pages, 3 * kPage), 0);
  guard.Forget();
  EXPECT_FALSE(guard.Allows(pages, kPage, Right::kRead));
}

}  // namespace
}  // namespace lamina::rma
