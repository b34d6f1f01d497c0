// SPDX-License-Identifier: BSD-3-Clause
// Letters that PMIx servers send to the hub where they meet, at the top and on the way there.
#include "launcher/pmix/hub.h"

#include <map>

#include "launcher/plan/plan.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher::pmix {
namespace {

Plan PlanOf(std::uint32_t hosts) {
  Plan plan;
  plan.hosts.resize(hosts);
  for (std::uint32_t rank = 0; rank < 2 * hosts; ++rank) {
    plan.ranks.emplace_back();
    plan.ranks.back().rank = rank;
    plan.ranks.back().host = rank / 2;
  }
  return plan;
}

void Play(fuzz::Input input) {
  static const Plan plan = PlanOf(3);
  std::map<Hub::Edge, std::int64_t> unanswered;
  const bool top = input.Take<std::uint8_t>() % 2 == 0;
  const std::vector<Hub::Edge> edges = {0, 1, top ? 1 : Hub::kUp};
  Hub hub(plan, edges, top,
          {[&](Hub::Edge edge, const std::string& bytes) {
             const Result<Letter> letter = DecodeLetter(bytes);
             CHECK(letter.ok());
             CHECK(!top || edge != Hub::kUp);
             if (letter->subject == Subject::kAnswer) CHECK(--unanswered[edge] >= 0);
           },
           [](std::uint32_t rank, int, const std::string&) { CHECK(rank < plan.ranks.size()); }});
  std::uint64_t now_ms = 0;
  while (!input.empty()) {
    const auto word = input.Take<std::uint8_t>();
    if (word == 'm') {
      hub.Move(input.Take<std::uint8_t>() % 3, input.Take<std::uint8_t>() % 2);
      continue;
    }
    const Hub::Edge edge = word % 3 == 2 ? top ? 2 : Hub::kUp : word % 3;
    ++unanswered[edge];
    const Status status = hub.Receive(edge, input.TakeText());
    CHECK(status.ok() || !status.message().empty());
    static_cast<void>(hub.LongestWait(++now_ms));
  }
}

}  // namespace
}  // namespace lamina::launcher::pmix

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lamina::launcher::pmix::Play({data, size});
  return 0;
}
