// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the page fits into every window, numbers are the differences of two looks, and keys are
//         told apart however a terminal sends them.
// Method: answers and bytes that are made up; every small window.
#include "launcher/top/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "launcher/top/terminal.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr const char* kAnswer =
    "rank 0 node1 71 R 1000000000 5000000000 1048576 10 1000 20 2000 3\n"
    "does 0 0 computes; its last call was MPI_Send\n"
    "rank 1 node2 0 ? 0 0 0\n"
    "does 1 12500 waits in MPI_Recv for a message from rank 0 with tag 5\n"
    "something newer\n"
    "end\n";

std::vector<RankSample> Decode(const char* text) {
  Result<std::vector<RankSample>> samples = DecodeUsageAnswer(text);
  EXPECT_TRUE(samples.ok());
  return samples.ok() ? *std::move(samples) : std::vector<RankSample>();
}

// What is left of a text when some of its characters are continued.
std::size_t Characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

TEST(Answer, IsUnderstood) {
  const std::vector<RankSample> samples = Decode(kAnswer);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].usage, (RankUsage{0, 1'000'000'000, 'R', 5'000'000'000, 1 << 20, true, 10,
                                         1000, 20, 2000, 3}));
  EXPECT_EQ(samples[0].host, "node1");
  EXPECT_EQ(samples[0].process, 71);
  EXPECT_EQ(samples[1].usage, (RankUsage{1, 0, '?', 0, 0, false, 0, 0, 0, 0, 0}));
  EXPECT_EQ(samples[1].since_ms, 12'500u);
  EXPECT_EQ(samples[1].does, "waits in MPI_Recv for a message from rank 0 with tag 5");
  const std::string whole = kAnswer;
  for (std::size_t length = 0; length + 4 < whole.size(); ++length)
    EXPECT_FALSE(DecodeUsageAnswer(whole.substr(0, length)).ok());
}

TEST(Rows, RatesAreDifferences) {
  const std::vector<RankSample> before = Decode(kAnswer);
  EXPECT_FALSE(RowsOf(before, {})[0].cpu.has_value());
  std::vector<RankSample> now = before;
  now[0].usage.taken_ns += 2'000'000'000;
  now[0].usage.cpu_ns += 3'000'000'000;
  now[0].usage.sent_bytes += 4096;
  now[0].usage.received_messages += 5;
  now[0].usage.sent_messages += 1;
  now[0].usage.received_bytes -= 1;  // it has begun anew
  const std::vector<RankRow> rows = RowsOf(now, before);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0].cpu.value_or(-1), 150);
  EXPECT_DOUBLE_EQ(rows[0].sent_bytes.value_or(-1), 2048);
  EXPECT_DOUBLE_EQ(rows[0].messages.value_or(-1), 3);
  EXPECT_DOUBLE_EQ(rows[0].received_bytes.value_or(-1), 0);
  EXPECT_FALSE(rows[1].cpu.has_value());
  EXPECT_EQ(
      TableOf(rows)[1],
      "   0  node1   71  R   150    1.0M      3    2.0K      0B      3       -  computes; its "
      "last call was MPI_Send");
  EXPECT_EQ(TableOf(rows)[2],
            "   1  node2    -  -     -       -      -       -       -      -  12.5 s  waits in "
            "MPI_Recv for a message from rank 0 with tag 5");
  EXPECT_NE(JsonOf("\"x\": 1", rows)
                .find("{\"x\": 1, \"ranks\": [{\"rank\": 0, \"host\": "
                      "\"node1\", \"process\": 71, \"state\": \"R\", "
                      "\"cpu_percent\": 150.0"),
            std::string::npos);
}

TEST(Rows, AreSortedByAnyColumnAndBackwards) {
  std::vector<RankRow> rows;
  for (const std::uint32_t rank : {2u, 0u, 3u, 1u}) {
    RankRow row;
    row.now.usage.rank = rank;
    if (rank != 3) row.cpu = rank == 0 ? 10 : 50;
    rows.push_back(row);
  }
  const auto order = [&rows] {
    std::string ranks;
    for (const RankRow& row : rows) ranks += std::to_string(row.now.usage.rank);
    return ranks;
  };
  SortRows(TopColumn::kRank, false, &rows);
  EXPECT_EQ(order(), "0123");
  SortRows(TopColumn::kCpu, false, &rows);
  EXPECT_EQ(order(), "1203");
  SortRows(TopColumn::kCpu, true, &rows);
  EXPECT_EQ(order(), "3012");
  for (unsigned column = 0; column < static_cast<unsigned>(TopColumn::kCount); ++column) {
    EXPECT_NE(std::string(NameOf(static_cast<TopColumn>(column))), "");
    SortRows(static_cast<TopColumn>(column), column % 2 == 0, &rows);
    EXPECT_EQ(rows.size(), 4u);
  }
}

TEST(Screen, FitsIntoEveryWindow) {
  TopView view;
  view.title = "mpiexec 1: \u20ac\u20ac\u20ac";
  std::vector<RankSample> samples = Decode(kAnswer);
  samples[0].does = "waits in \u201erows\u201c \U0001f600";
  view.rows = RowsOf(samples, {});
  for (std::size_t lines = 1; lines < 8; ++lines)
    for (std::size_t columns = 1; columns < 140; ++columns) {
      const std::vector<std::string> screen = ScreenOf(view, lines, columns);
      EXPECT_EQ(screen.size(), lines);
      for (const std::string& line : screen) {
        EXPECT_LE(Characters(line), columns);
        EXPECT_EQ(JsonText(line).find("\xef\xbf\xbd"), std::string::npos) << "cut inside: " << line;
      }
    }
  EXPECT_EQ(ScreenOf(view, 1, 10)[0].find("   0  node"), 0u);
  EXPECT_EQ(ScreenOf(view, 6, 200)[5], "q quit  s sort: RANK  r reverse  arrows scroll  1-2 of 2");
  view.first = 1;
  EXPECT_EQ(ScreenOf(view, 4, 200)[3], "q quit  s sort: RANK  r reverse  arrows scroll  2-2 of 2");
  view.trouble = "no answer from node2";
  EXPECT_EQ(ScreenOf(view, 4, 200)[3], "no answer from node2");
  view.rows.clear();
  view.first = 0;
  EXPECT_EQ(ScreenOf(view, 4, 200).size(), 4u);
}

TEST(Keys, AreToldApart) {
  std::string sent = "q\x1b[A\x1bOB\x1b[5~\x1b[4~x";
  const Pressed expected[] = {{Key::kLetter, 'q'},  {Key::kUp, '\0'},  {Key::kDown, '\0'},
                              {Key::kPageUp, '\0'}, {Key::kEnd, '\0'}, {Key::kLetter, 'x'}};
  for (const Pressed& each : expected) {
    const Pressed pressed = TakeKey(&sent);
    EXPECT_EQ(pressed.key, each.key);
    EXPECT_EQ(pressed.letter, each.letter);
  }
  EXPECT_EQ(TakeKey(&sent).key, Key::kNone);
  // A key may come in pieces.
  for (const char piece : {'\x1b', '[', '6'}) {
    sent += piece;
    EXPECT_EQ(TakeKey(&sent).key, Key::kNone);
  }
  sent += '~';
  EXPECT_EQ(TakeKey(&sent).key, Key::kPageDown);
  sent = "\x1b[Z";  // a key that means nothing here
  EXPECT_EQ(TakeKey(&sent).key, Key::kLetter);
}

}  // namespace
}  // namespace lamina::launcher
