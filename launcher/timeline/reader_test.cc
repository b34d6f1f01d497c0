// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what was written is read again, in pieces of any size, and whatever is damaged is
// refused. Method: a trace of two ranks, cut everywhere and with each of its bytes changed.
#include "launcher/timeline/reader.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "launcher/timeline/timeline.h"
#include "runtime/base/call_names.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr auto kSend = static_cast<std::uint32_t>(Call::MPI_Send);
constexpr auto kRecv = static_cast<std::uint32_t>(Call::MPI_Recv);

TraceRecord Mark(std::uint64_t ns, TraceMark mark, std::uint32_t thread, std::uint64_t first = 0,
                 std::uint64_t second = 0) {
  return {ns, ns, first, second, static_cast<std::uint32_t>(mark), thread, 0, 0, 0};
}

std::string TwoRanks() {
  const TraceCopy first{0,
                        false,
                        {"", "solve"},
                        {Mark(900, TraceMark::kRegionBegin, 0, 1),
                         Mark(1900, TraceMark::kSent, 0, 1, 1),
                         Mark(1900, TraceMark::kSent, 0, 7, 1),  // to another job
                         {1000, 2000, 8, 0, kSend, 0, 0, 0, 0},
                         {3000, 4000, 0, 0, kRecv, 1, 2, 1, 64},
                         Mark(4100, TraceMark::kInFlight, kNoThread, 5)}};
  const TraceCopy second{3,
                         true,
                         {},
                         {Mark(1400, TraceMark::kRegionEnd, 0),  // its begin is lost
                          Mark(2000, TraceMark::kReceived, kNoThread, 0, 1),
                          {1500, 2500, 0, 8, kRecv, 0, 0, 0, 0},
                          Mark(2600, TraceMark::kSent, 0, 0, 1)}};  // its call is lost
  std::string bytes;
  for (const auto& [rank, copy] : {std::pair{TimelineRank{0, "one", 0, 2}, first},
                                   std::pair{TimelineRank{1, "two", 500, 2}, second}}) {
    TimelineState state;
    bytes += TimelineHead(rank, copy);
    for (const TraceRecord& record : copy.records)
      bytes += TimelineSlices(rank, {&record, 1}, &state);
    bytes += TimelineEnd(rank, state);
  }
  return bytes;
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
                   // Flows by the order in which they are seen.
                   for (const std::uint64_t flow : event.flows)
                     text_ +=
                         Format(" flow %zu", flows_.try_emplace(flow, flows_.size()).first->second);
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
  std::map<std::uint64_t, std::size_t> flows_;
  TraceReader reader_;
};

TEST(Reader, ReadsWhatWasWritten) {
  const std::string bytes = TwoRanks();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    Lines lines;
    EXPECT_EQ(lines.Take(bytes, piece), 0);
    EXPECT_EQ(lines.text(),
              "rank 0 on one\n"
              "900 0 solve 0 in 1\n"
              "1000 0 MPI_Send 0 in 1 bytes sent=8 flow 0\n"
              "2000 1 MPI_Send 0 in 1\n"
              "3000 0 MPI_Recv 0 in 1\n"
              "4000 1 MPI_Recv 0 in 1\n"
              "4000 2 unexpected messages 2 in 1\n"
              "4000 2 bytes of unexpected messages 64 in 1\n"
              "4000 2 posted receives 1 in 1\n"
              "4100 2 bytes in flight 5 in 1\n"
              "4100 1 solve 0 in 1\n"
              "rank 1 on two (3 later calls had no room)\n"
              "1000 0 MPI_Recv 0 in 2 bytes received=8\n"
              "2000 1 MPI_Recv 0 in 2 flow 0\n");
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
