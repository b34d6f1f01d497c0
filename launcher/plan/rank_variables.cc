// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/rank_variables.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kRank = "LAMINA_RANK";
constexpr std::string_view kSize = "LAMINA_SIZE";
constexpr std::string_view kLocalRank = "LAMINA_LOCAL_RANK";
constexpr std::string_view kLocalSize = "LAMINA_LOCAL_SIZE";
constexpr std::string_view kNode = "LAMINA_NODE";
constexpr std::string_view kNodes = "LAMINA_NODES";
// Libraries such as Kokkos read the last two, which other launchers set as well.
constexpr std::string_view kKnownLocalRank = "MPI_LOCALRANKID";
constexpr std::string_view kKnownLocalSize = "MPI_LOCALNRANKS";

std::string Assignment(std::string_view name, std::size_t value) {
  return std::string(name) + "=" + std::to_string(value);
}

}  // namespace

bool IsRankVariable(std::string_view name) {
  for (const std::string_view known :
       {kRank, kSize, kLocalRank, kLocalSize, kNode, kNodes, kKnownLocalRank, kKnownLocalSize})
    if (name == known) return true;
  return false;
}

RankVariables::RankVariables(const Plan& plan)
    : ranks_(plan.ranks.size()), ranks_of_(plan.hosts.size(), 0), node_of_(plan.hosts.size(), 0) {
  for (const RankPlan& rank : plan.ranks) ++ranks_of_[rank.host];
  for (std::size_t host = 0; host < plan.hosts.size(); ++host)
    node_of_[host] = ranks_of_[host] > 0 ? nodes_++ : 0;
}

std::vector<std::string> RankVariables::Of(const RankPlan& rank) const {
  const std::uint32_t local_ranks = ranks_of_[rank.host];
  return {Assignment(kRank, rank.rank),
          Assignment(kSize, ranks_),
          Assignment(kLocalRank, rank.local_rank),
          Assignment(kLocalSize, local_ranks),
          Assignment(kNode, node_of_[rank.host]),
          Assignment(kNodes, nodes_),
          Assignment(kKnownLocalRank, rank.local_rank),
          Assignment(kKnownLocalSize, local_ranks)};
}

}  // namespace lamina::launcher
