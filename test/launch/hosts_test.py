#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a job on several hosts behaves as one on this host: same output, same statuses, one message
        for each way to fail, and nothing left on any host.
Method: virtual hosts of this machine (own network, host name, processes, /tmp), reached by a real
        sshd and by `ip netns exec`; ranks, shepherds, agents and mpiexec are killed, cables pulled."""

import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

VCLUSTER = os.path.join(os.getcwd(), "test/cluster/vcluster")
NAME, PREFIX, SUBNET = "lamhst", "lh", "10.125.0"
STATE = "/run/lamina-hosts"
HOSTS = [PREFIX + str(i) for i in (1, 2, 3)]
SSH = ["--param", "spawner.ssh.options=-F %s/%s/ssh_config" % (STATE, NAME)]
AGENT = ["--agent", "ip netns exec %s-{host}" % NAME]
PLACE = None  # hosts have a /tmp of their own, so what they run lies elsewhere


def vcluster_variables():
    return dict(os.environ, VC_NAME=NAME, VC_RUN=STATE,
                PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")


def vcluster(*arguments, check=True):
    return subprocess.run([VCLUSTER, *arguments], env=vcluster_variables(), check=check, text=True,
                          cwd=PLACE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=400).stdout


def why_not():
    """Why there can be no virtual hosts here; "": there can."""
    if os.geteuid() != 0:
        return "virtual hosts need root"
    for tool in ("ip", "nsenter", "ssh", "/usr/sbin/sshd"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            return tool + " is missing: third_party/install test"
    return ""


def setUpModule():
    global PLACE
    if why_not():
        raise unittest.SkipTest(why_not())
    PLACE = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    os.chmod(PLACE, 0o755)
    for source in (harness.MPIEXEC, harness.ACTOR, harness.PMIX_CLIENT, "test/cluster/duplex",
                   "test/cluster/exchange", "runtime/libmpi_abi.so.1"):
        shutil.copy(os.path.realpath(source), os.path.join(PLACE, os.path.basename(source)))
    noise = os.path.join(PLACE, "bashrc")
    with open(noise, "w", encoding="ascii") as file:
        file.write("echo Welcome to a noisy shell\necho disk quota exceeded >&2\n")
    vcluster("up", "-n", str(len(HOSTS)), "--name", NAME, "--prefix", PREFIX, "--subnet", SUBNET,
             "--no-system", "--rc", noise)


def tearDownModule():
    if PLACE is not None:
        vcluster("down", "--name", NAME, check=False)
        shutil.rmtree(PLACE, ignore_errors=True)


def program(name):
    return os.path.join(PLACE, name)


class HostsCase(harness.LaunchCase):
    """Jobs over the virtual hosts; two ranks on each unless said otherwise."""

    reach = SSH

    def line(self, *arguments, hosts=None, options=()):
        where = ",".join(host + ":2" for host in (hosts or HOSTS))
        return [program("mpiexec"), *self.reach, "-H", where, *options, *map(str, arguments)]

    def job(self, *arguments, hosts=None, options=(), data=None, text=True):
        return subprocess.run(
            self.line(*arguments, hosts=hosts, options=options), check=False, cwd=PLACE,
            stdin=None if data is not None else subprocess.DEVNULL, input=data,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.TIME_LIMIT_S, text=text,
            env=self.variables())

    def variables(self):
        return harness.environment(self.mark, {"LD_LIBRARY_PATH": PLACE})

    def start(self, *arguments, hosts=None, options=()):
        process = subprocess.Popen(
            self.line(*arguments, hosts=hosts, options=options), cwd=PLACE,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.variables())
        self.started.append(process)
        return process

    def start_and_wait(self, *arguments, ranks=6, **more):
        """A job all of whose ranks have come to the last of their `arguments`."""
        process = self.start("./actor", *arguments[:-1], "say=up", arguments[-1], **more)
        for _ in range(ranks):
            if (line := process.stdout.readline()) != "up\n":
                process.terminate()
                self.fail("%r %s" % (line, process.communicate(timeout=harness.TIME_LIMIT_S)))
        return process

    def ends(self, process, seconds):
        began = time.monotonic()
        out, err = process.communicate(timeout=harness.TIME_LIMIT_S)
        self.assertLess(time.monotonic() - began, seconds)
        return process.returncode, out, err

    def ping(self, process):
        return subprocess.run(["lamina", "ps", "--ping", str(process.pid)], check=False, text=True,
                              executable=program("mpiexec"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=harness.TIME_LIMIT_S)

    def each_host_is_named(self, done, words, hosts=None):
        """With these words, which have HOST for its name, in a line of its own."""
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), len(hosts or HOSTS), done.stderr)
        for host in hosts or HOSTS:
            pattern = re.compile("mpiexec: " + words.replace("HOST", host))
            self.assertEqual(len([line for line in lines if pattern.fullmatch(line)]), 1, done.stderr)

    def shepherds(self):
        """{host name: process id} of the shepherds there are; of their guards, where these alone are."""
        parents = {}  # by host, by process: a guard's is its shepherd
        for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
                if words[:2] != [program("mpiexec").encode(), b"--lamina-shepherd"]:
                    continue
                with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
                parents.setdefault(self.host_of(pid), {})[pid] = parent
            except OSError:
                continue
        return {host: next(pid for pid in those if those[pid] not in those)
                for host, those in parents.items()}

    @staticmethod
    def host_of(pid):
        """By its network: with `ip netns exec` the host's name is this machine's."""
        net = os.stat("/proc/%d/ns/net" % pid).st_ino
        for host in HOSTS:
            if os.stat("/run/netns/%s-%s" % (NAME, host)).st_ino == net:
                return host
        return "here"

    def crowded(self, *options, stderr=subprocess.PIPE):
        """A job with a rank more than there are CPUs on all hosts but the last, which has one."""
        slots = len(os.sched_getaffinity(0)) + 1
        line = self.line("sh", "-c", "echo $LAMINA_P2P_WAIT_MODE,"
                         "$LAMINA_COLLECTIVE_SELECT_CROWD", options=options)
        line[line.index("-H") + 1] = ",".join(
            ["%s:%d" % (host, slots) for host in HOSTS[:-1]] + [HOSTS[-1] + ":1"])
        done = subprocess.run(line, check=False, cwd=PLACE, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=stderr,
                              timeout=harness.TIME_LIMIT_S, env=self.variables())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.split()),
                         ["exclusive,4"] + ["oversubscribed,4"] * slots * (len(HOSTS) - 1))
        return done.stderr

    def check_that_a_shy_sshd_is_asked_again(self):
        """Each host's first connection from each process is dropped."""
        script = program("shy")
        count = program("count")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/bash\nif mkdir %s.$PPID.\"${@: -2:1}\" 2>/dev/null; then\n"
                       "  echo 'kex_exchange_identification: Connection closed by remote host' >&2\n"
                       "  exit 255\nfi\nexec ssh \"$@\"\n" % count)
        os.chmod(script, 0o755)
        done = self.job("hostname", options=["--param", "spawner.ssh.command=" + script])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.split()), sorted(HOSTS * 2))

    def tearDown(self):
        super().tearDown()
        left = harness.wait_until(lambda: not self.shepherds(), 30.0)
        self.assertTrue(left, "shepherds left behind: %s" % self.shepherds())


class WellTest(HostsCase):
    def test_every_host_runs_its_ranks(self):
        done = self.job("hostname")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.split()), sorted(HOSTS * 2))

    def test_this_host_too(self):
        here = os.uname().nodename
        done = self.job("hostname", hosts=[HOSTS[0], here])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.split()), sorted([HOSTS[0], here] * 2))

    def test_hosts_with_too_few_cpus(self):
        """Slots are what was said, CPUs what the host has: its shepherd knows who has to share. All
        ranks choose algorithms alike, also those that have a CPU each. The job is told once, however
        many hosts are crowded: whoever asks, and a person at a terminal."""
        self.assertEqual(self.crowded(), "")
        told = r"(?m)mpiexec: %smore ranks than CPUs on \w+ \(\d+ .*\): waiting ranks sleep\r?$"
        self.assertEqual(len(re.findall(told % "", self.crowded("-v"))), 1)
        main_end, terminal = pty.openpty()
        self.addCleanup(os.close, main_end)
        self.crowded(stderr=terminal)
        os.close(terminal)
        said = os.read(main_end, 65536).decode()
        self.assertEqual(len(re.findall(told % "warning: ", said)), 1, said)

    def test_bridges_of_containers_are_no_network(self):
        """Each host has one, with the same address; who connects to the peer's finds itself."""
        bridge = ("ip link add docker0 type bridge && ip link add dv0 type veth peer name dv1 && "
                  "ip link set dv0 master docker0 && ip addr add 172.31.0.1/16 dev docker0 && "
                  "ip link set dv0 up && ip link set dv1 up && ip link set docker0 up && "
                  "timeout 20 sh -c 'until ip link show docker0 | grep -q LOWER_UP; do :; done'")

        def on_all(command, check=True):
            for host in HOSTS:
                subprocess.run(["ip", "netns", "exec", "%s-%s" % (NAME, host), "sh", "-c", command],
                               check=check, stderr=subprocess.DEVNULL if not check else None)

        self.addCleanup(on_all, "ip link del docker0; ip link del dv0", check=False)
        on_all(bridge)
        done = self.job("./exchange", options=["--param", "base.log.level=debug"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("docker0 is left out", done.stderr)

    def test_mpi_across_hosts(self):
        done = self.job("./exchange")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_long_messages_go_both_ways_at_once(self):
        self.addCleanup(vcluster, "shape", "all", "reset")
        vcluster("shape", "all", "rate=100mbit")
        done = self.job("./duplex", options=["-n", "2", "--map-by", "node"])
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_pmix_across_hosts(self):
        for what in ("exchange", "late", "names"):
            with self.subTest(what):
                done = self.job("./pmix_client", what)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_tagged_output_is_whole(self):
        done = self.job("./actor", "lines=2000", options=["--tag-output"])
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = sorted("[rank %d] line %d of rank %d" % (rank, line, rank)
                        for rank in range(6) for line in range(2000))
        self.assertEqual(sorted(done.stdout.splitlines()), wanted)

    def test_input_byte_by_byte(self):
        data = bytes(range(256)) * 8192  # 2 MiB
        done = self.job("./actor", "at=3", "copy", options=["--stdin", "3"], data=data, text=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout == data)

    def test_input_for_all(self):
        done = self.job("./actor", "swallow", options=["--stdin", "all"], data="x" * 300000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "300000 bytes\n" * 6)

    def test_input_nobody_reads(self):
        done = self.job("./actor", "exit=0", data="x" * 3000000)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_much_output(self):
        done = self.job("./actor", "at=5", "long=20000000")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout), 20000001)

    def test_environment_directory_and_arguments(self):
        done = self.job("sh", "-c", "echo \"$FOO|$1|$PWD\"", "-", "a 'b\" $c",
                        options=["-x", "FOO=x y"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(done.stdout.splitlines()), {"x y|a 'b\" $c|" + PLACE})

    def test_large_environment(self):
        done = self.job("sh", "-c", "echo ${#BIG}", options=["-x", "BIG=" + "y" * 100000])
        self.assertEqual((done.returncode, done.stdout), (0, "100000\n" * 6), done.stderr)

    def test_a_reader_who_leaves(self):
        process = self.start("./actor", "flood")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=20), 141)


class FailureTest(HostsCase):
    def test_statuses(self):
        for steps, status, words in (
                (["at=3", "exit=7", "at=any", "wait"], 7, "rank 3 on lh2 exited with code 7"),
                (["at=5", "in=MPI_Recv", "phase=1", "die=11", "at=any", "wait"], 139,
                 r"rank 5 on lh3 was killed by signal 11 \(SIGSEGV, segmentation fault\) in MPI_Rec"
                 "v; the job was ended"),
                (["at=4", "phase=1", "exit=0", "at=any", "phase=1", "wait"], 1,
                 "rank 4 on lh3 exited without calling MPI_Finalize")):
            with self.subTest(words):
                done = self.job("./actor", *steps)
                self.assertRegex(done.stderr, "^mpiexec: " + words)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1))

    def test_abort_on_a_remote_host(self):
        began = time.monotonic()
        done = self.job("./pmix_client", "abort", hosts=list(reversed(HOSTS)))
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(done.returncode, 9)
        self.assertRegex(done.stderr, "^mpiexec: rank 1 on lh3 called PMIx_Abort with code 9")

    def test_program_that_is_not_there(self):
        done = self.job("./nosuch")
        self.assertEqual(done.returncode, 127)
        self.assertRegex(done.stderr, r"^mpiexec: cannot run ./nosuch on lh\d: No such file or dire"
                                      r"ctory\n$")

    def test_host_that_is_not_there(self):
        done = self.job("hostname", hosts=["nosuch.invalid", HOSTS[0]])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^mpiexec: cannot start on nosuch.invalid: .*resolve")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_all_hosts_that_are_not_there(self):
        """Also the last, which is tried when the first has failed; and none of those that are well."""
        bad = ["nosuch1.invalid", "nosuch2.invalid", "nosuch3.invalid"]
        done = self.job("hostname", hosts=[bad[0], HOSTS[0], bad[1], bad[2]],
                        options=["--param", "launcher.shepherd.window=1"])
        self.each_host_is_named(done, "cannot start on HOST: .*resolve.*", bad)

    def test_shepherd_that_is_not_there(self):
        done = self.job("hostname", options=["--param", "launcher.shepherd.program=/no/mpiexec"])
        self.each_host_is_named(done, "Lamina is not at /no/mpiexec on HOST: install it at the same "
                                      "path, or write prefix= in a host file")

    def test_agent_that_is_not_there(self):
        done = self.job("hostname", options=["--param", "spawner.ssh.command=/no/ssh"])
        self.each_host_is_named(done, "cannot start on HOST: cannot run /no/ssh: No such .*")

    def test_options_that_ssh_does_not_know(self):
        done = self.job("hostname", options=["--param", "spawner.ssh.options=-Z"])
        self.each_host_is_named(done, r"cannot start on HOST: unknown option -- Z \(exit status 255\)")

    def test_agent_that_says_nothing(self):
        silent = program("silent")
        with open(silent, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho what do you want >&2\nexec tail -f /dev/null\n")
        os.chmod(silent, 0o755)
        done = self.job("hostname", options=["--param", "spawner.ssh.command=" + silent,
                                             "--param", "launcher.shepherd.start_ms=500"])
        self.each_host_is_named(done, "cannot start on HOST: no shepherd greeted within 0.5 s; what "
                                      "do you want")

    def test_another_version(self):
        other = program("other")
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "old_shepherd.py"),
                    other)
        os.chmod(other, 0o755)
        done = self.job("hostname", options=["--param", "spawner.ssh.command=" + other])
        self.each_host_is_named(done, r"cannot start on HOST: Lamina 9.8.7 is there, "
                                      r"\d+\.\d+\.\d+ here \(wire 99 and \d+\)")

    def test_a_host_that_accepts_and_says_nothing(self):
        """ssh is patient twice, and whoever waits is told for whom."""
        with socket.create_server(("127.0.0.1", 0)) as mute:
            began = time.monotonic()
            done = self.job("hostname", hosts=HOSTS[:1], options=[
                "--param", "spawner.ssh.options=-o HostName=127.0.0.1 -p %d" % mute.getsockname()[1],
                "--param", "spawner.ssh.connect_s=3"])
        self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^mpiexec: 0 of 1 hosts have answered; waiting for lh1\n"
                         "mpiexec: cannot start on lh1: .*timed out.*banner.*\n$")

    def test_shepherd_killed(self):
        process = self.start_and_wait("wait")
        os.kill(self.shepherds()[HOSTS[1]], signal.SIGKILL)
        status, _, err = self.ends(process, 8)
        self.assertEqual(status, 1)
        # This agent becomes the shepherd; ssh is told nothing, and ends with a status of its own.
        why = ("its agent was killed by signal 9" if self.reach is AGENT else
               "the connection to lh2 or the shepherd there ended abruptly")
        self.assertEqual(err, "mpiexec: lh2 is lost: %s; the job was ended\n" % why)

    def test_connection_cut(self):
        process = self.start_and_wait(
            "wait", options=["--param", "launcher.shepherd.silence_ms=1000"])
        vcluster("cut", HOSTS[1])
        try:
            status, _, err = self.ends(process, 8)
            self.assertEqual(status, 1)
            self.assertRegex(err, r"^mpiexec: lh2 is lost: no sign of life for 1 s "
                                  r".launcher.shepherd.silence_ms.; the job was end"
                                  r"ed\n$")
            # The shepherd notices by itself.
            self.assertTrue(harness.wait_until(lambda: HOSTS[1] not in self.shepherds(), 5))
        finally:
            vcluster("heal", HOSTS[1])

    def test_host_frozen(self):
        process = self.start_and_wait(
            "wait", options=["--param", "launcher.shepherd.silence_ms=1000"])
        vcluster("freeze", HOSTS[2])
        try:
            status, _, err = self.ends(process, 8)
            self.assertEqual(status, 1)
            self.assertRegex(err, "^mpiexec: lh3 is lost: no sign of life for 1 s "
                                  ".launcher.shepherd.silence_ms.")
        finally:
            vcluster("thaw", HOSTS[2])

    def test_mpiexec_killed(self):
        process = self.start_and_wait("child", "wait")
        process.kill()
        process.wait()
        self.assertTrue(harness.wait_until(lambda: not self.shepherds(), 5))
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(self.mark), 5))

    def test_strays_are_swept(self):
        done = self.job("./actor", "stray", "child")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(self.mark)))

    def test_ctrl_c(self):
        process = self.start_and_wait("wait")
        process.send_signal(signal.SIGINT)
        status, _, err = self.ends(process, 5)
        self.assertEqual((status, err), (-signal.SIGINT, ""))

    def test_stopped_and_continued(self):
        """A launcher that is stopped is silent; nobody takes that for its death."""
        process = self.start_and_wait(
            "heed=10", "wait", options=["--param", "launcher.shepherd.silence_ms=400"])
        process.send_signal(signal.SIGTSTP)
        self.assertTrue(harness.wait_until(lambda: self.state(process.pid) == "T", 5))
        time.sleep(1.5)  # tidy: sleep: longer than the silence that would matter
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGUSR1)
        status, _, err = self.ends(process, 8)
        self.assertEqual(status, 50)
        self.assertRegex(err, r"^mpiexec: rank \d on lh\d exited with code 50; the job was ended\n$")

    @staticmethod
    def state(pid):
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def test_deaf_ranks(self):
        process = self.start_and_wait(
            "deaf=15", "wait", options=["--param", "launcher.supervise.grace_ms=300"])
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        status, _, _ = self.ends(process, 5)
        self.assertNotEqual(status, 0)

    def test_disk_full(self):
        small = os.path.join(PLACE, "small")
        os.makedirs(small, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], check=True)
        try:
            done = self.job("./actor", "at=2", "long=200000", options=["--output", small])
        finally:
            subprocess.run(["umount", "-l", small], check=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, "mpiexec: cannot write %s/rank.2.out: No space left on device"
                         % small)

    def test_timeout_says_who_is_where(self):
        for seconds in ("3", "10", "40"):  # the start may take most of it on a loaded machine
            done = self.job("./actor", "phase=1", "in=MPI_Recv", "wait", options=[
                "--timeout", seconds, "--param", "launcher.shepherd.silence_ms=2000"])
            self.assertEqual(done.returncode, 124, done.stderr)
            if "ranks 0-5 in MPI_Recv" in done.stderr:
                break
        self.assertRegex(done.stderr, "still running: ranks 0-5 in MPI_Recv; the job was ended\n$")


class AgentTest(WellTest, FailureTest):
    """The same through `ip netns exec`."""

    reach = AGENT

    def test_every_host_runs_its_ranks(self):
        done = self.job("readlink", "/proc/self/ns/net")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(set(done.stdout.split())), len(HOSTS))

    def test_this_host_too(self):
        here = os.uname().nodename
        done = self.job("readlink", "/proc/self/ns/net", hosts=[HOSTS[0], here])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(os.readlink("/proc/self/ns/net"), done.stdout.split())

    # What is about ssh, or about hosts as `ip netns exec` does not make them.
    test_agent_that_is_not_there = test_agent_that_says_nothing = test_another_version = None
    test_host_that_is_not_there = test_connection_cut = test_host_frozen = None
    test_all_hosts_that_are_not_there = test_options_that_ssh_does_not_know = None
    test_a_host_that_accepts_and_says_nothing = None


class GuestsTest(HostsCase):
    def test_an_sshd_with_too_many_guests(self):
        """An sshd that drops connections (MaxStartups) is asked again."""
        self.check_that_a_shy_sshd_is_asked_again()

    def test_hosts_that_are_still_coming_up(self):
        """Each fails once; the user knows the words for it, and without them it is a failure."""
        script, count = program("young"), program("up")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nif mkdir %s.$1 2>/dev/null; then\n"
                       "  echo \"pod $1 is not ready\" >&2; exit 1\nfi\n"
                       "host=$1; shift; exec ip netns exec %s-$host \"$@\"\n" % (count, NAME))
        os.chmod(script, 0o755)
        agent = ["--agent", script + " {host}"]
        done = self.job("true", options=agent)
        self.each_host_is_named(done, r"cannot start on HOST: pod HOST is not ready \(exit status 1\)")
        for host in HOSTS:
            if os.path.exists(count + "." + host):
                os.rmdir(count + "." + host)
        done = self.job("true", options=[*agent, "--param",
                                         "launcher.shepherd.passing_signs=not there|is not ready"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(os.path.exists(count + "." + HOSTS[2]))

    def test_interrupted_before_all_hosts_are_there(self):
        """No rank has run by then, on any host, since all wait for the last one."""
        script = program("deaf")
        with open(script, "w", encoding="ascii") as file:
            # Its output stays open: who closes it is taken for dead after a second.
            file.write("#!/bin/sh\nhost=$1; shift\nif [ $host = %s ]; then\n"
                       "  while read -r word; do :; done; exit 1\nfi\n"
                       "exec ip netns exec %s-$host \"$@\"\n" % (HOSTS[-1], NAME))
        os.chmod(script, 0o755)
        process = self.start("./actor", "say=up", "wait", options=["--agent", script + " {host}"])
        self.assertTrue(harness.wait_until(
            lambda: self.ping(process).stdout.count(" answered in ") == len(HOSTS) - 1, 20))
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.ends(process, 8), (-signal.SIGINT, "", ""))

    def test_a_master_connection_is_used(self):
        """ssh's ControlMaster, where there is one: no second login, and it stays."""
        with tempfile.TemporaryDirectory(prefix="lamina.") as folder:
            ssh = ["ssh", *SSH[1].split("=", 1)[1].split(), "-o", "ControlPath=%s/%%n" % folder]
            for host in HOSTS:
                subprocess.run([*ssh, "-o", "ControlMaster=yes", "-o", "ControlPersist=60", "-N", "-f",
                                host], check=True, stderr=subprocess.DEVNULL)
            try:
                self.reach = ["--param", "spawner.ssh.options=" + " ".join(ssh[1:]) +
                              " -o ProxyCommand=false"]  # of a connection of its own
                done = self.job("hostname")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(sorted(done.stdout.split()), sorted(HOSTS * 2))
            finally:
                for host in HOSTS:
                    subprocess.run([*ssh, "-O", "exit", host], check=True,
                                   stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    harness.main()
