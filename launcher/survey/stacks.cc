// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/stacks.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

#include "launcher/plan/display.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// eu-stack is quicker and disturbs a process for less time. Both may wait for a process that the
// kernel does not stop, so they are given a limit.
constexpr const char* kCommand =
    "process=%d; if command -v eu-stack > /dev/null; then timeout %d eu-stack -p $process; "
    "elif command -v gdb > /dev/null; then timeout %d gdb -nx -batch -p $process "
    "-ex 'thread apply all backtrace'; "
    "else echo 'neither eu-stack nor gdb is here: install elfutils or gdb'; fi 2>&1";

std::string FileName(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

// "#1  0x00007f12 in Solve (n=3) at src/solve.c:12" becomes "Solve at solve.c:12"; eu-stack writes
// "#1  0x00007f12 - 1 Solve@@VERSION".
std::string FrameOf(std::string_view line) {
  std::string_view rest = Trim(line.substr(std::min(line.find(' '), line.size())));
  if (rest.starts_with("0x")) rest = Trim(rest.substr(std::min(rest.find(' '), rest.size())));
  for (const std::string_view word : {"in ", "- 1 "})
    if (rest.starts_with(word)) rest = Trim(rest.substr(word.size()));
  std::string_view name = rest.substr(0, rest.find(" ("));
  name = name.substr(0, name.find('@'));
  const std::size_t place = rest.rfind(" at ");
  std::string frame(name.empty() ? "??" : name);
  if (place != rest.npos && rest.find(" (") < place)
    frame += " at " + FileName(rest.substr(place + 4));
  return frame;
}

// Returns the kernel's number of the thread that a line announces; 0: it announces none.
pid_t ThreadIn(std::string_view line) {
  std::string_view number;
  if (line.starts_with("TID "))
    number = line.substr(4);
  else if (const std::size_t found = line.find("LWP ");
           line.starts_with("Thread ") && found != line.npos)
    number = line.substr(found + 4);
  number = number.substr(0, number.find_first_not_of("0123456789"));
  return static_cast<pid_t>(ParseInteger(number).value_or(0));
}

// Adds the frames from `depth` on of stacks that are equal up to there.
void AddBranches(const std::vector<const Stack*>& stacks, std::size_t depth, std::size_t indent,
                 std::string* text) {
  std::map<std::string, std::vector<const Stack*>> branches;
  for (const Stack* stack : stacks)
    if (depth < stack->frames.size()) branches[stack->frames[depth]].push_back(stack);
  std::vector<std::pair<std::string, std::vector<const Stack*>>> order(branches.begin(),
                                                                       branches.end());
  std::ranges::stable_sort(order, std::greater{},
                           [](const auto& branch) { return branch.second.size(); });
  for (const auto& [frame, members] : order) {
    std::vector<std::uint32_t> ranks;
    for (const Stack* stack : members) ranks.push_back(stack->rank);
    const bool parts = members.size() < stacks.size() || depth == 0;
    *text += std::string(indent, ' ') + (parts ? Ranges(ranks) + ": " : "") + frame + "\n";
    AddBranches(members, depth + 1, indent + 2, text);
  }
}

// The last words of a tool that has shown no stack.
std::string Complaint(std::string_view printed) {
  std::string said = "no stack was shown";
  for (const std::string_view line : Split(printed, '\n')) {
    if (Trim(line).empty()) continue;
    said = std::string(Trim(line));
    if (said.find("ermitted") != said.npos || said.find("ptrace") != said.npos) break;
  }
  return said;
}

}  // namespace

std::vector<ProcessSeen> RanksOf(std::span<const ProcessSeen> seen, std::string_view job) {
  std::vector<ProcessSeen> ranks;
  const auto of_job = [&](const ProcessSeen& each) {
    return each.of_rank && each.job == job && each.state != 'Z';
  };
  for (const ProcessSeen& each : seen) {
    if (!of_job(each)) continue;
    const bool has_mpi = std::ranges::any_of(seen, [&](const ProcessSeen& other) {
      return of_job(other) && other.rank == each.rank && other.has_mpi;
    });
    const bool has_child = std::ranges::any_of(seen, [&](const ProcessSeen& other) {
      return of_job(other) && other.parent == each.process;
    });
    if (has_mpi ? each.has_mpi : !has_child) ranks.push_back(each);
  }
  return ranks;
}

Frames FirstStackIn(std::string_view printed, pid_t process) {
  Frames frames;
  pid_t thread = process;  // a tool may not announce the only one
  for (const std::string_view line : Split(printed, '\n')) {
    if (const pid_t announced = ThreadIn(line); announced != 0) thread = announced;
    if (line.starts_with("#") && thread == process) frames.push_back(FrameOf(line));
  }
  std::ranges::reverse(frames);
  return frames;
}

std::string Merged(std::span<const Stack> stacks) {
  std::vector<const Stack*> order;
  for (const Stack& stack : stacks) order.push_back(&stack);
  std::ranges::stable_sort(order, {}, [](const Stack* stack) { return stack->rank; });
  std::string text;
  AddBranches(order, 0, 0, &text);
  for (const Stack* stack : order)
    if (stack->frames.empty())
      text += std::to_string(stack->rank) + ": no stack: " + stack->why_not + "\n";
  return text;
}

std::string Encode(const Stack& stack) {
  std::string text = Format("rank %u\n", stack.rank);
  for (const std::string& frame : stack.frames) text += "frame " + frame + "\n";
  if (stack.frames.empty()) text += "failed " + stack.why_not + "\n";
  return text;
}

std::vector<Stack> DecodeStacks(std::string_view text) {
  std::vector<Stack> stacks;
  for (const std::string_view line : Split(text, '\n')) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    const std::string_view rest = line.substr(std::min(space + 1, line.size()));
    if (word == "rank")
      stacks.push_back({static_cast<std::uint32_t>(ParseInteger(rest).value_or(0)), {}, ""});
    else if (word == "frame" && !stacks.empty())
      stacks.back().frames.emplace_back(rest);
    else if (word == "failed" && !stacks.empty())
      stacks.back().why_not = std::string(rest);
  }
  return stacks;
}

int ShowStacksHere(const std::string& job) {
  const std::vector<ProcessSeen> ranks = RanksOf(LookAtProcesses(), job);
  for (std::size_t begin = 0; begin < ranks.size(); begin += kStacksAtOnce) {
    const std::size_t end = std::min(ranks.size(), begin + kStacksAtOnce);
    std::vector<FILE*> pipes;
    for (std::size_t i = begin; i < end; ++i)
      pipes.push_back(
          popen(Format(kCommand, ranks[i].process, kStackSeconds, kStackSeconds).c_str(), "re"));
    for (std::size_t i = begin; i < end; ++i) {
      std::string printed;
      char piece[4096];
      FILE* const pipe = pipes[i - begin];
      while (pipe != nullptr && fgets(piece, sizeof piece, pipe) != nullptr) printed += piece;
      if (pipe != nullptr) pclose(pipe);
      Stack stack{ranks[i].rank, FirstStackIn(printed, ranks[i].process), ""};
      if (stack.frames.empty()) stack.why_not = Complaint(printed);
      fputs(Encode(stack).c_str(), stdout);
    }
  }
  fflush(stdout);
  return ranks.empty() ? 1 : 0;
}

}  // namespace lamina::launcher
