// SPDX-License-Identifier: BSD-3-Clause
// The plans of one communicator's recent calls, so that a call that comes again plans nothing and
// allocates nothing.
//
// Memory is bounded: the cache has at most `plans_max` plans of at most `steps_max` steps and
// counts, and the plan that was not used for longest makes room. A larger plan is made and dropped
// with its call.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/collective.h"

namespace lamina::collective {

// A schedule sorted for execution. Each round has first its receives, then its sends, then its
// local steps, each of them in the order of the schedule.
struct Plan {
  struct Round {
    // Indices of the first step of each kind, and behind the last step.
    std::uint32_t receives;
    std::uint32_t sends;
    std::uint32_t locals;
    std::uint32_t end;
  };
  const Algorithm* algorithm = nullptr;
  std::vector<Step> steps;
  std::vector<Round> rounds;
  std::vector<std::uint32_t> strand_ends;  // as in Schedule
  std::int64_t scratch_elements = 0;
  std::uint32_t transfers_max = 0;   // the sends and receives of the busiest round
  std::uint32_t receives_ahead = 0;  // as in Schedule; only blocking calls make use of it
  std::uint32_t references = 1;

  // How many sends and receives are under way at once in a blocking call.
  std::uint32_t requests() const {
    return receives_ahead == 0 ? transfers_max : transfers_max * (receives_ahead + 2);
  }
  // The same on all ranks.
  std::uint32_t strands() const {
    return strand_ends.empty() ? 1 : static_cast<std::uint32_t>(strand_ends.size());
  }
};
Plan* MakePlan(const Algorithm* algorithm, const Schedule& schedule);
inline void Retain(Plan* plan) { ++plan->references; }
void Release(Plan* plan);

class PlanCache {
 public:
  PlanCache(std::uint32_t plans_max, std::uint32_t steps_max);
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // The plan of an equal call, or null. The caller gets no reference.
  Plan* Find(const Call& call);
  // Keeps a reference of its own to `plan`, unless the plan is too large.
  void Add(const Call& call, Plan* plan);
  // Forgets all plans.
  void Clear();
  std::size_t size() const { return entries_.size(); }
  // How often a plan was looked for.
  std::uint64_t searches() const { return clock_; }
  // The plan that was found or added at the last search. Null: it is not kept.
  const Plan* Latest() const;

 private:
  // A call as plain numbers. Calls with equal numbers have equal plans.
  struct Key {
    std::uint64_t words[4];
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::vector<std::int64_t> counts;  // counts and displacements of v-forms
    Plan* plan;
    std::uint64_t used;
  };
  static constexpr std::size_t kHints = 64;
  static Key KeyOf(const Call& call);
  static std::size_t HintOf(const Key& key);
  static std::size_t CountsOf(const Call& call);
  static bool SameCounts(const Call& call, const std::vector<std::int64_t>& counts);

  const std::uint32_t plans_max_;
  const std::uint32_t steps_max_;
  std::uint64_t clock_ = 0;
  std::vector<Entry> entries_;
  // For each hash of a key, the entry that was found or added last.
  std::array<std::uint16_t, kHints> hints_{};
};

}  // namespace lamina::collective
