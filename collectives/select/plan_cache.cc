// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/plan_cache.h"

#include <algorithm>

namespace lamina::collective {
namespace {

using Counts = std::span<const std::int64_t>;

template <class Visit>
void EachCounts(const Call& call, Visit visit) {
  visit(call.input_counts);
  visit(call.input_displacements);
  visit(call.output_counts);
  visit(call.output_displacements);
}

}  // namespace

Plan* MakePlan(const Algorithm* algorithm, const Schedule& schedule) {
  Plan* plan = new Plan;
  plan->algorithm = algorithm;
  plan->scratch_elements = schedule.scratch_elements;
  plan->strand_ends = schedule.strand_ends;
  plan->receives_ahead = schedule.receives_ahead;
  plan->steps.reserve(schedule.steps.size());
  plan->rounds.reserve(schedule.round_ends.size());
  std::uint32_t begin = 0;
  for (const std::uint32_t end : schedule.round_ends) {
    const auto take = [&](auto wanted) {
      for (std::uint32_t i = begin; i < end; ++i)
        if (wanted(schedule.steps[i].verb)) plan->steps.push_back(schedule.steps[i]);
      return static_cast<std::uint32_t>(plan->steps.size());
    };
    Plan::Round round;
    round.receives = begin;
    round.sends = take([](Verb verb) { return verb == Verb::kReceive; });
    round.locals = take([](Verb verb) { return verb == Verb::kSend; });
    round.end = take([](Verb verb) { return verb != Verb::kSend && verb != Verb::kReceive; });
    plan->transfers_max = std::max(plan->transfers_max, round.locals - round.receives);
    plan->rounds.push_back(round);
    begin = end;
  }
  return plan;
}

void Release(Plan* plan) {
  if (--plan->references == 0) delete plan;
}

PlanCache::PlanCache(std::uint32_t plans_max, std::uint32_t steps_max)
    : plans_max_(plans_max), steps_max_(steps_max) {}

PlanCache::~PlanCache() { Clear(); }

void PlanCache::Clear() {
  for (Entry& entry : entries_) Release(entry.plan);
  entries_.clear();
}

PlanCache::Key PlanCache::KeyOf(const Call& call) {
  std::uint64_t kind = static_cast<std::uint64_t>(call.operation);
  int bit = 8;
  for (const bool flag : {call.commutative, call.all_in_place, call.board, call.in_place,
                          !call.input_counts.empty(), !call.input_displacements.empty(),
                          !call.output_counts.empty(), !call.output_displacements.empty()})
    kind |= static_cast<std::uint64_t>(flag) << bit++;
  kind |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32;
  return {{kind, static_cast<std::uint64_t>(call.bytes),
           static_cast<std::uint64_t>(call.input_count),
           static_cast<std::uint64_t>(call.output_count)}};
}

std::size_t PlanCache::CountsOf(const Call& call) {
  std::size_t count = 0;
  EachCounts(call, [&](Counts counts) { count += counts.size(); });
  return count;
}

bool PlanCache::SameCounts(const Call& call, const std::vector<std::int64_t>& counts) {
  if (counts.empty() && call.input_counts.empty() && call.output_counts.empty()) return true;
  if (CountsOf(call) != counts.size()) return false;
  auto kept = counts.begin();
  bool same = true;
  EachCounts(call, [&](Counts part) {
    same = same && std::equal(part.begin(), part.end(), kept);
    kept += static_cast<std::ptrdiff_t>(part.size());
  });
  return same;
}

std::size_t PlanCache::HintOf(const Key& key) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key.words) hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash >> 58;
}

Plan* PlanCache::Find(const Call& call) {
  const Key key = KeyOf(call);
  std::uint16_t& hint = hints_[HintOf(key)];
  const auto fits = [&](const Entry& entry) {
    return entry.key == key && SameCounts(call, entry.counts);
  };
  ++clock_;
  if (hint >= entries_.size() || !fits(entries_[hint])) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), fits);
    if (found == entries_.end()) return nullptr;
    hint = static_cast<std::uint16_t>(found - entries_.begin());
  }
  Entry& entry = entries_[hint];
  entry.used = clock_;
  return entry.plan;
}

const Plan* PlanCache::Latest() const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [this](const Entry& entry) { return entry.used == clock_; });
  return found != entries_.end() ? found->plan : nullptr;
}

void PlanCache::Add(const Call& call, Plan* plan) {
  if (plan->steps.size() + CountsOf(call) > steps_max_) return;
  Entry entry{KeyOf(call), {}, plan, clock_};
  EachCounts(call, [&](Counts counts) {
    entry.counts.insert(entry.counts.end(), counts.begin(), counts.end());
  });
  Retain(plan);
  auto place = entries_.end();
  if (entries_.size() < plans_max_) {
    entries_.push_back(std::move(entry));
    place = entries_.end() - 1;
  } else {
    place = std::min_element(entries_.begin(), entries_.end(),
                             [](const Entry& a, const Entry& b) { return a.used < b.used; });
    Release(place->plan);
    *place = std::move(entry);
  }
  hints_[HintOf(place->key)] = static_cast<std::uint16_t>(place - entries_.begin());
}

}  // namespace lamina::collective
