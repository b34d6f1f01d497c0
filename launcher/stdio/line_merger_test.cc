// SPDX-License-Identifier: BSD-3-Clause
// Goal:   lines of several sources leave whole, in order, with nothing lost or added but marks.
// Method: feed pieces by hand and look at what was written; then feed random pieces of known text
//         from several sources and take the result apart again.
#include "launcher/stdio/line_merger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace lamina::launcher::stdio {
namespace {

class LineMergerTest : public testing::Test {
 protected:
  explicit LineMergerTest(bool marked = false)
      : merger_([this](std::string_view bytes) { written_ += bytes; },
                marked ? LineMerger::Mark(
                             [](std::size_t source) { return "[" + std::to_string(source) + "] "; })
                       : LineMerger::Mark()) {
    for (int i = 0; i < 3; ++i) merger_.AddSource();
  }
  std::string Take() { return std::exchange(written_, ""); }

  std::string written_;
  LineMerger merger_;
};

TEST_F(LineMergerTest, HoldsALineUntilItEnds) {
  merger_.Feed(0, "one");
  EXPECT_EQ(Take(), "");
  EXPECT_TRUE(merger_.Waits(0));
  merger_.Feed(1, "two\n");
  merger_.Feed(0, " half\nand");
  EXPECT_EQ(Take(), "two\none half\n");
  merger_.End(0);
  EXPECT_EQ(Take(), "and");
  EXPECT_FALSE(merger_.Waits(0));
}

TEST_F(LineMergerTest, GivesUpALineThatDoesNotEnd) {
  merger_.Feed(0, "name? ");
  merger_.Flush(0);
  EXPECT_EQ(Take(), "name? ");
  merger_.Feed(1, "x\n");
  EXPECT_EQ(Take(), "x\n");
}

TEST_F(LineMergerTest, LongLineKeepsTheWord) {
  const std::string half(LineMerger::kLineBytesMax, 'a');
  merger_.Feed(0, half);
  EXPECT_EQ(Take(), half);
  merger_.Feed(1, "other\n");
  EXPECT_EQ(Take(), "");
  merger_.Feed(0, "rest");
  EXPECT_EQ(Take(), "rest");
  merger_.Feed(0, "end\nnext");
  EXPECT_EQ(Take(), "end\nother\n");
}

TEST_F(LineMergerTest, ASourceThatHasToWaitIsBlockedWhenItHasEnough) {
  const std::string much(LineMerger::kLineBytesMax, 'a');
  merger_.Feed(0, much);
  merger_.Feed(1, "b\n");
  EXPECT_FALSE(merger_.Blocked(1));
  merger_.Feed(1, much);
  EXPECT_TRUE(merger_.Blocked(1));
  EXPECT_FALSE(merger_.Blocked(0));
  Take();
  merger_.End(0);
  EXPECT_EQ(Take(), "b\n" + much);
  EXPECT_FALSE(merger_.Blocked(1));
}

TEST_F(LineMergerTest, EndedSourceThatHadToWaitIsWrittenWhole) {
  merger_.Feed(0, std::string(LineMerger::kLineBytesMax, 'a'));
  merger_.Feed(1, "b\nunfinished");
  merger_.End(1);
  Take();
  merger_.Feed(0, "\n");
  EXPECT_EQ(Take(), "\nb\nunfinished");
}

TEST_F(LineMergerTest, OwnLineStartsAfresh) {
  merger_.Say("first\n");
  merger_.Feed(0, "open");
  merger_.Flush(0);
  merger_.Say("second\n");
  EXPECT_EQ(Take(), "first\nopen\nsecond\n");
}

class MarkedTest : public LineMergerTest {
 protected:
  MarkedTest() : LineMergerTest(true) {}
};

TEST_F(MarkedTest, MarksEveryLineStartAndNothingElse) {
  merger_.Feed(0, "a\n\nb");
  merger_.Feed(1, "c\n");
  merger_.End(0);
  EXPECT_EQ(Take(), "[0] a\n[0] \n[1] c\n[0] b");
}

TEST_F(MarkedTest, BreaksALineThatStandsOpenOnlyForAnother) {
  merger_.Feed(0, "ask");
  merger_.Flush(0);
  merger_.Feed(0, " more\n");
  EXPECT_EQ(Take(), "[0] ask more\n");
  merger_.Feed(0, "ask");
  merger_.Flush(0);
  merger_.Feed(1, "x\n");
  merger_.Feed(0, " more\n");
  EXPECT_EQ(Take(), "[0] ask\n[1] x\n[0]  more\n");
}

// Every line says whose it is, so the merged text can be taken apart.
TEST_F(LineMergerTest, RandomPiecesComeOutWhole) {
  std::mt19937 dice(4711);
  std::map<std::size_t, std::string> sent;
  std::map<std::size_t, std::size_t> fed;
  for (std::size_t source = 0; source < 3; ++source)
    for (int line = 0; line < 200; ++line)
      sent[source] += std::to_string(source) + ":" +
                      std::string(dice() % (line % 50 == 7 ? 200'000 : 300), 'x') + "\n";
  for (bool any = true; any;) {
    any = false;
    for (std::size_t source = 0; source < 3; ++source) {
      if (merger_.Blocked(source)) {
        any = true;
        continue;
      }
      const std::size_t count =
          std::min<std::size_t>(dice() % 5000, sent[source].size() - fed[source]);
      merger_.Feed(source, std::string_view(sent[source]).substr(fed[source], count));
      fed[source] += count;
      any = any || fed[source] < sent[source].size();
    }
  }
  std::map<std::size_t, std::string> received;
  for (std::size_t at = 0; at < written_.size();) {
    const std::size_t end = written_.find('\n', at) + 1;
    ASSERT_NE(end, 0u);
    received[static_cast<std::size_t>(written_[at] - '0')] += written_.substr(at, end - at);
    at = end;
  }
  EXPECT_TRUE(received == sent);
}

}  // namespace
}  // namespace lamina::launcher::stdio
