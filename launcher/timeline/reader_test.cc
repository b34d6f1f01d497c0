// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what was written is read again, in pieces of any size, and whatever is damaged is
// refused. Method: a trace of two ranks, cut everywhere and with each of its bytes changed.
#include "launcher/timeline/reader.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "launcher/timeline/timeline.h"
#include "runtime/base/call_names.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr auto kSend = static_cast<std::uint32_t>(Call::MPI_Send);
constexpr auto kRecv = static_cast<std::uint32_t>(Call::MPI_Recv);

std::string TwoRanks() {
  const TraceRecord first[] = {{1000, 2000, 8, 0, kSend, 0, 0, 0, 0},
                               {3000, 4000, 0, 0, kRecv, 1, 2, 1, 64}};
  const TraceRecord second[] = {{1500, 2500, 0, 8, kRecv, 0, 0, 0, 0}};
  TimelineLevels levels{};
  std::string bytes = TimelineHead({0, "one", 0, 0}, first);
  bytes += TimelineSlices({0, "one", 0, 0}, first, &levels);
  levels = {};
  bytes += TimelineHead({1, "two", 500, 3}, second);
  return bytes + TimelineSlices({1, "two", 500, 3}, second, &levels);
}

// What a trace says, as lines.
class Lines {
 public:
  Lines()
      : reader_({[this](const TraceTrack& track) {
                   if (track.kind == TraceTrack::Kind::kRank) text_ += track.name + "\n";
                 },
                 [this](const TraceTrack& track, const TraceEvent& event) {
                   text_ += Format("%llu %d ", static_cast<unsigned long long>(event.time_ns),
                                   static_cast<int>(event.kind)) +
                            std::string(event.name) +
                            Format(" %lld in %llu", static_cast<long long>(event.value),
                                   static_cast<unsigned long long>(track.process));
                   for (const auto& [name, bytes] : event.notes)
                     text_ += " " + std::string(name) +
                              Format("=%llu", static_cast<unsigned long long>(bytes));
                   text_ += "\n";
                 }}) {}
  // Takes pieces of so many bytes. Returns what is left at the end, or -1 for a damaged trace.
  std::ptrdiff_t Take(const std::string& bytes, std::size_t piece) {
    std::string waiting;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      waiting += bytes.substr(at, piece);
      const Result<std::size_t> taken = reader_.Take(waiting);
      if (!taken.ok()) return -1;
      waiting.erase(0, *taken);
    }
    return static_cast<std::ptrdiff_t>(waiting.size());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  TraceReader reader_;
};

TEST(Reader, ReadsWhatWasWritten) {
  const std::string bytes = TwoRanks();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    Lines lines;
    EXPECT_EQ(lines.Take(bytes, piece), 0);
    EXPECT_EQ(lines.text(),
              "rank 0 on one\n"
              "1000 0 MPI_Send 0 in 1 bytes sent=8\n"
              "2000 1 MPI_Send 0 in 1\n"
              "3000 0 MPI_Recv 0 in 1\n"
              "4000 1 MPI_Recv 0 in 1\n"
              "4000 2 unexpected messages 2 in 1\n"
              "4000 2 bytes of unexpected messages 64 in 1\n"
              "4000 2 posted receives 1 in 1\n"
              "rank 1 on two (3 earlier calls had no room)\n"
              "1000 0 MPI_Recv 0 in 2 bytes received=8\n"
              "2000 1 MPI_Recv 0 in 2\n");
  }
}

TEST(Reader, NoticesWhatIsCutShort) {
  const std::string bytes = TwoRanks();
  std::size_t whole = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Lines lines;
    const std::ptrdiff_t left = lines.Take(bytes.substr(0, length), bytes.size());
    EXPECT_GE(left, 0) << length;
    if (left == 0) ++whole;  // between two packets
  }
  EXPECT_GT(whole, 5u);
  EXPECT_LT(whole, bytes.size() / 8);
}

TEST(Reader, SurvivesDamage) {
  const std::string bytes = TwoRanks();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const char by : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ by);
      if (Lines().Take(damaged, damaged.size()) < 0) ++refused;
    }
  EXPECT_GT(refused, bytes.size());
  EXPECT_EQ(Lines().Take("{\"traceEvents\": [1234567890]}", 100), -1);
  EXPECT_EQ(Lines().Take(std::string(100, '\xff'), 100), -1);
}

}  // namespace
}  // namespace lamina::launcher
