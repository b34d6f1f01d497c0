#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   shepherds that start each other, as a tree, behave as those that mpiexec starts itself:
        same output, same statuses, one message for each way to fail, nothing left; and mpiexec has
        no more streams than the tree is wide.
Method: seven virtual hosts and a width of two, so that the tree is three high: tr1 reaches tr2 and
        tr3, tr4 reaches tr5 and tr6, which reaches tr7. Shepherds and hosts are killed, frozen, cut
        off at every height."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test as hosts  # noqa: E402

hosts.NAME, hosts.PREFIX, hosts.SUBNET = "lamtre", "tr", "10.123.0"
hosts.HOSTS = HOSTS = ["tr%d" % i for i in range(1, 8)]
hosts.SSH[:] = ["--param", "spawner.ssh.options=-F %s/%s/ssh_config" % (hosts.STATE, hosts.NAME)]
hosts.AGENT[:] = ["--agent", "ip netns exec %s-{host}" % hosts.NAME,
                  "--param", "spawner.exec.onward=yes"]
TREE = ["--param", "launcher.shepherd.width=2"]
RANKS = 2 * len(HOSTS)

tearDownModule = hosts.tearDownModule


def setUpModule():
    hosts.setUpModule()
    shutil.copy(os.path.realpath("test/launch/travel"), hosts.program("travel"))


class TreeCase(hosts.HostsCase):
    called = HOSTS  # what ranks on the hosts take for their names

    def line(self, *arguments, hosts=None, options=()):
        return super().line(*arguments, hosts=hosts, options=[*TREE, *options])

    def agents_of(self, mpiexec):
        """Process ids of the agents that this process has started itself, and of its guard."""
        with open("/proc/%d/task/%d/children" % (mpiexec, mpiexec), encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def said_once(self, done, status, words):
        self.assertRegex(done.stderr, words)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1), done.stderr)


class WellTest(TreeCase):
    def test_every_host_runs_its_ranks(self):
        done = self.job("sh", "-c", "echo $PMIX_RANK $(readlink /proc/self/ns/net)")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = dict(line.split() for line in done.stdout.splitlines())
        self.assertEqual(sorted(map(int, lines)), list(range(RANKS)))
        self.assertEqual(len(set(lines.values())), len(HOSTS))

    def test_mpiexec_has_few_streams(self):
        process = self.start_and_wait("wait", ranks=RANKS)
        self.assertEqual(len(self.agents_of(process.pid)), 2)
        self.assertEqual(len(self.shepherds()), len(HOSTS))
        process.send_signal(signal.SIGINT)
        status, _, err = self.ends(process, 12)
        self.assertEqual((status, err), (-signal.SIGINT, ""))

    def test_mpi_and_pmix_across_the_tree(self):
        for program in (["./exchange"], ["./pmix_client", "exchange"], ["./pmix_client", "late"],
                        ["./pmix_client", "names"]):
            with self.subTest(program):
                done = self.job(*program)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_a_rank_of_a_leaf_spawns(self):
        """Its question goes up through every shepherd, and its children run on any host of the tree."""
        where = ",".join(host + ":3" for host in HOSTS)
        for root in (13, 0):
            with self.subTest(root=root):
                line = self.line("./travel", "spawn", root, 7,
                                 options=["-n", str(RANKS), "--map-by", "node"])
                line[line.index("-H") + 1] = where
                done = subprocess.run(line, check=False, cwd=hosts.PLACE, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      timeout=harness.TIME_LIMIT_S, env=self.variables())
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (0, "children on %s\n" % " ".join(self.called), ""))

    def test_input_and_output_of_a_leaf(self):
        data = bytes(range(256)) * 8192  # 2 MiB
        done = self.job("./actor", "at=13", "copy", options=["--stdin", "13"], data=data,
                        text=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout == data)

    def test_input_for_all(self):
        done = self.job("./actor", "swallow", options=["--stdin", "all"], data="x" * 300000)
        self.assertEqual((done.returncode, done.stdout), (0, "300000 bytes\n" * RANKS), done.stderr)

    def test_lines_of_all(self):
        done = self.job("./actor", "lines=2000", options=["--tag-output"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()),
                         sorted("[rank %d] line %d of rank %d" % (rank, line, rank)
                                for rank in range(RANKS) for line in range(2000)))

    def test_a_crowd_is_told_once(self):
        self.assertEqual(self.crowded("-v").count(": more ranks than CPUs on "), 1)

    def test_every_host_answers_a_ping_for_itself(self):
        process = self.start_and_wait("wait", ranks=RANKS)
        done = self.ping(process)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count(" answered in "), len(HOSTS), done.stdout)
        leaf = self.shepherds()["tr7"]
        os.kill(leaf, signal.SIGSTOP)
        try:
            done = self.ping(process)
        finally:
            os.kill(leaf, signal.SIGCONT)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^ +tr7 .*no answer within 2 s$")
        self.assertEqual(done.stdout.count(" answered in "), len(HOSTS) - 1, done.stdout)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.ends(process, 12)[0], -signal.SIGINT)

    def test_strays_are_swept(self):
        done = self.job("./actor", "stray", "child")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(self.mark)))


class FailureTest(TreeCase):
    def test_statuses(self):
        for steps, status, words in (
                (["at=13", "exit=7", "at=any", "wait"], 7, "rank 13 on tr7 exited with code 7"),
                (["at=4", "in=MPI_Recv", "phase=1", "die=11", "at=any", "wait"], 139,
                 r"rank 4 on tr3 was killed by signal 11 \(SIGSEGV, segmentation fault\) in MPI_Rec"
                 "v; the job was ended"),
                (["at=6", "phase=1", "exit=0", "at=any", "phase=1", "wait"], 1,
                 "rank 6 on tr4 exited without calling MPI_Finalize")):
            with self.subTest(words):
                self.said_once(self.job("./actor", *steps), status, "^mpiexec: " + words)

    def test_abort_of_a_leaf(self):
        done = self.job("./pmix_client", "abort", hosts=list(reversed(HOSTS)))
        self.assertEqual(done.returncode, 9)
        self.assertRegex(done.stderr, "^mpiexec: rank 1 on tr7 called PMIx_Abort with code 9")

    def test_program_that_is_not_there(self):
        self.said_once(self.job("./nosuch"), 127, r"^mpiexec: cannot run ./nosuch on tr\d: No such")

    def kill_a_shepherd(self, host, words):
        process = self.start_and_wait("child", "wait", ranks=RANKS)
        os.kill(self.shepherds()[host], signal.SIGKILL)
        status, _, err = self.ends(process, 12)
        self.assertRegex(err, r"^mpiexec: " + words + "; the job was ended\n$")
        self.assertEqual(status, 1)

    def test_shepherd_of_a_leaf_killed(self):
        self.kill_a_shepherd("tr3", "tr3 is lost: .*")

    def test_shepherd_further_in_killed(self):
        self.kill_a_shepherd("tr6", "tr6 is lost, and with it tr7 that was reached through it: .*")

    def test_shepherd_at_the_top_killed(self):
        self.kill_a_shepherd("tr4", "tr4 is lost, and with it tr5, tr6 and tr7 that were reached "
                                    "through it: .*")

    def freeze_a_shepherd(self, host, words):
        process = self.start_and_wait(
            "wait", ranks=RANKS, options=["--param", "launcher.shepherd.silence_ms=2000"])
        victim = self.shepherds()[host]
        os.kill(victim, signal.SIGSTOP)
        try:
            status, _, err = self.ends(process, 20)
            self.assertEqual(status, 1)
            self.assertRegex(err, "^mpiexec: " + words + ": no sign of life for 2 s "
                                                         ".launcher.shepherd.silence_ms.; the job was "
                                  "ended\n$")
        finally:
            with contextlib.suppress(ProcessLookupError):  # it hears its end by itself, or is gone
                os.kill(victim, signal.SIGCONT)

    def test_shepherd_further_in_frozen(self):
        self.freeze_a_shepherd("tr6", "tr6 is lost, and with it tr7 that was reached through it")

    def test_shepherd_of_a_leaf_frozen(self):
        self.freeze_a_shepherd("tr5", "tr5 is lost")

    def test_mpiexec_killed(self):
        process = self.start_and_wait("child", "wait", ranks=RANKS)
        process.kill()
        process.wait()
        self.assertTrue(harness.wait_until(lambda: not self.shepherds(), 5))
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(self.mark), 5))

    def test_a_host_that_nobody_reaches(self):
        done = self.job("hostname", hosts=HOSTS[:6] + ["nosuch.invalid"])
        self.said_once(done, 1, "^mpiexec: cannot start on nosuch.invalid: ")

    def test_deaf_ranks(self):
        process = self.start_and_wait(
            "deaf=15", "wait", ranks=RANKS,
            options=["--param", "launcher.supervise.grace_ms=300"])
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGINT):
            process.send_signal(sent)
        self.assertNotEqual(self.ends(process, 8)[0], 0)

    def test_timeout_says_who_is_where(self):
        for seconds in ("10", "40"):  # the start may take most of it on a loaded machine
            done = self.job("./actor", "phase=1", "in=MPI_Recv", "wait", options=[
                "--timeout", seconds, "--param", "launcher.shepherd.silence_ms=2000"])
            self.assertEqual(done.returncode, 124, done.stderr)
            if "ranks 0-13 in MPI_Recv" in done.stderr:
                break
        self.assertRegex(done.stderr,
                         "still running: ranks 0-13 in MPI_Recv; the job was ended\n$")


class SshTest(TreeCase):
    """What only real hosts show."""

    def test_cable_of_a_host_further_in(self):
        process = self.start_and_wait(
            "wait", ranks=RANKS, options=["--param", "launcher.shepherd.silence_ms=2000"])
        hosts.vcluster("cut", "tr6")
        try:
            status, _, err = self.ends(process, 12)
            self.assertEqual(status, 1)
            self.assertRegex(err, "^mpiexec: tr6 is lost, and with it tr7 that was reached "
                                  "through it: no sign of life for 2 s "
                                  ".launcher.shepherd.silence_ms.; the job was ended\n$")
            # Both notice by themselves.
            self.assertTrue(harness.wait_until(
                lambda: not {"tr6", "tr7"} & set(self.shepherds()), 8))
        finally:
            hosts.vcluster("heal", "tr6")

    def test_partition_of_two_hosts(self):
        """tr4 and tr6 lose each other; mpiexec still hears both."""
        process = self.start_and_wait(
            "wait", ranks=RANKS, options=["--param", "launcher.shepherd.silence_ms=2000"])
        hosts.vcluster("partition", "tr4", "tr6")
        try:
            status, _, err = self.ends(process, 12)
            self.assertEqual(status, 1)
            self.assertRegex(err, "^mpiexec: tr6 is lost, and with it tr7 that was reached "
                                  "through it: no sign of life for 2 s "
                                  ".launcher.shepherd.silence_ms.; the job was ended\n$")
        finally:
            hosts.vcluster("unpartition", "tr4", "tr6")

    def test_hosts_that_may_not_go_on(self):
        """From hosts no other can be reached: mpiexec reaches all of them, and says so once."""
        script = hosts.program("local_ssh")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\ncase $(hostname) in tr*) echo Permission denied >&2; exit 255;; "
                       "esac\nexec ssh \"$@\"\n")
        os.chmod(script, 0o755)
        reach = ["--param", "spawner.ssh.command=" + script]
        done = self.job("hostname", options=reach)
        self.assertEqual(sorted(done.stdout.split()), sorted(HOSTS * 2), done.stderr)
        self.said_once(done, 0, r"warn shepherd: tr\d cannot start on tr\d: Permission denied")
        done = self.job("./pmix_client", "exchange", options=reach)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.job("./actor", "swallow", options=[*reach, "--stdin", "all"], data="x" * 300000)
        self.assertEqual(done.stdout, "300000 bytes\n" * RANKS, done.stderr)

    def test_a_name_server_that_is_not_there(self):
        """Who has waited for it does not ask again: a shepherd, which waits for a short time, then mpiexec
        as long as the system says. One that is only busy is asked again."""
        script, count = hosts.program("names"), hosts.program("asked")
        for seconds, attempts in (("1.5", 1), ("0", 6)):
            with open(script, "w", encoding="ascii") as file:
                file.write("#!/bin/bash\ncase \"$*\" in *' lost '*) echo \"$RES_OPTIONS\" >> %s; sleep %s\n"
                           "  echo 'ssh: Could not resolve hostname lost: Temporary failure in name "
                           "resolution' >&2; exit 255;; esac\nexec ssh \"$@\"\n" % (count, seconds))
            os.chmod(script, 0o755)
            done = self.job("hostname", hosts=HOSTS[:6] + ["lost"],
                            options=["--param", "spawner.ssh.command=" + script])
            self.said_once(done, 1, "^mpiexec: cannot start on lost: ssh: Could not resolve hostname "
                                    "lost: Temporary failure in name resolution")
            with open(count, encoding="ascii") as file:
                self.assertEqual(file.read(), "timeout:2 attempts:1\n" * attempts + "\n" * attempts)
            os.unlink(count)

    def test_an_sshd_with_too_many_guests(self):
        """One that drops a connection is asked again, by whoever starts it."""
        self.check_that_a_shy_sshd_is_asked_again()


if __name__ == "__main__":
    harness.main()
