/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command several times and prints how many milliseconds of wall clock each time took.
 *
 * usage: stopwatch TIMES SECONDS_MAX COMMAND...
 * It ends with status 1 at the first time that fails or takes longer than SECONDS_MAX.
 *
 * This is a program of its own because `run` would add the time that Python needs to start a
 * process, and the pauses between its looks at a process that it waits for with a limit. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMsToEnd = 5000 };
extern char** environ;

static double NowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Returns the milliseconds that the command took, or -1 if it failed or took too long. */
static double CommandMs(char** words, int ms_max) {
  posix_spawnattr_t alone; /* a session of its own, so that all of it can be killed */
  posix_spawnattr_init(&alone);
  posix_spawnattr_setflags(&alone, POSIX_SPAWN_SETSID);
  pid_t process = 0;
  int status = 0;
  const double start = NowMs();
  if (posix_spawnp(&process, words[0], NULL, &alone, words, environ) != 0) {
    perror(words[0]);
    return -1;
  }
  struct pollfd end = {(int)syscall(SYS_pidfd_open, process, 0), POLLIN, 0};
  const int in_time = poll(&end, 1, ms_max);
  const double took = NowMs() - start;
  if (in_time != 1) {
    kill(-process, SIGTERM);
    poll(&end, 1, kMsToEnd);
    kill(-process, SIGKILL);
  }
  waitpid(process, &status, 0);
  close(end.fd);
  posix_spawnattr_destroy(&alone);
  if (in_time != 1) fputs("hung\n", stderr);
  if (in_time == 1 && status != 0) fprintf(stderr, "%s: status %#x\n", words[0], status);
  return in_time == 1 && status == 0 ? took : -1;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  for (int left = atoi(argv[1]); left > 0; --left) {
    const double took = CommandMs(argv + 3, 1000 * atoi(argv[2]));
    if (took < 0) return 1;
    printf("%.4g\n", took);
    fflush(stdout);
  }
  return 0;
}
