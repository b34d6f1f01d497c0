// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a Status says exactly what went wrong, once, and costs one pointer when nothing did.
// Method: build, prefix, move and unpack statuses and results; pin the size.
#include "runtime/base/status.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace lamina {
namespace {

TEST(Status, IsOnePointerAndOkByDefault) {
  EXPECT_EQ(sizeof(Status), sizeof(void*));
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.message(), "");
}

TEST(Status, ErrorFormatsItsMessage) {
  const Status status = Error(Code::kNotFound, "no host %s, have %d", "node7", 4);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.message(), "no host node7, have 4");
}

TEST(Status, MessagesMayBeLong) {
  const std::string text(10000, 'x');
  EXPECT_EQ(Error(Code::kInvalid, "%s!", text.c_str()).message(), text + "!");
}

TEST(Status, SystemErrorAppendsTheTextOfErrno) {
  const Status status = SystemError(Code::kDenied, EACCES, "open %s", "/etc/shadow");
  EXPECT_EQ(status.message(), "open /etc/shadow: Permission denied");
}

TEST(Status, TooManyOpenFilesSaysHowManyAreAllowed) {
  rlimit files;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(SystemError(Code::kResource, EMFILE, "pipe").message(),
            "pipe: Too many open files; ulimit -n allows " + std::to_string(files.rlim_cur));
}

TEST(Status, WithinPutsTheCallersViewInFront) {
  Status status = Error(Code::kInvalid, "bad number");
  status = std::move(status).Within("line 3");
  status = std::move(status).Within("hosts");
  EXPECT_EQ(status.message(), "hosts: line 3: bad number");
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_TRUE(Status().Within("nothing").ok());
}

TEST(Status, EveryCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(Code::kAborted); ++code)
    names.insert(Name(static_cast<Code>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::kAborted) + 1);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(Name(static_cast<Code>(200)), "unknown");
}

TEST(Result, HoldsAValueOrAReason) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  EXPECT_TRUE(good.status().ok());
  const Result<int> bad = Error(Code::kTimeout, "waited 3 s");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().message(), "waited 3 s");
}

TEST(Result, GivesItsValueAway) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
  Result<std::unique_ptr<int>> bad = Error(Code::kResource, "no memory");
  const Status reason = std::move(bad).status();
  EXPECT_EQ(reason.code(), Code::kResource);
}

}  // namespace
}  // namespace lamina
