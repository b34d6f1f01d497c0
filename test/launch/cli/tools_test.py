#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `lamina check`, `ps` and `clean` say what is there, for each host, in bounded time, and touch
        nothing that runs.
Method: the built program on this machine; hosts that answer, refuse, stay silent or have another
        Lamina are made by an agent that is a shell script. Other jobs may run here meanwhile.
"""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

MPIEXEC = os.path.abspath("launcher/mpiexec")
FORBID = os.path.abspath("test/launch/forbid.py")
OLD_SHEPHERD = os.path.abspath("test/launch/old_shepherd.py")
SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
AGENT = os.path.join(SCRATCH, "agent")
LATE = os.path.join(SCRATCH, "late")  # a pipe whose end hosts of this name wait for
TIME_LIMIT_S = 60

# Hosts by the beginnings of their names; the rest are this machine.
AGENT_TEXT = """#!/bin/bash
host=$1; shift
case $host in
  bad*) echo "agent: no route to $host" >&2; exit 1 ;;
  late*) read -r < %s; echo "agent: no route to $host" >&2; exit 1 ;;
  silent*) exec tail -f /dev/null ;;
  old*) exec %s "$@" ;;
  denied*) echo "ada@$host: Permission denied (publickey)." >&2; exit 255 ;;
  unknown*) echo "ssh: Could not resolve hostname $host: Name or service not known" >&2; exit 255 ;;
  absent*) echo "bash: line 1: $1: No such file or directory" >&2; exit 127 ;;
  strange*) echo "bash: line 1: $1: cannot execute binary file: Exec format error" >&2; exit 126 ;;
esac
exec "$@"
""" % (LATE, OLD_SHEPHERD)


def variables():
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PMIX_", "LAMINA_", "XDG_"))}
    kept.update(HOME=SCRATCH, PATH="/usr/local/bin:/usr/bin:/bin")
    return kept


def run(*words, program=LAMINA):
    return subprocess.run([program, *words], check=False, capture_output=True, text=True, cwd=SCRATCH,
                          env=variables(), timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)
    with open(AGENT, "w", encoding="ascii") as file:
        file.write(AGENT_TEXT)
    os.chmod(AGENT, 0o755)


def reach(hosts, *more):
    return ["--agent", AGENT + " {host}", "-H", hosts, *more]


class Check(unittest.TestCase):

    def row(self, result, host):
        rows = [line.split(None, 2) for line in result.stdout.splitlines()]
        found = [row for row in rows if row[0] == host]
        self.assertEqual(len(found), 1, result.stdout)
        return found[0]

    def test_this_machine(self):
        result = run("check")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertEqual(self.row(result, os.uname().nodename)[1], "ok")
        self.assertTrue(result.stdout.endswith("1 of 1 hosts are well (spawner local)\n"))

    def test_every_host_is_judged_by_itself(self):
        result = run("check", *reach("a,bad1,b,silent,old,c", "--param",
                                     "launcher.shepherd.start_ms=3000"))
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        for host in "abc":
            self.assertEqual(self.row(result, host)[1], "ok", result.stdout)
        self.assertEqual(self.row(result, "bad1")[1:],
                         ["failed", "cannot start on bad1: agent: no route to bad1 (exit status 1)"])
        self.assertEqual(self.row(result, "silent")[1:],
                         ["failed", "cannot start on silent: no shepherd greeted within 3 s"])
        self.assertRegex(self.row(result, "old")[2], r"^cannot start on old: Lamina 9\.8\.7 is there")
        self.assertIn("\n3 of 6 hosts are well (spawner exec)\n", result.stdout)

    def test_what_mends_each_host_is_said_in_one_run(self):
        result = run("check", *reach("a,denied1,denied2,unknown,absent,strange,old"))
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("\n1 of 7 hosts are well (spawner exec)\n", result.stdout)
        self.assertRegex(self.row(result, "absent")[2], "^Lamina is not at /.*/mpiexec on absent: "
                         "install it at the same path, or write prefix= in a host file$")
        advice = dict(line.split(": ", 1) for line in result.stdout.splitlines()
                      if re.match(r"\S+: ", line))
        self.assertIn("ssh-copy-id denied1", advice["denied1"])
        self.assertIn("ssh-copy-id denied2", advice["denied2"])
        self.assertIn("/etc/hosts", advice["unknown"])
        self.assertIn("another machine", advice["strange"])
        self.assertIn("the same version", advice["old"])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "mounts over a folder of /proc")
    def test_what_a_host_forbids(self):
        """A job runs there all the same; whoever wants to know is told."""
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc/1 2>/dev/null; exec \"$@\"", "-",
             LAMINA, "check"], check=False, capture_output=True, text=True, cwd=SCRATCH,
            env=variables(), timeout=TIME_LIMIT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("/proc hides the processes of others (hidepid)", done.stdout)

    def test_what_a_container_forbids(self):
        for call, said in (("memfd_create", "memfd_create is forbidden (seccomp)"),
                           ("process_vm_readv", "processes may not read each other's memory")):
            result = run(call, LAMINA, "check", program=FORBID)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn(said, result.stdout)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "mounts over a folder of /sys")
    def test_too_little_locked_memory_for_rdma(self):
        script = ("mount -t tmpfs none /sys/class && mkdir -p /sys/class/infiniband/mlx5_0 && "
                  "ulimit -l 64 && exec \"$@\"")
        result = run("-m", "sh", "-c", script, "-", LAMINA, "check", program="unshare")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("only 64 KiB may be locked", result.stdout)

    def test_many_hosts_take_as_long_as_one(self):
        hosts = ",".join("silent%d" % i for i in range(24))
        began = time.monotonic()
        result = run("check", *reach(hosts, "--param", "launcher.shepherd.start_ms=1000"))
        self.assertLess(time.monotonic() - began, 12)
        self.assertEqual(result.returncode, 1)
        self.assertIn("\n0 of 24 hosts are well", result.stdout)

    def test_a_program(self):
        result = run("check", *reach("a,b", "./no-such-program"))
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        for host in "ab":
            self.assertEqual(self.row(result, host)[1], "differs")
            self.assertIn("no such program: ./no-such-program", self.row(result, host)[2])
        self.assertEqual(run("check", *reach("a,b", "true")).returncode, 0)

    def test_an_installation_without_library(self):
        bare = os.path.join(SCRATCH, "bare")
        os.makedirs(os.path.join(bare, "bin"), exist_ok=True)
        shutil.copy(os.path.realpath(MPIEXEC), os.path.join(bare, "bin/mpiexec"))
        hosts = os.path.join(SCRATCH, "hosts")
        with open(hosts, "w", encoding="ascii") as file:
            file.write("a slots=1\nb slots=1 prefix=%s\nfree schedule=no\n" % bare)
        result = run("check", "--agent", AGENT + " {host}", "--hostfile", hosts)
        self.assertEqual(self.row(result, "a")[1], "ok")
        self.assertEqual(self.row(result, "b")[1], "differs")
        self.assertIn("no libmpi_abi.so.1 beside %s/bin/mpiexec" % bare, self.row(result, "b")[2])
        self.assertEqual(self.row(result, "free")[1:], ["kept", "free  schedule=no"])
        self.assertEqual(result.returncode, 1)

    def test_mistakes(self):
        result = run("check", "--hostfile", "/no/such/file")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, "^lamina check: cannot read the host file: .*\n$")
        result = run("check", "--no-such-option")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "^lamina check: unknown option --no-such-option")


class Jobs(unittest.TestCase):

    def start(self, *words):
        process = subprocess.Popen([MPIEXEC, *words], cwd=SCRATCH, env=variables(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def started(self, *words, ranks):
        process = self.start(*words, "sh", "-c", "echo up; exec tail -f /dev/null")
        for _ in range(ranks):
            self.assertEqual(process.stdout.readline(), "up\n")
        return process


class Stack(Jobs):

    def test_equal_stacks_are_shown_once(self):
        job = self.started("-n", "3", ranks=3)
        result = run("stack", str(job.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^0-2: \S+\n(  .*\n)+$")
        self.assertIsNone(job.poll())

    def test_the_rank_that_is_elsewhere(self):
        job = self.start("-n", "2", "sh", "-c", "echo up; exec tail -f /dev/null", ":",
                         "-n", "1", "python3", "-c",
                         "import signal; print('up', flush=True); signal.pause()")
        for _ in range(3):
            self.assertEqual(job.stdout.readline(), "up\n")
        result = run("stack", str(job.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^ *0,1: ")
        self.assertRegex(result.stdout, r"(?m)^ *2: .*\n( .*\n)*.*pause")

    def test_ranks_on_other_hosts(self):
        job = self.started(*reach("a,b"), "-n", "2", ranks=2)
        result = run("stack", str(job.pid), "--agent", AGENT + " {host}")
        # Both hosts are this machine, and show both ranks, which are merged.
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^0,1: ")

    def test_mistakes(self):
        self.assertRegex(run("stack", "1").stderr, "^lamina stack: no mpiexec runs here as process 1\n$")
        self.assertEqual(run("stack", "1").returncode, 2)
        self.assertTrue(run("stack", "--help").stdout.startswith("usage: lamina stack"))


class Ps(Jobs):

    def test_a_job_on_this_machine(self):
        job = self.started("-n", "3", ranks=3)
        result = run("ps", str(job.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], r"^%d  3 of 3 ranks running on 1 host, since [\d.]+ s, by local: "
                                   r"sh -c echo up; exec tail -f /dev/null$" % job.pid)
        self.assertRegex(lines[1], r"^ +%s  3 of 3 ranks running  here$" % os.uname().nodename)
        self.assertEqual(run("ps", "--ping", str(job.pid)).returncode, 0)
        everybody = run("ps")
        self.assertIn("\n%d  3 of 3" % job.pid, "\n" + everybody.stdout)

    def test_hosts_answer_a_ping(self):
        job = self.started(*reach("a,b"), "-n", "4", "--oversubscribe", ranks=4)
        result = run("ps", "--ping", str(job.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        answers = re.findall(r"^ +([ab])  2 of 2 ranks running  answered in ([\d.]+) ms$",
                             result.stdout, re.M)
        self.assertEqual([host for host, _ in answers], ["a", "b"], result.stdout)
        for _, milliseconds in answers:
            self.assertLess(float(milliseconds), 2000)
        self.assertRegex(run("ps", str(job.pid)).stdout, r"(?m)^ +a .* up, heard of [\d.]+ s ago$")

    def test_a_host_that_does_not_answer(self):
        job = self.started(*reach("a,b"), "-n", "2", ranks=2)
        children = subprocess.run(["pgrep", "-P", str(job.pid), "-f", "lamina-shepherd"],
                                  check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(len(children), 2)
        os.kill(int(children[1]), signal.SIGSTOP)
        self.addCleanup(os.kill, int(children[1]), signal.SIGCONT)
        result = run("ps", "--ping", str(job.pid))
        os.kill(int(children[1]), signal.SIGCONT)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.count("answered in"), 1, result.stdout)
        self.assertEqual(result.stdout.count("no answer within 2 s"), 1, result.stdout)

    def test_a_launcher_that_does_not_answer(self):
        job = self.started("-n", "1", ranks=1)
        os.kill(job.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, job.pid, signal.SIGCONT)
        result = run("ps", str(job.pid))
        self.assertEqual((result.returncode, result.stderr),
                         (1, "lamina ps: mpiexec %d did not answer within 2 s\n" % job.pid))

    def test_no_such_job(self):
        result = run("ps", str(os.getpid()))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "lamina ps: no mpiexec runs here as process %d\n" % os.getpid())

    def test_mistakes(self):
        result = run("ps", "--pong")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, '^lamina ps: "--pong" is neither an option nor')

    def test_a_stranger_who_wears_the_name(self):
        """Anybody may take an abstract name; what is listed is asked, but it must be the user's own."""
        if os.geteuid() != 0:
            self.skipTest("needs a second user")
        text = ("import socket,sys\n"
                "s=socket.socket(socket.AF_UNIX); s.bind('\\0lamina.0.1'); s.listen()\n"
                "print('up', flush=True); s.accept()[0].sendall(b'end\\n')\n")
        stranger = subprocess.Popen(["/usr/bin/python3", "-c", text], stdout=subprocess.PIPE, text=True,
                                    stderr=subprocess.DEVNULL, user=65534)
        self.addCleanup(stranger.stdout.close)
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        self.assertEqual(stranger.stdout.readline(), "up\n")
        result = run("ps", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("belongs to user 65534, not 0", result.stderr)


class Clean(unittest.TestCase):
    """Only --dry-run here: leftovers of others are others' affair. See tools_hosts_test."""

    def test_an_orphan_is_named(self):
        orphan = subprocess.Popen(["tail", "-f", "/dev/null"], env=dict(
            os.environ, PMIX_NAMESPACE="00112233", LAMINA_EVENT_FD="9"))
        self.addCleanup(orphan.wait)
        self.addCleanup(orphan.kill)
        result = run("clean", "--dry-run")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(": process %d (tail), a rank without a launcher\n" % orphan.pid, result.stdout)
        self.assertIsNone(orphan.poll())

    def test_a_running_job_is_not(self):
        job = subprocess.Popen([MPIEXEC, "-n", "2", "sh", "-c", "echo $$; exec tail -f /dev/null"],
                               env=variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               text=True)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        ranks = [job.stdout.readline().strip() for _ in range(2)]
        result = run("clean", "--dry-run")
        for rank in ranks:
            self.assertNotIn("process %s " % rank, result.stdout)

    def test_a_host_that_cannot_be_reached(self):
        result = run("clean", "--dry-run", *reach("bad"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("lamina clean: bad: mpiexec: cannot start on bad: agent: no route to bad (exit status 1)\n",
                      result.stderr)

    def test_mistakes(self):
        result = run("clean", "./program")
        self.assertEqual((result.returncode, result.stderr),
                         (2, 'lamina clean: "./program": no program belongs here\n'))


class Progress(unittest.TestCase):
    """A start that takes longer than a second says on a terminal whom it waits for."""

    LINE = b"mpiexec: 0 of 3 hosts have answered; waiting for silent1, silent2 and 1 other\r"

    def show(self, hosts, then):
        """Starts a job on a terminal, calls `then` when the line is there, and returns what was said.

        Hosts are silent until then, so it does not matter how late the line comes."""
        terminal, other_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        job = subprocess.Popen([MPIEXEC, *reach(hosts, "true")], env=variables(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=other_end)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        os.close(other_end)
        text = b""
        shown = False
        while select.select([terminal], [], [], TIME_LIMIT_S)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:  # the end of a terminal
                break
            if not shown and self.LINE in text:
                shown = True
                then(job)
        self.assertNotEqual(job.wait(timeout=TIME_LIMIT_S), 0)
        self.assertIn(b"\r\x1b[K" + self.LINE, text)
        # It is wiped, and what comes afterwards does not stand behind a piece of it.
        self.assertNotRegex(text.decode(), r"other\r(?!\r\x1b\[K)")
        return text.decode()

    def test_on_a_terminal(self):
        def refuse(_):
            with open(LATE, "wb"):
                pass
        os.mkfifo(LATE)
        text = self.show("silent1,silent2,late", refuse)
        self.assertRegex(text, r"\r\x1b\[Kmpiexec: cannot start on late: agent: no route to late")

    def test_wiped_by_a_signal(self):
        text = self.show("silent1,silent2,silent3", lambda job: job.terminate())
        self.assertTrue(text.endswith("\r\x1b[K"), text)

    def test_not_in_a_file(self):
        """There it is one line, of a start that takes very long, and nothing is wiped."""
        done = run(*reach("silent1,silent2", "--param", "launcher.shepherd.start_ms=2500", "true"),
                   program=MPIEXEC)
        self.assertEqual(done.returncode, 1)
        # On a busy machine 2.5 seconds may take very long.
        self.assertRegex(done.stderr, r"\A(mpiexec: 0 of 2 hosts have answered; waiting for silent1 and "
                                      r"silent2\n)?mpiexec: cannot start on silent\d: no shepherd")
        self.assertNotRegex(done.stderr, "[\r\x1b]")


class Help(unittest.TestCase):

    def test_every_tool_explains_itself(self):
        for tool in ("check", "ps", "clean", "info"):
            result = run(tool, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(result.stdout.startswith("usage: lamina %s " % tool), result.stdout)
            self.assertIn("  %s " % tool, run("help").stdout)

    def test_full_disk(self):
        for program, words in ((LAMINA, "info"), (LAMINA, "version"), (MPIEXEC, "--help")):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([program, words], check=False, stdout=full, text=True,
                                        stderr=subprocess.PIPE, timeout=TIME_LIMIT_S, env=variables())
            self.assertEqual(result.returncode, 1)
            # The reason is that of the last write, if that was the one to fail.
            self.assertRegex(result.stderr, r"\A%s: cannot write standard output(: No space left on "
                                            r"device)?\n\Z" % os.path.basename(program))


if __name__ == "__main__":
    unittest.main(verbosity=2)
