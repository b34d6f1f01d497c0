// SPDX-License-Identifier: BSD-3-Clause
// Prints how every algorithm's schedule grows, and which one is chosen for what.
//
// usage: plan_scale [RANKS [RANKS_PER_NODE]]      default: 1048576 64
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/base/text.h"
#include "test/bench/plan-scale/growth.h"

namespace lamina::collective {
namespace {

constexpr std::int64_t kBytes = 1 << 20;

std::string Bytes(std::int64_t bytes) {
  if (bytes >= 1 << 20) return Format("%.4g MiB", static_cast<double>(bytes) / (1 << 20));
  if (bytes >= 1 << 10) return Format("%.4g KiB", static_cast<double>(bytes) / (1 << 10));
  return Format("%lld B", static_cast<long long>(bytes));
}

std::string Cell(std::int64_t value, const std::string& law) {
  return Format("%lld (%s)", static_cast<long long>(value), law.c_str());
}

void PrintGrowth(Rank ranks, Rank ranks_per_node) {
  const Library& library = Shipped();
  const Rank few = ranks / 64;
  const Machine small(library, few, ranks_per_node);
  const Machine large(library, ranks, ranks_per_node);
  printf(
      "Schedules of the busiest of a few ranks among %d, %d on a node, blocks of %lld bytes;\n"
      "in parentheses how it grows from %d ranks on. Critical path: messages one after another,\n"
      "four in a row counted as one.\n\n",
      ranks, ranks_per_node, static_cast<long long>(kBytes), few);
  const struct {
    const char* title;
    std::int64_t Growth::*value;
  } columns[] = {{"critical path", &Growth::path},
                 {"rounds", &Growth::rounds},
                 {"between nodes", &Growth::rounds_between_nodes},
                 {"messages", &Growth::messages},
                 {"bytes sent", &Growth::bytes},
                 {"plan, bytes", &Growth::plan_bytes},
                 {"scratch, bytes", &Growth::scratch_bytes}};
  printf("%-34s", "");
  for (const auto& column : columns) printf("  %-22s", column.title);
  printf("\n");
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (Neighbourly(operation)) continue;
    for (const Algorithm* algorithm : library.Offered(operation)) {
      if (algorithm->inter) continue;
      const std::string name = std::string(Name(operation)) + " " + algorithm->name;
      const auto a = Measure(*algorithm, small, few, kBytes);
      const auto b = Measure(*algorithm, large, ranks, kBytes);
      if (!a || !b) {
        printf("%-34s  fits no such call\n", name.c_str());
        continue;
      }
      printf("%-34s", name.c_str());
      for (const auto& column : columns) {
        const std::string law = Law(*a.*column.value, *b.*column.value, few, ranks);
        printf("  %-22s", Cell(*b.*column.value, law).c_str());
      }
      printf("\n");
      fflush(stdout);
    }
  }
}

// Prints where the choice changes as messages become longer.
std::string Map(const Library& library, Operation operation, const Machine& machine, Rank ranks,
                std::int64_t bytes_max) {
  std::string map;
  const char* before = "";
  for (std::int64_t bytes = 1; bytes <= bytes_max; bytes *= 2) {
    const UniformCall uniform(operation, ranks, bytes, false);
    const Algorithm* chosen = library.Choose(uniform.call(), machine.ShapeOf(0), machine.link());
    const char* name = chosen == nullptr ? "nobody" : chosen->name;
    if (std::string(name) == before) continue;
    map += map.empty() ? name : ", from " + Bytes(bytes) + " " + name;
    before = name;
  }
  return map;
}

void PrintMap(Rank ranks_max, Rank ranks_per_node) {
  const Library& library = Shipped();
  printf("\nWhat is chosen, by the length of a block or vector, 1 byte to 16 MiB:\n");
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (Neighbourly(operation)) continue;
    printf("\n%s\n", Name(operation));
    std::string before;
    for (Rank ranks = 2; ranks <= ranks_max; ranks *= 4) {
      const Machine machine(library, ranks, ranks_per_node);
      const std::string map = Map(library, operation, machine, ranks, 16 << 20);
      if (map != before) printf("  from %7d ranks: %s\n", ranks, map.c_str());
      before = map;
    }
  }
}

}  // namespace
}  // namespace lamina::collective

int main(int argc, char** argv) {
  const auto number = [&](int index, std::int64_t usual) {
    return argc > index ? lamina::ParseInteger(argv[index]).value_or(0) : usual;
  };
  const std::int64_t ranks = number(1, 1 << 20);
  const std::int64_t ranks_per_node = number(2, 64);
  if (ranks < 128 || ranks > 1 << 24 || ranks_per_node < 1 || ranks_per_node > ranks) {
    fprintf(stderr, "usage: plan_scale [RANKS [RANKS_PER_NODE]], at least 128 ranks\n");
    return 2;
  }
  lamina::collective::PrintGrowth(static_cast<lamina::Rank>(ranks),
                                  static_cast<lamina::Rank>(ranks_per_node));
  lamina::collective::PrintMap(static_cast<lamina::Rank>(ranks),
                               static_cast<lamina::Rank>(ranks_per_node));
  return 0;
}
