#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   collectives are right wherever the ranks are: one host, a power of two, another number of
        hosts; one rank on each, as many on each, or not; and so with every algorithm forced.
Method: the cube of processes, placements and hosts with real processes on virtual hosts of this
        machine, reached by `ip netns exec`. Each line of arguments names a program and parameters;
        they and the cells take turns until all had one; --whole runs all of them in every cell.

usage: cube_test.py [--whole | --many | --few] [PROGRAM [NAME=VALUE...] --]...
        --many: 13 and 16 hosts; --few: three hosts at most, and every program once"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

VCLUSTER = os.path.join(os.getcwd(), "test/cluster/vcluster")
NAME, PREFIX, SUBNET = "lamcub", "lc", "10.126.0"
STATE = "/run/lamina-cube"
AGENT = ["--agent", "ip netns exec %s-{host}" % NAME]
# All hosts have the same CPUs, which none of them knows; one that is slow is not lost.
SHARED_CPUS = ["--param", "p2p.wait.mode=oversubscribed",
               "--param", "launcher.shepherd.silence_ms=120000"]
TIME_LIMIT_S = 300

# The numbers of ranks on each host: hosts in {1, 2^M, 2^M + X} x placement {1, P, P_i} x ranks in {1, 2^N, 2^N + X}.
CELLS = [
    [1], [4], [5],
    [1, 1], [2, 2], [3, 1], [1, 4],
    [1, 1, 1], [2, 2, 2], [4, 3, 1], [1, 3, 1],
    [1, 1, 1, 1], [2, 2, 2, 2], [3, 1, 1, 2],
]
FEW = [[2, 2], [3, 1], [1, 1], [2, 1, 1], [1, 3]]
MANY = [[1] * 16, [2] * 16, [1, 3, 1, 2] * 4, [1] * 13, [2] * 13]


def why_not():
    """Why there can be no virtual hosts here; "": there can."""
    if os.geteuid() != 0:
        return "virtual hosts need root"
    for tool in ("ip", "nsenter"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            return tool + " is missing: third_party/install test"
    return ""


def vcluster(*arguments, check=True):
    variables = dict(os.environ, VC_NAME=NAME, VC_RUN=STATE,
                     PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    subprocess.run([VCLUSTER, *arguments], env=variables, check=check, text=True,
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=400)


def command(place, cell, program, parameters, folder="."):
    """The command line of a job in this cell, and its environment. Its files lie in a folder of the place."""
    hosts = ",".join("%s%d:%d" % (PREFIX, i + 1, ranks) for i, ranks in enumerate(cell))
    line = [os.path.join(place, "mpiexec"), *AGENT, *SHARED_CPUS, "-H", hosts, "-n", str(sum(cell))]
    for parameter in parameters:
        line += ["--param", parameter]
    line.append(os.path.join(place, program))
    # Hosts have a /tmp of their own, and share the place.
    return line, dict(os.environ, LD_LIBRARY_PATH=place,
                      TEST_TMPDIR=os.path.normpath(os.path.join(place, folder)),
                      PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")


def raise_hosts(place, sources, count):
    """Starts that many hosts, and copies the files to the place, which all of them see."""
    os.chmod(place, 0o755)
    for source in ["launcher/mpiexec", "runtime/libmpi_abi.so.1", *sources]:
        shutil.copy(os.path.realpath(source), os.path.join(place, os.path.basename(source)))
    vcluster("up", "-n", str(count), "--name", NAME, "--prefix", PREFIX, "--subnet", SUBNET,
             "--no-system", "--no-ssh")


def run(place, cell, program, parameters, folder="."):
    """"": it went well; else what was printed."""
    line, variables = command(place, cell, program, parameters, folder)
    try:
        done = subprocess.run(line, env=variables, cwd=place, check=False, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired as late:
        return "not done after %d s: %s" % (TIME_LIMIT_S, late.stdout or "")
    return "" if done.returncode == 0 else "exit status %d\n%s" % (done.returncode, done.stdout)


def variants(arguments):
    found, words = [], []
    for word in arguments:
        if word != "--":
            words.append(word)
            continue
        found.append((words[0], words[1:]))
        words = []
    return found


def plan(arguments):
    """What runs: (cell, program, parameters)."""
    option = arguments.pop(0) if arguments[0].startswith("--") else ""
    cells, tried = {"--many": MANY, "--few": FEW}.get(option, CELLS), variants(arguments)
    if option == "--whole":
        return [(cell, *variant) for cell in cells for variant in tried]
    return [(cells[turn % len(cells)], *tried[turn % len(tried)])
            for turn in range(max(len(cells), len(tried)))]


def main():
    planned = plan(sys.argv[1:])
    if why_not():
        print("SKIPPED: " + why_not())
        return 0
    place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    failures = runs = 0
    try:
        raise_hosts(place, sorted({program for _, program, _ in planned}),
                    max(len(cell) for cell, _, _ in planned))
        for cell, program, parameters in planned:
            began = time.monotonic()
            problem = run(place, cell, os.path.basename(program), parameters)
            runs += 1
            print("%-10s %5.1f s  %s %s %s" % (
                "FAILED" if problem else "passed", time.monotonic() - began,
                "+".join(map(str, cell)), os.path.basename(program), " ".join(parameters)),
                flush=True)
            if problem:
                failures += 1
                print(problem, flush=True)
    finally:
        vcluster("down", "--name", NAME, check=False)
        shutil.rmtree(place, ignore_errors=True)
    print("%d runs, %d failed" % (runs, failures))
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
