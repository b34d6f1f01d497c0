#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the profile has the regions that Fortran programs name, and not what MPI_Pcontrol hides.
Method: each program names an outer and an inner region and calls one barrier that counts.

usage: regions_test.py MPIEXEC PROGRAM...
"""

import json
import os
import subprocess
import sys

MPIEXEC, *PROGRAMS = map(os.path.abspath, sys.argv[1:])
TIME_LIMIT_S = 60
RANKS = 2


def check(program, base):
    done = subprocess.run([MPIEXEC, "--oversubscribe", "--profile=" + base, "-n", str(RANKS), program],
                          check=False, capture_output=True, text=True, timeout=TIME_LIMIT_S,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit("%s: status %d: %s" % (program, done.returncode, done.stderr))
    with open(base + ".json", encoding="utf-8") as file:
        profile = json.load(file)
    regions = {region["name"]: (region["ranks"], region["times"]) for region in profile["regions"]}
    barriers = profile["functions"]["MPI_Barrier"]["calls"]
    found = regions, barriers
    expected = {"outer": (RANKS, RANKS), "inner": (RANKS, RANKS)}, RANKS
    if found != expected:
        sys.exit("%s: %s, expected %s" % (program, found, expected))


for number, each in enumerate(PROGRAMS):
    check(each, os.path.join(os.environ["TEST_TMPDIR"], "profile%d" % number))
