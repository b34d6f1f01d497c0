// SPDX-License-Identifier: BSD-3-Clause
// All algorithms of this process, and how one is chosen for a call.
//
// The candidates for a call come from the components of the highest priority at which any algorithm
// fits the call. Among them the lowest predicted cost wins, and the first of equals. The parameter
// collective.<operation>.algorithm names an algorithm outright; where that one does not fit the
// call, the choice is made as if nothing had been named.
//
// Every rank must choose alike, so a choice depends only on values that are the same on all ranks:
// the fields of Call that are marked so, the number of ranks and where they are, and parameters,
// which the launcher makes equal. Algorithms for intercommunicators are candidates there and
// nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/collective.h"

namespace lamina::collective {

struct Params {
  double alpha_us = 0.4;
  double overhead_us = 0.12;
  double beta_ns_per_kbyte = 100;
  double gamma_ns_per_kbyte = 120;
  double turn_us = 1.0;
  double crowd = 0;
  double near_alpha_us = 0.25, near_overhead_us = 0.08, near_beta_ns_per_kbyte = 70;
  double network_turn_us = 8;
  double network_alpha_us = 12, network_overhead_us = 3, network_beta_ns_per_kbyte = 800;
  std::uint64_t network_eager_bytes = 108 << 10;
  double far_alpha_us = 15, far_overhead_us = 3, far_beta_ns_per_kbyte = 800;
  std::string include;
  std::string near_ranks;
  std::uint32_t switch_nodes = 0;
  std::uint32_t plans_max = 64;
  std::uint32_t plan_steps_max = 4096;
  std::uint64_t scratch_bytes_max = 4 << 20;
};

inline constexpr std::tuple kFields{
    param::Describe("collective.select.alpha_us", &Params::alpha_us, Unit::kMicroseconds, 0.0, 1e6,
                    "Predicted time of an empty message on one node: half of a round trip of 8 "
                    "bytes."),
    param::Describe("collective.select.overhead_us", &Params::overhead_us, Unit::kMicroseconds, 0.0,
                    1e6, "Predicted time a rank is busy with one message of several."),
    param::Describe("collective.select.beta_ns_per_kbyte", &Params::beta_ns_per_kbyte, Unit::kNone,
                    0.0, 1e9, "Predicted time to move 1024 bytes; 100 is 10 GB/s."),
    param::Describe("collective.select.gamma_ns_per_kbyte", &Params::gamma_ns_per_kbyte,
                    Unit::kNone, 0.0, 1e9, "Predicted time to reduce 1024 bytes."),
    param::Describe("collective.select.turn_us", &Params::turn_us, Unit::kMicroseconds, 0.0, 1e6,
                    "Predicted time to give the CPU to another rank, where ranks share CPUs."),
    param::Describe(
        "collective.select.crowd", &Params::crowd, Unit::kNone, 0.0, 1e6,
        "Ranks per CPU that algorithms are chosen for, alike on all ranks. mpiexec says 4 "
        "if ranks share CPUs on any host, else 1; 0: by p2p.wait.mode."),
    param::Describe("collective.include", &Params::include, "",
                    "Comma-separated components whose algorithms may be used; empty: all. Without "
                    "basic some calls cannot be served."),
    param::Describe("collective.select.near_ranks", &Params::near_ranks, "",
                    "Ranks of a node that are near each other, smallest groups first: 2,8 if every "
                    "2 consecutive ones share a cache and every 8 a socket. Empty: unknown."),
    param::Describe("collective.select.near.alpha_us", &Params::near_alpha_us, Unit::kMicroseconds,
                    0.0, 1e6, "Predicted time of an empty message between ranks near each other."),
    param::Describe("collective.select.near.overhead_us", &Params::near_overhead_us,
                    Unit::kMicroseconds, 0.0, 1e6,
                    "Time a rank is busy with one of several such messages."),
    param::Describe("collective.select.near.beta_ns_per_kbyte", &Params::near_beta_ns_per_kbyte,
                    Unit::kNone, 0.0, 1e9, "Time to move 1024 bytes between such ranks."),
    param::Describe("collective.select.network.alpha_us", &Params::network_alpha_us,
                    Unit::kMicroseconds, 0.0, 1e6,
                    "Predicted time of an empty message between nodes."),
    param::Describe("collective.select.network.overhead_us", &Params::network_overhead_us,
                    Unit::kMicroseconds, 0.0, 1e6,
                    "Time a rank is busy with one of several such messages."),
    param::Describe("collective.select.network.beta_ns_per_kbyte",
                    &Params::network_beta_ns_per_kbyte, Unit::kNone, 0.0, 1e9,
                    "Time to move 1024 bytes between nodes; 800 is 10 Gbit/s."),
    param::Describe("collective.select.network.turn_us", &Params::network_turn_us,
                    Unit::kMicroseconds, 0.0, 1e6,
                    "Time to give the CPU to another rank, where some ranks wait for the network."),
    param::Describe("collective.select.network.eager_bytes", &Params::network_eager_bytes,
                    Unit::kBytes, std::uint64_t{1}, std::uint64_t{1} << 30,
                    "Longest message between nodes that leaves without asking its receiver first. "
                    "Set it when the transport's own limit is set: long broadcasts are cut so."),
    param::Describe("collective.select.switch_nodes", &Params::switch_nodes, Unit::kCount, 0u,
                    1u << 30, "Consecutive nodes that share a switch; 0: unknown, all are alike."),
    param::Describe("collective.select.far.alpha_us", &Params::far_alpha_us, Unit::kMicroseconds,
                    0.0, 1e6, "Predicted time of an empty message between switches."),
    param::Describe("collective.select.far.overhead_us", &Params::far_overhead_us,
                    Unit::kMicroseconds, 0.0, 1e6,
                    "Time a rank is busy with one of several such messages."),
    param::Describe("collective.select.far.beta_ns_per_kbyte", &Params::far_beta_ns_per_kbyte,
                    Unit::kNone, 0.0, 1e9, "Time to move 1024 bytes between switches."),
    param::Describe("collective.select.plans_max", &Params::plans_max, Unit::kCount, 1u, 4096u,
                    "Plans kept per communicator for calls that come again."),
    param::Describe("collective.select.plan_steps_max", &Params::plan_steps_max, Unit::kCount, 0u,
                    1u << 24, "Plans with more steps than this are made anew for each call."),
    param::Describe("collective.select.scratch_bytes_max", &Params::scratch_bytes_max, Unit::kBytes,
                    std::uint64_t{0}, std::uint64_t{1} << 40,
                    "Scratch memory a communicator keeps between calls."),
};
// The table above and collective.<operation>.algorithm for each operation, with their current
// values, for lamina info.
std::vector<param::Row> Rows(const param::Settings& settings);

// Where the ranks of a communicator are, and the link between the outermost groups.
struct Placement {
  Rank nodes = 1;
  std::unique_ptr<const Hierarchy> hierarchy;  // null if there is one level only
  std::unique_ptr<const Hierarchy> by_node;    // the levels from nodes outward; null: the same
  LinkModel link;

  // The hierarchy as a plan for `call` is to see it.
  const Hierarchy* Seen(const Call& call) const {
    return call.board && by_node != nullptr ? by_node.get() : hierarchy.get();
  }
  // The ranks by node. Null if there is one node, or if no node has several ranks.
  const Partition* Nodes() const;
};

// A component that convenes meetings (call/meeting.h), and what they may be asked for.
struct Meeter {
  std::string component;
  const Convener* convener;
  Convener::Offer offer;
  OperationSet outranked;  // components of higher priority have algorithms for these
  OperationSet named;      // a parameter names this component for these
  // Blocking calls of these where all ranks are on one node: what is named, and what is offered
  // unless a parameter names something else or it is outranked.
  OperationSet calls;
  // Plans of these may have steps that it carries out across nodes.
  OperationSet steps;
};

class Library {
 public:
  // Makes every component of `registry` that can run; one that cannot be made is reported and left
  // out. kInvalid when a parameter is wrong or names an algorithm nobody offers (the message lists
  // those that are).
  static Result<std::unique_ptr<Library>> Make(const Registry& registry,
                                               const param::Settings& settings);

  // Null if no component has an algorithm that fits.
  const Algorithm* Choose(const Call& call, const Shape& shape, const LinkModel& link) const;
  // The link model within one node, for a communicator of `ranks`.
  LinkModel Link(Rank ranks) const;
  // Places a communicator: rank r is process `peer_of(r)` of the job, and `job` says which node
  // each process of the job is on. `knows_crowd` is false where ranks do not know of all others
  // whether they share CPUs; then none is thought to.
  Placement Place(Rank ranks, const Partition& job,
                  const std::function<std::uint32_t(Rank)>& peer_of, bool knows_crowd = true) const;

  // The algorithm that a parameter names, or null.
  const Algorithm* Named(Operation operation) const {
    return forced_[static_cast<std::size_t>(operation)];
  }

  const Params& params() const { return params_; }
  // Best component first.
  const std::vector<Meeter>& meeters() const { return meeters_; }
  // Does some component carry out the steps that plans of `operation` may have at a board?
  bool HasSteps(Operation operation) const;
  // The components from outside the tree, with versions and priorities. They must be the same on
  // all ranks. Empty: there are none.
  const std::string& outside() const { return outside_; }
  // All algorithms for `operation`, best component first.
  std::vector<const Algorithm*> Offered(Operation operation) const;

 private:
  // The algorithms for one operation from the components of one priority.
  struct Group {
    int priority;
    std::vector<const Algorithm*> algorithms;
  };

  Status ReadNearRanks();
  Status Force(Operation operation, const param::Settings& settings);
  void AddMeeter(const std::string& component, const Convener& convener);
  // Once it is known which algorithms there are and which names the parameters give.
  void SettleMeeters();
  // May a plan of `operation` have steps at a board?
  bool PlansMeet(Operation operation) const;

  LinkModel Link(Rank ranks, double alpha_us, double overhead_us, double beta_ns_per_kbyte) const;

  Params params_;
  bool crowded_ = false;
  std::vector<std::uint32_t> near_ranks_;  // params_.near_ranks as numbers
  std::vector<std::unique_ptr<Collective>> components_;
  std::string outside_;
  std::array<std::vector<Group>, kOperations> groups_;  // best component first
  std::array<const Algorithm*, kOperations> forced_{};
  std::vector<Meeter> meeters_;  // best component first
};

}  // namespace lamina::collective
