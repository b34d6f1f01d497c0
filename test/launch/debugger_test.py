#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   debuggers find the ranks of a job that they start and of one that runs, on this host and over ssh, and
        hold them before main; `mpiexec --gdb` debugs one rank on a terminal.
Method: gdb plays the parallel debugger: it sets what the interface prescribes, stops where it must, and reads the
        table. A terminal of tmux is typed into and looked at.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from harness import LaunchCase, MPIEXEC, ROOT, environment, wait_until

STUCK = os.path.join(ROOT, "test/launch/stuck")
AGENT = os.path.join(os.environ["TEST_TMPDIR"], "agent")

# What the tool looks at, with casts because mpiexec need not have debugging information.
TABLE = """
set $size = *(int*)&MPIR_proctable_size
printf "size %d\\n", $size
set $i = 0
while $i < $size
  set $entry = *(char**)&MPIR_proctable + $i * 24
  printf "rank %d host %s program %s pid %d\\n", $i, *(char**)$entry, *(char**)($entry + 8), *(int*)($entry + 16)
  set $i = $i + 1
end
printf "state %d\\n", *(int*)&MPIR_debug_state
"""
LAUNCH = """
set pagination off
set breakpoint pending on
handle all nostop noprint pass
break main
run
set var *(int*)&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
""" + TABLE


def why_not(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            return tool + " is missing: third_party/install test"
    return ""


class Debugger(LaunchCase):

    def setUp(self):
        super().setUp()
        if why_not("gdb"):
            self.skipTest(why_not("gdb"))
        with open(AGENT, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nshift\nexec "$@"\n')
        os.chmod(AGENT, 0o755)

    def gdb(self, commands, *words):
        with tempfile.NamedTemporaryFile("w", suffix=".gdb", dir=os.environ["TEST_TMPDIR"]) as script:
            script.write(commands)
            script.flush()
            return subprocess.run(["gdb", "-nx", "-batch", "-x", script.name, *words], check=False, text=True,
                                  capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                                  env=environment(self.mark))

    def rows(self, text, ranks):
        rows = re.findall(r"^rank (\d+) host (\S+) program (\S+) pid (\d+)$", text, re.M)
        self.assertEqual([int(row[0]) for row in rows], list(range(ranks)), text)
        self.assertIn("size %d\n" % ranks, text)
        self.assertIn("state 1\n", text)
        return rows

    def launch(self, ranks, options=()):
        """A tool starts mpiexec, sees the ranks held, lets them go, and the job ends well."""
        look = """
python
import gdb
table = int(gdb.parse_and_eval("*(char**)&MPIR_proctable"))
for i in range(RANKS):
    pid = int(gdb.parse_and_eval("*(int*)(%d)" % (table + 24 * i + 16)))
    with open("/proc/%d/stat" % pid) as file:
        print("rank", i, "is", file.read().rsplit(")", 1)[1].split()[0])
    with open("/proc/%d/maps" % pid) as file:
        print("rank", i, "has MPI" if "libmpi_abi" in file.read() else "is before main")
end
delete
continue
""".replace("RANKS", str(ranks))
        commands = LAUNCH + look
        result = self.gdb(commands, "--args", MPIEXEC, "--oversubscribe", *options, "-n", str(ranks), STUCK, "none")
        rows = self.rows(result.stdout, ranks)
        for row in rows:
            self.assertEqual(row[2], STUCK)
            self.assertIn("rank %s is T\n" % row[0], result.stdout)
            self.assertIn("rank %s is before main\n" % row[0], result.stdout)
        self.assertEqual(result.stdout.count("here\n"), ranks, result.stdout)
        self.assertRegex(result.stdout, r"exited normally")
        return rows

    def attach(self, ranks, options=()):
        job = self.start_job(STUCK, "missing_member", ranks=ranks, options=options)
        self.assertEqual(self.read_lines(job, ranks), ["here"] * ranks)
        result = self.gdb("set pagination off\n" + TABLE, "-p", str(job.pid))
        rows = self.rows(result.stdout, ranks)
        for row in rows:
            self.assertEqual(os.readlink("/proc/%s/exe" % row[3]), os.path.realpath(STUCK))
            with open("/proc/%s/environ" % row[3], "rb") as file:
                self.assertIn(b"LAMINA_RANK=" + row[0].encode(), file.read().split(b"\0"))
        self.assertIsNone(job.poll())
        job.terminate()
        job.wait(timeout=30)
        return rows

    def test_launch_one_rank(self):
        self.assertEqual(self.launch(1)[0][1], os.uname().nodename)

    def test_launch_four_ranks(self):
        self.launch(4)

    def test_attach_to_one_rank(self):
        self.attach(1)

    def test_attach_to_four_ranks(self):
        self.attach(4)

    def test_two_hosts(self):
        hosts = ["--agent", AGENT + " {host}", "-H", "one:2,two:2"]
        self.assertEqual([row[1] for row in self.launch(4, hosts)], ["one", "one", "two", "two"])
        self.assertEqual([row[1] for row in self.attach(4, hosts)], ["one", "one", "two", "two"])

    def test_a_tree_of_hosts(self):
        hosts = ["--agent", AGENT + " {host}", "-H", "one:1,two:1,three:1,four:1",
                 "--param", "spawner.exec.onward=yes", "--param", "launcher.shepherd.width=2"]
        self.assertEqual([row[1] for row in self.launch(4, hosts)], ["one", "two", "three", "four"])

    def test_gdb_on_a_terminal(self):
        if why_not("tmux"):
            self.skipTest(why_not("tmux"))
        server = ["tmux", "-L", "lamina-%d" % os.getpid(), "-f", "/dev/null"]

        def tmux(*words):
            return subprocess.run([*server, *words], check=True, text=True, capture_output=True, timeout=30,
                                  env=environment(self.mark)).stdout

        def screen():
            return tmux("capture-pane", "-p", "-J", "-S", "-")

        def see(pattern):
            self.assertTrue(wait_until(lambda: re.search(pattern, screen(), re.M), 30),
                            "wanted %s, saw:\n%s" % (pattern, screen()))

        command = shlex.join([MPIEXEC, "--oversubscribe", "--gdb", "0", "-n", "2", STUCK, "none"])
        tmux("new-session", "-d", "-x", "200", "-y", "50", "sh", "-c",
             "PS1= ; %s; echo status $?; exec tail -f /dev/null" % command)
        try:
            see(r"^\(gdb\)")
            tmux("send-keys", "set confirm off", "Enter", "set breakpoint pending on", "Enter",
                 "break MPI_Finalize", "Enter", "run", "Enter")
            see(r"Breakpoint 1, .*MPI_Finalize")
            tmux("send-keys", "print 6*7", "Enter")
            see(r"= 42$")
            tmux("send-keys", "continue", "Enter")
            see(r"exited normally")
            tmux("send-keys", "quit", "Enter")
            see(r"^status 0$")
        finally:
            subprocess.run([*server, "kill-server"], check=False, capture_output=True)

    def test_mistakes(self):
        result = self.run_job(STUCK, "none", ranks=2, options=["--gdb", "2"])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("--gdb: there is no rank 2", result.stderr)
        result = self.run_job(STUCK, "none", ranks=2, options=["--gdb", "first"])
        self.assertIn("\"first\" is not the number of a rank", result.stderr)


if __name__ == "__main__":
    unittest.main()
