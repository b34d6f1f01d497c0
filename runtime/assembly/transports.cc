// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/transports.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/assembly/needed.h"
#include "runtime/assembly/shipped.h"
#include "runtime/base/log.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/text.h"
#include "transports/ucx/ucx_transport.h"

namespace lamina::assembly {
namespace {

bool Included(const std::string& list, const std::string& name) {
  if (list.empty()) return true;
  for (const std::string_view piece : Split(list, ','))
    if (Trim(piece) == name) return true;
  return false;
}

// Adds every transport that can run here and is needed, best first. One that fails to start is
// reported and left out, because another may serve. `why_apart` is empty unless this process is
// apart; see needed.h.
Status AddTransports(const std::string& included, const std::string& why_apart,
                     const transport::Context& context, p2p::Engine* engine) {
  const transport::Registry registry = ShippedTransports();
  for (const std::string_view piece : Split(included, ','))
    if (!Trim(piece).empty() && registry.Find(Trim(piece)) == nullptr)
      return Error(Code::kInvalid, "transport.include names \"%s\", which is no transport",
                   std::string(Trim(piece)).c_str());
  bool node_is_reached = false;
  for (const auto& [component, offer] : registry.Ask(context)) {
    const std::string& name = component->info.name;
    if (offer.priority < 0 || !Included(included, name)) continue;
    const bool apart = !why_apart.empty();
    if (!IsNeeded(component->facts, context, apart, node_is_reached)) continue;
    if (apart && component->facts.reach == transport::Reach::kNetwork)
      Log(Level::kInfo, name.c_str(), "is started for the processes of this node as well: %s",
          why_apart.c_str());
    Result<std::unique_ptr<transport::Transport>> made = component->make(context);
    if (!made.ok()) {
      Log(Level::kWarn, name.c_str(), "cannot be used: %s",
          std::string(made.status().message()).c_str());
      continue;
    }
    const transport::Reach reach = component->facts.reach;
    node_is_reached = node_is_reached || reach == transport::Reach::kNode;
    p2p::AddCarrier(engine, {name, *std::move(made), reach == transport::Reach::kNetwork,
                             reach == transport::Reach::kProcess});
  }
  return {};
}

// The memory that the launcher made for this node. A process that cannot have it may still open
// memory of its peers.
void OpenNodeMemory(core::Process* process) {
  const auto place = process->environment.Get(kNodeMemoryVariable);
  if (!place || process->bootstrap == nullptr) return;
  Result<std::unique_ptr<NodeMemory>> opened = NodeMemory::Open(*place, process->identity.job);
  if (opened.ok())
    process->node_memory = *std::move(opened);
  else
    Log(Level::kInfo, "shm", "the memory that mpiexec shares with its ranks cannot be had: %s",
        std::string(opened.status().message()).c_str());
}

// Says why other processes of the node are probably out of reach; empty if they are not.
std::string WhyApart(const core::Process& process) {
  if (process.node_memory != nullptr || process.identity.job_ranks == 1) return "";
  if (process.identity.apart) return "it is in a pid namespace of its own";
  // The number that Linux gives to the first user namespace (PROC_USER_INIT_INO).
  constexpr ino_t kFirstUserNamespace = 0xEFFFFFFD;
  struct stat file;
  if (stat("/proc/self/ns/user", &file) == 0 && file.st_ino != kFirstUserNamespace)
    return "it is in a user namespace, as in a container without privileges";
  if (prctl(PR_GET_DUMPABLE) != 1)
    return "the program cannot be read or has more rights than its user, so others must not open "
           "its memory";
  return "";
}

transport::Context ContextOf(const TransportsStart& start, const core::Process& process,
                             p2p::Engine* engine) {
  const bootstrap::Identity& identity = process.identity;
  transport::Context context;
  context.settings = &process.settings;
  context.environment = &process.environment;
  context.self = start.self;
  context.node = identity.node;
  context.local_ranks = static_cast<std::uint32_t>(identity.local_peers.size());
  context.job_ranks = identity.job_ranks;
  context.sharing = start.sharing;
  context.inbox = p2p::InboxOf(engine);
  context.node_memory = process.node_memory.get();
  return context;
}

bool Has(std::span<const p2p::Carrier> carriers, const std::string& name) {
  return std::any_of(carriers.begin(), carriers.end(),
                     [&name](const p2p::Carrier& carrier) { return carrier.name == name; });
}

}  // namespace

Status StartTransports(const TransportsStart& start, core::Process* process, p2p::Engine* engine) {
  OpenNodeMemory(process);
  return AddTransports(start.included, WhyApart(*process), ContextOf(start, *process, engine),
                       engine);
}

Status WidenTransports(transport::Reach reach, const TransportsStart& start, core::Process* process,
                       p2p::Engine* engine) {
  const transport::Context context = ContextOf(start, *process, engine);
  const transport::Registry registry = ShippedTransports();
  bool node_is_reached = false;
  for (const auto& [component, offer] : registry.Ask(context)) {
    const std::string& name = component->info.name;
    const bool is_network = component->facts.reach == transport::Reach::kNetwork;
    if (offer.priority < 0 || !Included(start.included, name)) continue;
    if (is_network && reach != transport::Reach::kNetwork && node_is_reached) continue;
    if (!Has(p2p::CarriersOf(engine), name)) {
      Result<std::unique_ptr<transport::Transport>> made = component->make(context);
      if (!made.ok()) return std::move(made).status().Within(name);
      p2p::AddCarrier(engine, {name, *std::move(made), is_network, false});
    }
    node_is_reached = node_is_reached || component->facts.reach == transport::Reach::kNode;
  }
  return {};
}

void ReportTransports(std::string_view names, const core::Process& process, p2p::Engine* engine) {
  const bootstrap::Identity& identity = process.identity;
  if (identity.local_rank != 0) return;
  const std::vector<std::string_view> named = Split(names, ',');
  const auto name_of = [&named](std::uint32_t node) {
    return node < named.size() && !named[node].empty() ? std::string(named[node])
                                                       : Format("node %u", node);
  };
  // One rank of each node stands for it; of this one, another than this rank if there is one.
  std::map<std::uint32_t, std::uint32_t> rank_of;
  for (std::uint32_t rank = 0; rank < identity.job_ranks; ++rank) {
    const Result<std::uint32_t> node =
        process.bootstrap != nullptr ? process.bootstrap->Node(rank) : Result<std::uint32_t>(0u);
    const std::uint32_t its = node.ok() ? *node : 0;
    const auto [found, first] = rank_of.try_emplace(its, rank);
    if (!first && found->second == identity.rank) found->second = rank;
  }
  // Nodes that are reached alike share a line.
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [node, rank] : rank_of) {
    const Result<std::string> through = p2p::ConnectTo(engine, PeerId{rank});
    const std::string words =
        through.ok() ? *through : "nothing: " + std::string(through.status().message());
    const auto same = std::ranges::find(lines, words, &std::pair<std::string, std::string>::first);
    if (same == lines.end())
      lines.emplace_back(words, name_of(node));
    else
      same->second += ", " + name_of(node);
  }
  std::string text;
  for (const auto& [words, nodes] : lines)
    text += "transports: " + identity.node + " reaches " + nodes + " by " + words + "\n";
  if (Has(p2p::CarriersOf(engine), "ucx"))
    text += "transports: ucx of " + identity.node + " may use " +
            ucx::DescribeDevices(process.settings) + "\n";
  // At once, so that lines of several nodes stay whole.
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace lamina::assembly
