// SPDX-License-Identifier: BSD-3-Clause
// The process that the suite saves and revives. It answers each line that it reads with the number
// of lines it has read; with a word as its argument it also has what that word says.
//
//   plain     nothing more than a thread, a memfd and a listening socket
//   unpaired  one half of a UNIX stream, which no engine can save
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::thread([] { pause(); }).detach();
  const int memory = memfd_create("subject", 0);
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  if (memory < 0 || ftruncate(memory, 1 << 20) != 0 || listen(listening, 1) != 0) return 3;
  int pair[2];
  if (std::strcmp(argv[1], "unpaired") == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return 3;
  // The other half leaves by a child, so that this process has but one.
  if (std::strcmp(argv[1], "unpaired") == 0) {
    if (fork() == 0) {
      setsid();
      close(STDIN_FILENO);
      close(STDOUT_FILENO);
      if (fork() != 0) _exit(0);
      close(pair[0]);
      char byte;
      _exit(read(pair[1], &byte, 1) == 0 ? 0 : 1);
    }
    close(pair[1]);
  }
  char line[64];
  for (int count = 1; fgets(line, sizeof line, stdin) != nullptr; ++count) {
    printf("%d\n", count);
    fflush(stdout);
  }
  return 0;
}
