// SPDX-License-Identifier: BSD-3-Clause
// Goal:   one line, one write, with who, where, level and text; quiet below the level; every line,
//         printed or not, is in the event ring.
// Method: standard error is a file in memory while a test runs.
#include "runtime/base/log.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "runtime/base/event_ring.h"

namespace lamina {
namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() : kept_(dup(STDERR_FILENO)), file_(memfd_create("log_test", MFD_CLOEXEC)) {
    dup2(file_, STDERR_FILENO);
    SetLogIdentity("rank 3", "node07");
    SetLogLevel(Level::kWarn);
  }
  ~LogTest() override {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
    close(file_);
  }

  std::string Printed() {
    std::string text(1 << 16, '\0');
    const ssize_t bytes = pread(file_, text.data(), text.size(), 0);
    text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return text;
  }

  int kept_;
  int file_;
};

TEST_F(LogTest, SaysWhoWhereAndWhat) {
  Log(Level::kWarn, "shm", "/dev/shm has %d MiB free", 2);
  EXPECT_EQ(Printed(), "lamina rank 3 node07 warn shm: /dev/shm has 2 MiB free\n");
  EXPECT_EQ(LogIdentity(), "rank 3 node07");
}

TEST_F(LogTest, IsQuietBelowItsLevel) {
  Log(Level::kInfo, "plan", "quiet");
  Log(Level::kDebug, "plan", "quieter");
  EXPECT_EQ(Printed(), "");
  SetLogLevel(Level::kDebug);
  EXPECT_EQ(LogLevel(), Level::kDebug);
  Log(Level::kDebug, "plan", "loud");
  EXPECT_EQ(Printed(), "lamina rank 3 node07 debug plan: loud\n");
}

TEST_F(LogTest, EveryLineIsAnEventPrintedOrNot) {
  Log(Level::kDebug, "p2p", "unprinted line");
  Log(Level::kError, "p2p", "printed line");
  const auto events = LastEvents(*CurrentEventRing(), 2);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_NE(events[0].find("debug p2p: unprinted line"), std::string::npos) << events[0];
  EXPECT_NE(events[1].find("error p2p: printed line"), std::string::npos) << events[1];
}

TEST_F(LogTest, ALongTextIsCutAndStillEndsItsLine) {
  Log(Level::kError, "io", "%s", std::string(5000, 'x').c_str());
  const std::string printed = Printed();
  EXPECT_GT(printed.size(), 1000u);
  EXPECT_LT(printed.size(), 1400u);
  EXPECT_EQ(printed.find('\n'), printed.size() - 1);
}

}  // namespace
}  // namespace lamina
