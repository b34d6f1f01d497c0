#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   one start after the other leaves nothing behind, however they end.
Method: STARTS jobs in a row, in turn of each kind: not MPI at all, PMIx clients, MPI programs, a rank
        that is killed. Then no process of theirs is there, and no file, segment, semaphore or mount
        that was not there before, but for what others have and give back."""

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

STARTS = int(os.environ["STARTS"])
LAZY = os.path.join(harness.ROOT, "test/launch/lazy")
# What is run, with how many ranks, and how it ends.
KINDS = (
    (("true",), 1, 0),
    ((harness.PMIX_CLIENT, "exchange"), 2, 0),
    ((LAZY, "0"), 3, 0),
    ((harness.ACTOR, "at=1", "die=9", "at=0", "wait"), 2, 128 + signal.SIGKILL),
)


def possessions():
    """What outlives a process, by name."""
    found = set(harness.lamina_files())
    found.update("/dev/shm/" + name for name in os.listdir("/dev/shm"))
    for table in ("shm", "sem", "msg"):
        with open("/proc/sysvipc/" + table, encoding="ascii") as file:
            found.update("%s %s" % (table, line.split()[1]) for line in list(file)[1:])
    with open("/proc/self/mounts", encoding="utf-8") as file:
        found.update("mount " + line.split()[1] for line in file)
    return found


class Repeated(harness.LaunchCase):
    def test_starts_leave_nothing(self):
        before = possessions()
        for start in range(STARTS):
            arguments, ranks, status = KINDS[start % len(KINDS)]
            job = self.run_job(*arguments, ranks=ranks)
            self.assertEqual(job.returncode, status, "start %d: %s" % (start, job.stderr))
        left = possessions() - before
        harness.wait_until(lambda: not left & possessions())
        self.assertEqual(left & possessions(), set())


if __name__ == "__main__":
    harness.main()
