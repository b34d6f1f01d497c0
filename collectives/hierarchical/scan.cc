// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan in stages: every group scans by itself. The last rank of each group, which knows
// the total of the group, takes part in an exscan of totals with the other groups. The total of
// everything before a group is broadcast in it and put in front of its results.
//
// Groups must be ranges of ranks. One exscan among as many ranks as there are groups crosses
// between the outermost groups. Nothing comes before the group of rank 0, so it is sent nothing.
//
// Shape:  input and output n elements on every rank; scratch for the inner algorithms and for at
//         most one vector more than the stages that a rank is in.
// Cost:   scan within the innermost groups; exscan on each further level; bcast inward.
// Source: MPI-5.0, section 6.11, for the operations; Kielmann et al., PPoPP 1999, for the stages.
#include <algorithm>

#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/inner.h"

namespace lamina::collective::hierarchical {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  const std::vector<Span> spans = Spans(shape);
  double cost_us = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Operation operation = i == 0 ? call.operation : Operation::kExscan;
    cost_us += CheapestUs(Inner(call, operation, call.bytes), spans[i].ranks, spans[i].link);
    if (i + 1 < spans.size())
      cost_us += CheapestUs(Operation::kBcast, call.bytes, spans[i].ranks, spans[i].link);
  }
  return cost_us;
}

class Scanner {
 public:
  Scanner(const Call& call, const Shape& shape, Schedule* schedule)
      : call_(call),
        count_(call.input_count),
        stages_(Climb(shape, kNobody, Leader::kLast)),
        schedule_(schedule) {
    schedule->scratch_elements = InnerScratch();
  }

  void Plan() {
    ScanOwnGroup();
    for (std::size_t i = 1; i < stages_.size(); ++i) ScanTotals(i);
    for (std::size_t i = stages_.size(); i > 0; --i) Inward(i - 1);
    PutInFront();
  }

 private:
  // Scratch holds the total of the groups this rank leads, then the sum it received from a leader,
  // and then, for each stage from 1 on, the sum of the groups before its own within that stage.
  Slice Total() const { return Scratch(0, count_); }
  Slice Received() const { return Scratch(count_, count_); }
  Slice Before(std::size_t i) const {
    return Scratch(static_cast<std::int64_t>(1 + i) * count_, count_);
  }
  std::int64_t InnerScratch() const {
    return static_cast<std::int64_t>(1 + stages_.size()) * count_;
  }
  bool scan() const { return call_.operation == Operation::kScan; }

  void Run(Operation operation, std::size_t i, bool in_place, const Slice& input,
           const Slice& output) {
    Call inner = Inner(call_, operation, call_.bytes);
    inner.in_place = inner.all_in_place = in_place;
    inner.input_count = inner.output_count = count_;
    Append(inner, stages_[i], {input, output, InnerScratch()}, schedule_);
  }

  void ScanOwnGroup() {
    const Stage& stage = stages_[0];
    const Slice input = Input(0, count_), output = Output(0, count_);
    // An exscan leaves the total nowhere, and in place it overwrites the input.
    if (!scan() && stage.leads()) schedule_->Copy(input, Total());
    if (scan() && stage.alone() && !call_.in_place) schedule_->Copy(input, output);
    schedule_->EndRound();
    Run(call_.operation, 0, call_.in_place, input, output);
    if (!stage.leads()) return;
    if (scan())
      schedule_->Copy(output, Total());
    else if (!stage.alone())
      schedule_->Reduce(output, Total());
    schedule_->EndRound();
  }

  void ScanTotals(std::size_t i) {
    const Stage& stage = stages_[i];
    if (stage.alone()) return;
    Run(Operation::kExscan, i, false, Total(), Before(i));
    if (stage.leads() && i + 1 < stages_.size()) schedule_->Reduce(Before(i), Total());
    schedule_->EndRound();
  }

  // Receives the sum of everything before the groups of stage `i` from its leader, and adds the sum
  // of the groups before this member's.
  void Inward(std::size_t i) {
    const Stage& stage = stages_[i];
    if (stage.first() > 0 && !stage.alone()) {
      if (!stage.leads()) offset_ = Received();
      AppendBcast(call_, stage, offset_, call_.bytes, schedule_);
    }
    if (i == 0 || stage.own == 0) return;
    if (stage.first() > 0) schedule_->Reduce(offset_, Before(i));
    schedule_->EndRound();
    offset_ = Before(i);
  }

  void PutInFront() {
    if (stages_[0].first() == 0) return;
    const bool first_of_exscan = !scan() && stages_[0].own == 0;
    if (first_of_exscan)
      schedule_->Copy(offset_, Output(0, count_));
    else
      schedule_->Reduce(offset_, Output(0, count_));
    schedule_->EndRound();
  }

  const Call& call_;
  const std::int64_t count_;
  const std::vector<Stage> stages_;
  Schedule* const schedule_;
  Slice offset_;  // the sum of everything before
};

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  Scanner(call, shape, schedule).Plan();
}

}  // namespace

constinit const Algorithm kScan{"hierarchical", Operation::kScan, FitsRanges, CostUs, Plan};
constinit const Algorithm kExscan{"hierarchical", Operation::kExscan, FitsRanges, CostUs, Plan};

}  // namespace lamina::collective::hierarchical
