// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/tie.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/text.h"
#include "runtime/p2p/other_jobs.h"

namespace lamina::dynamic {
namespace {

struct Tie {
  Descriptor socket;
  std::uint32_t job_hash;
};

std::vector<Tie>& Ties() {
  static std::vector<Tie>* const ties = new std::vector<Tie>;
  return *ties;
}

// A launcher that is gone need not be told.
void Say(const Descriptor& tie, std::string_view word) {
  static_cast<void>(!send(tie.value(), word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace

bool HearTie(int tie, TieWords* words) {
  char piece[4096];
  const ssize_t got = recv(tie, piece, sizeof piece, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  std::string* const heard = &words->heard;
  if (got > 0) heard->append(piece, static_cast<std::size_t>(got));
  constexpr std::string_view kWhy = "why ", kRanks = "ranks ";
  std::size_t begin = 0;
  bool ended = got <= 0;
  for (std::size_t end; (end = heard->find('\n', begin)) != heard->npos; begin = end + 1) {
    const std::string_view line = std::string_view(*heard).substr(begin, end - begin);
    if (line.starts_with(kWhy))
      words->why += (words->why.empty() ? "" : "; ") + std::string(line.substr(kWhy.size()));
    if (line.starts_with(kRanks))
      for (const std::string_view count : Split(line.substr(kRanks.size()), ' '))
        words->ranks.push_back(static_cast<int>(ParseInteger(count).value_or(0)));
    ended = ended || line == "end";
  }
  heard->erase(0, begin);
  return !ended;
}

void KeepTie(Descriptor tie, std::uint32_t job_hash) {
  Say(tie, "met\n");
  Ties().push_back({std::move(tie), job_hash});
}

void LoosenTies(std::span<const PeerId> ending) {
  std::erase_if(Ties(), [ending](const Tie& tie) {
    if (p2p::HasGroupWith(tie.job_hash, ending)) return false;
    Say(tie.socket, "part\n");
    return true;
  });
}

void LeaveAllTies() {
  for (const Tie& tie : Ties()) Say(tie.socket, "finalized\n");
  Ties().clear();
}

}  // namespace lamina::dynamic
