// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/explain.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

constexpr std::int64_t kBytesMin = 8;
constexpr std::int64_t kBytesMax = 64 << 20;

std::string SizeText(std::int64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
    return Format("%lldM", static_cast<long long>(bytes >> 20));
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
    return Format("%lldK", static_cast<long long>(bytes >> 10));
  return Format("%lld", static_cast<long long>(bytes));
}

std::string LinkText(const LinkModel& link) {
  return Format("%.3g us + %.3g GB/s", link.alpha_us, 1e-3 / link.beta_us_per_byte);
}

// What is chosen for blocking calls of ranks that are where `placement` says.
class Table {
 public:
  Table(const Library& library, const Placement& placement, Rank ranks)
      : library_(library), placement_(placement), ranks_(ranks) {}

  // Adds one row for each range of sizes that one algorithm serves.
  void Add(Operation operation, std::string* text) const {
    const std::int64_t last = Sized(operation) ? kBytesMax : kBytesMin;
    for (std::int64_t first = kBytesMin; first <= last;) {
      const Algorithm* algorithm = Chosen(operation, first);
      if (algorithm == nullptr) return;
      std::int64_t end = first;
      while (end * 2 <= last && Chosen(operation, end * 2) == algorithm) end *= 2;
      std::string sizes = "any";
      if (Sized(operation)) sizes = SizeText(first) + (end > first ? ".." + SizeText(end) : "");
      const auto cost = [&](std::int64_t bytes) {
        return CostUs(*algorithm, CallOf(operation, bytes));
      };
      std::string us = Format("%.3g", cost(first));
      if (end > first) us += Format("..%.3g", cost(end));
      *text += Format("%-21s %-10s %-18s %-16s %s\n", Name(operation), sizes.c_str(),
                      algorithm->name, us.c_str(), Why(operation, first, algorithm).c_str());
      first = end * 2;
    }
  }

 private:
  Call CallOf(Operation operation, std::int64_t bytes) const {
    Call call;
    call.operation = operation;
    call.bytes = Sized(operation) ? bytes : 0;
    call.board = placement_.Nodes() != nullptr && library_.HasSteps(operation);
    return call;
  }

  Shape ShapeOf(const Call& call) const {
    Shape shape{ranks_, 0};
    shape.nodes = placement_.nodes;
    shape.hierarchy = placement_.Seen(call);
    return shape;
  }

  double CostUs(const Algorithm& algorithm, const Call& call) const {
    return algorithm.cost_us(call, ShapeOf(call), placement_.link);
  }

  const Algorithm* Chosen(Operation operation, std::int64_t bytes) const {
    const Call call = CallOf(operation, bytes);
    return library_.Choose(call, ShapeOf(call), placement_.link);
  }

  std::string Why(Operation operation, std::int64_t bytes, const Algorithm* chosen) const {
    const Call call = CallOf(operation, bytes);
    if (library_.Named(operation) == chosen) return "named by parameter";
    const Algorithm* next = nullptr;
    double next_us = 0;
    for (const Algorithm* other : library_.Offered(operation)) {
      if (other == chosen || other->inter || !other->fits(call, ShapeOf(call))) continue;
      const double us = CostUs(*other, call);
      if (next != nullptr && us >= next_us) continue;
      next = other;
      next_us = us;
    }
    if (next == nullptr) return "nothing else fits";
    const double factor = next_us / CostUs(*chosen, call);
    if (!std::isfinite(factor) || factor < 1.005) return Format("as good as %s", next->name);
    return Format("%s takes %.2f times as long", next->name, factor);
  }

  const Library& library_;
  const Placement& placement_;
  const Rank ranks_;
};

// The operations under a heading; the empty text if there are none.
std::string ListText(const OperationSet& operations, const char* heading) {
  std::string names;
  for (std::size_t i = 0; i < kOperations; ++i)
    if (const auto operation = static_cast<Operation>(i); operations.Has(operation))
      names += std::string(names.empty() ? "" : ", ") + Name(operation);
  return names.empty() ? "" : Format("\n%s:\n%s\n", heading, names.c_str());
}

}  // namespace

Result<std::string> Explain(const Library& library, Rank ranks, Rank per_node) {
  if (ranks < 2 || per_node < 1)
    return Error(Code::kInvalid, "it takes at least 2 ranks, and 1 on each node");
  const Placement placement =
      library.Place(ranks, Partition::Blocks(ranks, std::min(ranks, per_node)),
                    [](Rank rank) { return static_cast<std::uint32_t>(rank); });

  std::string text =
      Format("%d ranks on %d node%s\n", ranks, placement.nodes, placement.nodes == 1 ? "" : "s");
  if (placement.hierarchy != nullptr)
    for (const Level& level : placement.hierarchy->levels)
      text += Format("  %-7s %d groups of up to %d, within them %s\n", level.name,
                     level.groups.groups(), level.groups.largest(), LinkText(level.link).c_str());
  text += Format("  %-7s %s\n\n", placement.hierarchy != nullptr ? "between" : "all",
                 LinkText(placement.link).c_str());
  text += Format("%-21s %-10s %-18s %-16s %s\n", "operation", "bytes", "algorithm", "predicted us",
                 "why");
  const Table table(library, placement, ranks);
  for (std::size_t i = 0; i < kOperations; ++i)
    if (!Neighbourly(static_cast<Operation>(i))) table.Add(static_cast<Operation>(i), &text);
  for (const Meeter& meeter : library.meeters()) {
    if (placement.nodes == 1) text += ListText(meeter.calls, meeter.offer.calls_heading);
    if (placement.Nodes() != nullptr) text += ListText(meeter.steps, meeter.offer.steps_heading);
  }
  return text;
}

}  // namespace lamina::collective
