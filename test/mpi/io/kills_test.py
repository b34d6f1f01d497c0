#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a rank that is killed in any round of an exchange on several hosts ends the job soon, with a message
        that names it, and leaves no process and no file but the program's own.
Method: two virtual hosts of two ranks, of which the first on each moves data for others; faults.c says how a rank
        is killed.

usage: kills_test.py FAULTS"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.getcwd(), "test/mpi/collective"))
import cube_test as hosts  # noqa: E402

CELL = [2, 2]
END_LIMIT_S = 120
LEFT_LIMIT_S = 30

# Who kills whom: each kind of access, each round, ranks that move data and others, on both hosts.
CASES = [("together", direction, killer, victim, call)
         for direction in ("write", "read") for killer, victim in ((0, 0), (2, 2), (2, 3)) for call in (1, 2, 4)]
CASES += [("later", "write", 2, 2, 3), ("later", "read", 0, 1, 3),
          ("together-split", "write", 0, 1, 3), ("together-split", "read", 2, 2, 3)]
# The first rank keeps the shared pointer, which others ask for by messages.
CASES += [(way, direction, killer, victim, call)
          for way in ("nonblocking", "shared", "ordered")
          for direction, call in (("write", 2), ("read", 1)) for killer, victim in ((0, 0), (2, 3))]


def processes(place):
    """The processes that run a program of the place."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/exe" % entry).startswith(place + "/"):
                found.append(entry)
        except OSError:
            pass
    return found


def problem_of(place, folder, case):
    """What went wrong; "": nothing."""
    way, direction, killer, victim, call = case
    line, variables = hosts.command(place, CELL, "faults_program", [])
    line += ["killed", os.path.join(folder, "a"), way, direction, str(killer), str(victim), str(call)]
    try:
        done = subprocess.run(line, env=variables, cwd=place, check=False, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired as late:
        return "not done after %d s: %s" % (END_LIMIT_S, late.stdout or "")
    wanted = "rank %d on %s%d was killed by signal 9" % (victim, hosts.PREFIX, victim // 2 + 1)
    if done.returncode != 137 or wanted not in done.stdout:
        return "exit status %d, without the words \"%s\":\n%s" % (done.returncode, wanted, done.stdout)
    deadline = time.monotonic() + LEFT_LIMIT_S
    while processes(place) and time.monotonic() < deadline:
        time.sleep(0.05)  # tidy: sleep: processes that were killed may take a moment to be gone
    left = os.listdir(folder)
    if processes(place) or left != ["a"]:
        return "left behind: processes %s, files %s" % (processes(place), left)
    os.remove(os.path.join(folder, "a"))
    return ""


def main():
    if hosts.why_not():
        print("SKIPPED: " + hosts.why_not())
        return 0
    place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    folder = os.path.join(place, "files")
    failures = 0
    try:
        hosts.raise_hosts(place, sys.argv[1:], len(CELL))
        for case in CASES:
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
            problem = problem_of(place, folder, case)
            print("%s %s: rank %d kills %d in round %d: %s" % (*case, problem or "passed"), flush=True)
            failures += problem != ""
    finally:
        hosts.vcluster("down", "--name", hosts.NAME, check=False)
        shutil.rmtree(place, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
