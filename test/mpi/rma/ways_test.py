#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   one-sided communication is right with 1, 2, 3, 4 and 8 ranks on one host, whatever the host
        allows: memory that is shared, copied, or neither; each transport alone; no thread that serves.
Method: the programs of this folder under parameters and under a kernel that refuses system calls.
        Programs, ways and numbers of ranks take turns; --whole runs all of them with each other.

usage: ways_test.py MPIEXEC FORBID [--whole] PROGRAM..."""

import itertools
import os
import subprocess
import sys
import time

RANKS = [8, 3, 1, 4, 2]
TIME_LIMIT_S = 200


def parameters(*settings):
    return [word for setting in settings for word in ("--param", setting)]


# What the launcher gets, and which system calls the kernel refuses.
WAYS = {
    "auto": ([], ""),
    "copied": (parameters("rma.path=copied"), ""),
    "framed": (parameters("rma.path=framed"), ""),
    "no memory of others": ([], "process_vm_readv,process_vm_writev"),
    "no anonymous files": ([], "memfd_create"),
    "neither": ([], "process_vm_readv,process_vm_writev,memfd_create"),
    "no agent": (parameters("rma.path=framed", "rma.agent=never"), ""),
    "shm alone": (parameters("rma.path=framed", "transport.include=self,shm"), ""),
    "ucx alone": (parameters("rma.path=framed", "transport.include=self,ucx"), ""),
    "device": (parameters("rma.path=framed", "transport.include=self,ucx", "transport.ucx.one_sided=on"), ""),
    "small rings": (parameters("rma.path=framed", "transport.shm.ring_cells=2",
                               "transport.shm.area_bytes=512"), ""),
}


def run(mpiexec, forbid, way, ranks, program):
    """"": it went well; else what was printed."""
    words, refused = WAYS[way]
    line = [mpiexec, "--oversubscribe", "-n", str(ranks), *words, program]
    if refused:
        line = [forbid, refused, *line]
    try:
        done = subprocess.run(line, check=False, text=True, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_S,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as late:
        return "not done after %d s: %s" % (TIME_LIMIT_S, late.stdout or "")
    return "" if done.returncode == 0 else "exit status %d\n%s" % (done.returncode, done.stdout)


def plan(programs, whole):
    """What runs: (way, ranks, program)."""
    if whole:
        return list(itertools.product(WAYS, RANKS, programs))
    return [(way, RANKS[turn % len(RANKS)], programs[turn % len(programs)]) for turn, way in enumerate(WAYS)]


def main():
    mpiexec, forbid, *programs = sys.argv[1:]
    whole = "--whole" in programs
    programs = [os.path.abspath(program) for program in programs if program != "--whole"]
    failures = runs = 0
    for way, ranks, program in plan(programs, whole):
        began = time.monotonic()
        problem = run(os.path.abspath(mpiexec), os.path.abspath(forbid), way, ranks, program)
        runs += 1
        failures += 1 if problem else 0
        print("%s %5.1f s  %s with %d ranks, %s" % ("FAILED" if problem else "passed", time.monotonic() - began,
                                                 os.path.basename(program), ranks, way), flush=True)
        if problem:
            print(problem, flush=True)
    print("%d runs, %d failed" % (runs, failures))
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
