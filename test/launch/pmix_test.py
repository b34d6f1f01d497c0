#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the launcher is a PMIx server that a rank can rely on, and strangers cannot disturb it.
Method: a small PMIx client as rank checks every answer; strangers connect and keep silent."""

import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from harness import (ACTOR, PMIX_CLIENT, TIME_LIMIT_S, LaunchCase, command, environment, main)


# A greeting of PMIx: header (index and tag -1, bytes that follow), then words with their zeros.
ATTACK = r"""
import random, socket, sys
dice = random.Random(int(sys.argv[1]))
for _ in range(1000):
    words = [b"native", b"0" * 32, b"\0\0\0\1", b"4.2.2", b"v20", b"hash,ds21",
             bytes(dice.randrange(256) for _ in range(40))]
    body = b"\0".join(dice.sample(words, dice.randrange(1, len(words) + 1)))
    size = dice.choice([len(body), 0, 1, 255, 1 << 16, 1 << 31, (1 << 64) - 1, dice.randrange(1 << 20)])
    greeting = bytearray(b"\xff" * 8 + size.to_bytes(8, "little") + body)
    for _ in range(dice.randrange(4)):
        greeting[dice.randrange(len(greeting))] = dice.randrange(256)
    for port in map(int, sys.argv[2:]):
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            try:
                stranger.sendall(bytes(greeting))
                if dice.randrange(2):
                    stranger.shutdown(socket.SHUT_WR)
            except OSError:
                pass
"""


def listening_ports(pid):
    """The TCP ports on which the process listens."""
    sockets = set()
    for name in os.listdir("/proc/%d/fd" % pid):
        target = os.readlink("/proc/%d/fd/%s" % (pid, name))
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    with open("/proc/%d/net/tcp" % pid, encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return sorted(int(row[1].rsplit(":", 1)[1], 16) for row in rows if row[3] == "0A" and row[9] in sockets)


class Server(LaunchCase):
    def passes(self, *steps, ranks=4, options=()):
        job = self.run_job(PMIX_CLIENT, *steps, ranks=ranks, options=options)
        self.assertEqual((job.returncode, job.stderr), (0, ""))
        return job.stdout

    def test_exchange(self):
        for ranks in (1, 2, 7):
            self.passes("exchange", ranks=ranks)

    def test_exchange_with_the_server_started_early(self):
        self.passes("exchange", options=["--param", "launcher.pmix.start=early"])

    def test_get_waits_for_a_late_commit(self):
        self.passes("late")

    def test_names(self):
        self.passes("names")

    def test_what_a_rank_learns(self):
        lines = self.passes("job", ":", "-n", "2", PMIX_CLIENT, "job", ranks=1).splitlines()
        told = {int(re.match(r"rank (\d)", line).group(1)): line for line in lines}
        for rank in range(3):
            self.assertRegex(told[rank], r"rank %d of 3, universe \d+, app %d, local rank %d, "
                             "peers 0,1,2" % (rank, min(rank, 1), rank))

    @unittest.skipUnless(shutil.which("mpicc.openmpi"), "Open MPI 4 is not installed")
    def test_open_mpi_4(self):
        """Joins the job if it is told of a launcher that it knows (launcher/pmix/README.md)."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "sum")
            with open(program + ".c", "w", encoding="ascii") as file:
                file.write('#include <mpi.h>\n#include <stdio.h>\nint main(int argc, char** argv) {\n'
                           "  int rank, sum = 0;\n  MPI_Init(&argc, &argv);\n"
                           "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                           "  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
                           '  printf("%d: %d\\n", rank, sum);\n  return MPI_Finalize();\n}\n')
            subprocess.run(["mpicc.openmpi", "-o", program, program + ".c"], check=True)
            job = self.run_job(program, ranks=4, options=["-x", "JSM_JSRUN_PORT=none"])
        self.assertEqual((job.returncode, job.stderr), (0, ""))
        self.assertEqual(sorted(job.stdout.splitlines()), ["%d: 6" % rank for rank in range(4)])

    def test_abort(self):
        job = self.run_job(PMIX_CLIENT, "abort", ranks=3)
        self.assertEqual(job.returncode, 9)
        self.assertRegex(job.stderr, r"mpiexec: rank 1 on \S+ called PMIx_Abort with code 9: "
                         "no more; the job was ended")
        self.assertEqual(job.stderr.count("mpiexec:"), 1)

    def test_spawn_is_refused_once_and_clearly(self):
        job = self.run_job(PMIX_CLIENT, "refuse", ranks=2)
        self.assertEqual(job.returncode, 0)
        self.assertEqual(job.stderr.count("not yet"), 1, job.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs namespaces")
    def test_network_that_is_down(self):
        # The server before the ranks, which would fail as well and might be the first.
        line = command(PMIX_CLIENT, "names", ranks=2,
                       options=["--param", "launcher.pmix.start=early"])
        job = subprocess.run(["unshare", "-n", *line], check=False, capture_output=True, text=True,
                             timeout=TIME_LIMIT_S, env=environment(self.mark))
        self.assertEqual(job.returncode, 1)
        self.assertRegex(job.stderr, r"mpiexec: cannot start the PMIx server: .*; the network "
                                     r"interface lo is down \(ip link set lo up\)\n")
        self.assertNotRegex(job.stderr, r"(?m)^\[\S+:\d+\] ")  # what libpmix logs

    def test_64_ranks(self):
        self.passes("exchange", ranks=64)

    def test_name_is_random_and_long(self):
        names = {self.run_job("sh", "-c", "echo $PMIX_NAMESPACE").stdout.strip() for _ in range(3)}
        self.assertEqual(len(names), 3)
        for name in names:
            self.assertRegex(name, r"\A[0-9a-f]{32}\Z")

    def test_strangers_do_not_stall_the_job(self):
        """Silent, chatty and lying connections stand at the gatekeeper while ranks go through it."""
        process = self.start_job("sh", "-c", "echo $PMIX_SERVER_URI2; read go; exec %s exchange"
                                 % PMIX_CLIENT, ranks=4, options=["--stdin", "all"], stdin=-1)
        port = int(process.stdout.readline().decode().strip().rsplit(":", 1)[1])
        for words in (b"", b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 8 + b"\x20" + b"\0" * 7 + b"x" * 32,
                      b"\xff" * 8 + b"\x20\0\0"):
            for _ in range(5):
                stranger = socket.create_connection(("127.0.0.1", port))
                self.addCleanup(stranger.close)
                stranger.sendall(words)
        begin = time.monotonic()
        process.stdin.write(b"go\n" * 4)
        process.stdin.flush()
        self.assertEqual(process.wait(20), 0)
        self.assertLess(time.monotonic() - begin, 4.0)
        self.assertEqual(process.stderr.read(), b"")

    @unittest.skipUnless(os.geteuid() == 0, "only user 0 can become another user")
    def test_another_user_cannot_end_the_job(self):
        """A thousand greetings, mutated, at every port on which mpiexec listens, libpmix's own among them."""
        process = self.start_job("sh", "-c", "echo; read go; exec %s exchange" % PMIX_CLIENT, ranks=2,
                                 options=["--stdin", "all", "--param", "launcher.pmix.start=early"],
                                 stdin=-1)
        process.stdout.readline()
        ports = listening_ports(process.pid)
        self.assertEqual(len(ports), 2, "the door and libpmix's own")
        seed = random.randrange(1 << 32)
        attack = subprocess.run([sys.executable, "-c", ATTACK, str(seed), *map(str, ports)], check=False,
                                user="nobody", capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual((attack.returncode, attack.stderr), (0, ""))
        process.stdin.write(b"go\n" * 2)
        process.stdin.flush()
        self.assertEqual(process.wait(20), 0, "seed %d" % seed)
        self.assertEqual(process.stderr.read(), b"")

    def test_a_job_without_mpi_is_told_where_the_server_is(self):
        job = self.run_job(ACTOR, "say=x", ranks=2)
        self.assertEqual((job.returncode, job.stdout), (0, "x\nx\n"))


if __name__ == "__main__":
    main()
