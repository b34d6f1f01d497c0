#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the launcher is a PMIx server that a rank can rely on, and strangers cannot disturb it.
Method: a small PMIx client as rank checks every answer; strangers connect and keep silent."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from harness import (ACTOR, PMIX_CLIENT, TIME_LIMIT_S, LaunchCase, command, environment, main)


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

    def test_64_ranks(self):
        self.passes("exchange", ranks=64)

    def test_name_is_random_and_long(self):
        names = {self.run_job("sh", "-c", "echo $PMIX_NAMESPACE").stdout.strip() for _ in range(3)}
        self.assertEqual(len(names), 3)
        for name in names:
            self.assertRegex(name, r"\A[0-9a-f]{32}\Z")

    def test_strangers_do_not_stall_the_job(self):
        """Silent, chatty and lying connections stand at the door while ranks go through it."""
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

    def test_a_job_without_mpi_is_told_where_the_server_is(self):
        job = self.run_job(ACTOR, "say=x", ranks=2)
        self.assertEqual((job.returncode, job.stdout), (0, "x\nx\n"))


if __name__ == "__main__":
    main()
