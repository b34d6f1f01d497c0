// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/job_description.h"

#include <pmix_server.h>

#include <algorithm>
#include <cstdlib>

namespace lamina::launcher::pmix {
namespace {

std::string JoinRanks(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (const std::uint32_t rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

void DescribeRank(const Plan& plan, const RankPlan& rank, std::uint16_t node_rank, InfoList* job) {
  constexpr std::size_t kEntries = 6;
  pmix_info_t* entries;
  PMIX_INFO_CREATE(entries, kEntries);
  const auto local_rank = static_cast<std::uint16_t>(rank.local_rank);
  PMIX_INFO_LOAD(&entries[0], PMIX_RANK, &rank.rank, PMIX_PROC_RANK);
  PMIX_INFO_LOAD(&entries[1], PMIX_LOCAL_RANK, &local_rank, PMIX_UINT16);
  PMIX_INFO_LOAD(&entries[2], PMIX_NODE_RANK, &node_rank, PMIX_UINT16);
  PMIX_INFO_LOAD(&entries[3], PMIX_NODEID, &rank.host, PMIX_UINT32);
  PMIX_INFO_LOAD(&entries[4], PMIX_APPNUM, &rank.app, PMIX_UINT32);
  PMIX_INFO_LOAD(&entries[5], PMIX_HOSTNAME, plan.hosts[rank.host].name.c_str(), PMIX_STRING);
  pmix_data_array_t array{PMIX_INFO, kEntries, entries};
  job->Add(PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
  PMIX_INFO_FREE(entries, kEntries);
}

}  // namespace

std::uint32_t UniverseRanks(const Plan& plan) {
  return std::max(plan.universe_slots, static_cast<std::uint32_t>(plan.ranks.size()));
}

void DescribeJob(const Plan& plan, const std::string& name, std::uint32_t own_host, InfoList* job) {
  std::vector<std::vector<std::uint32_t>> ranks_of(plan.hosts.size());
  for (const RankPlan& rank : plan.ranks) ranks_of[rank.host].push_back(rank.rank);
  std::string nodes;
  std::string processes;
  std::uint32_t nodes_used = 0;
  for (std::size_t host = 0; host < plan.hosts.size(); ++host) {
    if (ranks_of[host].empty()) continue;
    nodes += (nodes.empty() ? "" : ",") + plan.hosts[host].name;
    processes += (processes.empty() ? "" : ";") + JoinRanks(ranks_of[host]);
    ++nodes_used;
  }
  char* node_map = nullptr;
  char* process_map = nullptr;
  if (PMIx_generate_regex(nodes.c_str(), &node_map) == PMIX_SUCCESS)
    job->Add(PMIX_NODE_MAP, node_map, PMIX_REGEX);
  if (PMIx_generate_ppn(processes.c_str(), &process_map) == PMIX_SUCCESS)
    job->Add(PMIX_PROC_MAP, process_map, PMIX_REGEX);
  free(node_map);
  free(process_map);

  const auto ranks = static_cast<std::uint32_t>(plan.ranks.size());
  const auto& local = ranks_of[own_host];
  job->AddText(PMIX_JOBID, name);
  job->AddUint32(PMIX_JOB_SIZE, ranks);
  job->AddUint32(PMIX_UNIV_SIZE, UniverseRanks(plan));
  job->AddUint32(PMIX_MAX_PROCS, UniverseRanks(plan));
  job->AddUint32(PMIX_JOB_NUM_APPS, static_cast<std::uint32_t>(plan.apps.size()));
  job->AddUint32(PMIX_NUM_NODES, nodes_used);
  job->AddUint32(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(local.size()));
  job->AddText(PMIX_LOCAL_PEERS, JoinRanks(local));
  for (const RankPlan& rank : plan.ranks)
    DescribeRank(plan, rank, static_cast<std::uint16_t>(rank.local_rank), job);
}

}  // namespace lamina::launcher::pmix
