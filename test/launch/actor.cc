// SPDX-License-Identifier: BSD-3-Clause
// A rank that does what the tests of the launcher ask for, without any MPI.
//
//   actor STEP...          steps are done one after the other; every one is WORD or WORD=VALUE
//     exit=N               leave with status N
//     die=N                die by signal N
//     at=R                 the steps that follow are for rank R alone (at=any: for all again)
//     wait                 sleep until a signal ends it
//     pause=MS             wait MS milliseconds
//     say=TEXT             write TEXT and a line break to standard output
//     text=TEXT            the same without the line break
//     lines=N              write N lines "line I of rank R", each in two pieces
//     long=N               write one line of N bytes
//     flood                write lines until it fails; then leave with 3
//     copy                 copy standard input to standard output
//     swallow              read standard input to its end and say how many bytes there were
//     slowly               the same, a little at a time
//     heed=N               on signal N say "got N" and leave with 40 + N % 40
//     hear=N               on signal N say "got N" and go on
//     deaf=N               ignore signal N
//     child                leave a child behind in the same process group
//     stray                leave a grandchild behind in a session of its own
//     headless             leave such a one behind that has ended its first thread and has a child
//     run=MS               leave such a one behind that goes on by forking and ending for so long
//     fd                   say which descriptors above 2 are open
//     in=CALL, phase=N     note in the event ring what the MPI library would: "in=MPI_Recv"
#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"

namespace lamina {
namespace {

const char* rank_text = "?";

void WriteAll(const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t done = write(1, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) _exit(3);
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
}

void Say(const char* text) {
  char line[512];
  const int bytes = snprintf(line, sizeof line, "%s\n", text);
  WriteAll(line, static_cast<std::size_t>(bytes));
}

void SayGot(int signal) {
  char line[] = "got ..\n";
  line[4] = static_cast<char>('0' + signal / 10);
  line[5] = static_cast<char>('0' + signal % 10);
  WriteAll(line, 7);
}

void Heed(int signal) {
  SayGot(signal);
  _exit(40 + signal % 40);
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

// ThreadSanitizer puts handlers off until a call that it knows to block; a signal that comes just
// before the call waits for the next, so none lasts for ever.
[[noreturn]] void WaitForSignals() {
  for (;;) poll(nullptr, 0, 100);
}

void Lines(long count) {
  char line[128];
  for (long i = 0; i < count; ++i) {
    const int bytes = snprintf(line, sizeof line, "line %ld of rank %s\n", i, rank_text);
    WriteAll(line, 7);
    WriteAll(line + 7, static_cast<std::size_t>(bytes) - 7);
  }
}

void Long(std::size_t count) {
  const std::string line = std::string(count, static_cast<char>('a' + atoi(rank_text) % 26)) + "\n";
  WriteAll(line.data(), line.size());
}

void Copy(bool say_only, int pause_ms) {
  static char bytes[65536];
  std::size_t total = 0;
  for (;;) {
    const ssize_t count = read(0, bytes, pause_ms > 0 ? 4096 : sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    total += static_cast<std::size_t>(count);
    if (!say_only) WriteAll(bytes, static_cast<std::size_t>(count));
    if (pause_ms > 0) poll(nullptr, 0, pause_ms);
  }
  if (!say_only) return;
  char text[64];
  snprintf(text, sizeof text, "%zu bytes", total);
  Say(text);
}

void LeaveBehind(bool own_session) {
  if (fork() != 0) return;
  if (own_session) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  for (int signal = 1; signal < 32; ++signal) Handle(signal, SIG_IGN);
  WaitForSignals();
}

// Its parent's process table entry says that the process has ended.
void LeaveHeadless() {
  if (fork() != 0) return;
  setsid();
  std::thread([] {
    if (fork() == 0) WaitForSignals();
    Say("headless");
    WaitForSignals();
  }).detach();
  syscall(SYS_exit, 0);
}

// A chain of processes, each of which forks the next one and ends; the last one stays. It runs for
// so many ms.
void Run(const char* ms) {
  if (fork() != 0) return;
  setsid();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(atoi(ms));
  while (std::chrono::steady_clock::now() < end)
    if (fork() != 0) _exit(0);
  WaitForSignals();
}

void Descriptors(void) {
  DIR* open_now = opendir("/proc/self/fd");
  for (const dirent* entry; (entry = readdir(open_now)) != nullptr;) {
    int fd = atoi(entry->d_name);
    char path[64], target[256] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 3 || fd == dirfd(open_now) || readlink(path, target, sizeof target - 1) < 0) continue;
    Say(target);
  }
  closedir(open_now);
}

// Notes it as the MPI library does: see runtime/base/event_ring.h.
EventRing* Ring() {
  static bool adopted = false;
  const char* fd = getenv("LAMINA_EVENT_FD");
  if (!adopted && fd != nullptr) AdoptEventRing(atoi(fd));
  adopted = true;
  return CurrentEventRing();
}

void Enter(const char* name) {
  for (std::uint32_t number = 1; number < static_cast<std::uint32_t>(Call::kCount); ++number) {
    if (strcmp(NameOf(static_cast<Call>(number)), name) != 0) continue;
    Ring()->call = number;
    Ring()->inside = 1;
    return;
  }
  exit(97);
}

struct Step {
  const char* word;
  void (*act)(const char* value);
};

const Step kSteps[] = {
    {"exit", [](const char* value) { exit(atoi(value)); }},
    {"die",
     [](const char* value) {
       Handle(atoi(value), SIG_DFL);
       raise(atoi(value));
     }},
    {"wait", [](const char*) { WaitForSignals(); }},
    {"pause", [](const char* value) { poll(nullptr, 0, atoi(value)); }},
    {"say", [](const char* value) { Say(value); }},
    {"text", [](const char* value) { WriteAll(value, strlen(value)); }},
    {"lines", [](const char* value) { Lines(atol(value)); }},
    {"long", [](const char* value) { Long(static_cast<std::size_t>(atol(value))); }},
    {"flood",
     [](const char*) {
       for (;;) Lines(1000);
     }},
    {"copy", [](const char*) { Copy(false, 0); }},
    {"swallow", [](const char*) { Copy(true, 0); }},
    {"slowly", [](const char*) { Copy(true, 1); }},
    {"heed", [](const char* value) { Handle(atoi(value), Heed); }},
    {"hear", [](const char* value) { Handle(atoi(value), SayGot); }},
    {"deaf", [](const char* value) { Handle(atoi(value), SIG_IGN); }},
    {"child", [](const char*) { LeaveBehind(false); }},
    {"stray", [](const char*) { LeaveBehind(true); }},
    {"headless", [](const char*) { LeaveHeadless(); }},
    {"run", Run},
    {"fd", [](const char*) { Descriptors(); }},
    {"in", [](const char* value) { Enter(value); }},
    {"phase", [](const char* value) { Ring()->phase = static_cast<std::uint32_t>(atoi(value)); }},
};

void Do(std::string_view word, const char* value) {
  for (const Step& step : kSteps)
    if (word == step.word) return step.act(value);
  fprintf(stderr, "actor: unknown step %.*s\n", static_cast<int>(word.size()), word.data());
  exit(98);
}

}  // namespace
}  // namespace lamina

int main(int argc, char** argv) {
  const char* rank = getenv("PMIX_RANK");
  if (rank != nullptr) lamina::rank_text = rank;
  bool mine = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view step = argv[i];
    const std::string_view word = step.substr(0, step.find('='));
    const char* value = word.size() == step.size() ? "" : argv[i] + word.size() + 1;
    if (word == "at")
      mine = std::string_view(value) == "any" || std::string_view(value) == lamina::rank_text;
    else if (mine)
      lamina::Do(word, value);
  }
  return 0;
}
