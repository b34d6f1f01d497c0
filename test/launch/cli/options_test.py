#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   mpiexec does what its options say, and bad input is answered in one clear line.
Method: the built program alone. What was understood is seen in plans (--dry-run) and in what a rank
        finds; every mistake is compared word for word with its message and exit status.
"""

import glob
import os
import re
import subprocess
import sys
import unittest

MPIEXEC = os.path.abspath("launcher/mpiexec")
SCRATCH = os.environ["TEST_TMPDIR"]
TIME_LIMIT_S = 60


def clean_environment(extra=None):
    variables = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("PMIX_", "LAMINA_", "XDG_"))
    }
    variables["HOME"] = SCRATCH
    variables["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    variables.update(extra or {})
    return variables


def run(*words, extra=None, program=MPIEXEC, cwd=SCRATCH, data=""):
    return subprocess.run([program, *words], check=False, capture_output=True, text=True, cwd=cwd,
                          env=clean_environment(extra), timeout=TIME_LIMIT_S, input=data)


def write(name, text, mode=0o644):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


class BadInput(unittest.TestCase):
    """Each answer is one line on standard error that begins with the program's name."""

    def refused(self, words, message, status=2, **more):
        result = run(*words, **more)
        self.assertEqual(result.stderr, "mpiexec: " + message + "\n")
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.returncode, status)

    def test_no_program(self):
        usage = "no program given: mpiexec [options] program [arguments]; --help tells more"
        self.refused([], usage)
        self.refused(["-n", "2"], usage)
        self.refused(["-n", "1", "true", ":"], 'no program given after ":"')

    def test_no_such_program(self):
        self.refused(["-n", "2", "no-such-program"], "no such program in PATH: no-such-program",
                     127)
        self.refused(["-n", "2", "./no-such-program"], "no such program: ./no-such-program", 127)
        self.refused(["-n", "1", "true", ":", "-n", "1", "/no/such"], "no such program: /no/such",
                     127)

    def test_program_in_this_folder_but_not_in_path(self):
        write("here_only", "#!/bin/sh\n", 0o755)
        self.refused(["-n", "1", "here_only"],
                     "no such program in PATH: here_only; did you mean ./here_only?", 127)

    def test_program_of_another_kind(self):
        path = os.path.join(SCRATCH, "of_another_kind")
        other = 62 if os.uname().machine == "aarch64" else 183
        for data, why in (
                (b"\x7fELF\2\1\1" + bytes(9) + bytes((2, 0, other, 0)) + bytes(44),
                 "it is an ELF program for %s; this node is %s"
                 % ("x86_64" if other == 62 else "aarch64", os.uname().machine)),
                (b"\0\1\2\3", "it is neither a program for this node nor a script")):
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, 0o755)
            self.refused(["-n", "2", path], "cannot run %s on %s: %s"
                         % (path, os.uname().nodename, why), 126)

    def test_not_executable(self):
        path = write("not_executable", "#!/bin/sh\n")
        self.refused(["-n", "2", path],
                     "cannot execute %s: no permission to execute it (chmod +x)" % path, 126)
        self.refused(["-n", "2", SCRATCH], "cannot execute %s: it is a directory" % SCRATCH, 126)

    def test_numbers_of_ranks(self):
        self.refused(["-n", "0", "true"], "-n 0: a program needs at least 1 rank")
        self.refused(["-n", "-1", "true"], "-n -1: a program needs at least 1 rank")
        self.refused(["-np", "many", "true"], "-np many: not a number of ranks")
        self.refused(["-n"], "-n needs a value: -n N")

    def test_more_ranks_than_slots(self):
        sentence = ("--oversubscribe lets ranks share slots, or raise the number of slots "
                    "(-H host:slots, slots= in the host file)")
        self.refused(["-n", "3", "-H", "localhost:2", "true"],
                     "3 ranks of true, but 2 free slots on 1 host; " + sentence)
        path = write("two_slots", "localhost slots=2\n")
        self.refused(["-n", "3", "--hostfile", path, "true"],
                     "3 ranks of true, but 2 free slots on 1 host; " + sentence)

    def test_host_files(self):
        missing = os.path.join(SCRATCH, "missing")
        self.refused(["--hostfile", missing, "true"],
                     "cannot read the host file: %s: No such file or directory" % missing)
        self.refused(["--hostfile", SCRATCH, "true"],
                     "cannot read the host file: %s: it is a directory" % SCRATCH)
        path = write("bad_hosts", "localhost\nlocalhost slots=none\n")
        self.refused(["--hostfile", path, "true"],
                     '%s:2: "slots=none" is not a number of slots (1 to 1048576)' % path)
        path = write("no_hosts", "# nobody\n")
        self.refused(["--hostfile", path, "true"], "%s names no host" % path)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable_host_file(self):
        path = write("unreadable", "localhost\n", 0)
        self.refused(["--hostfile", path, "true"],
                     "cannot read the host file: %s: Permission denied" % path)

    def test_other_hosts(self):
        result = run("-n", "1", "--param", "launcher.spawner.use=local", "-H",
                     "no-such-host.example", "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("host no-such-host.example (-H)", result.stderr)

    def test_rank_files(self):
        missing = os.path.join(SCRATCH, "missing")
        self.refused(["--rankfile", missing, "true"],
                     "cannot read the rank file: %s: No such file or directory" % missing)
        path = write("bad_ranks", "rank 0=localhost slot=0\nrank 2=localhost slot=0\n")
        self.refused(["--rankfile", path, "true"], "%s: there is no line for rank 1" % path)
        path = write("far_ranks", "rank 0=localhost slot=999999\n")
        self.refused(["--rankfile", path, "true"],
                     "rank 0 on localhost: slot=999999: the machine has no such core")

    def test_unknown_options(self):
        self.refused(["--tag-ouput", "true"],
                     "unknown option --tag-ouput; did you mean --tag-output?")
        self.refused(["--bind", "core", "true"], "unknown option --bind; --help lists them")
        self.refused(["--map-by", "nmua", "true"],
                     '--map-by nmua: did you mean "numa"? One of: slot, node, numa, socket, '
                     "core, hwthread, l3cache, seq, host, package")

    def test_working_directory(self):
        self.refused(["--wdir", "/no/such", "true"], "--wdir /no/such: No such file or directory")
        self.refused(["--wdir", MPIEXEC, "true"], "--wdir %s: not a directory" % MPIEXEC)

    def test_standard_input_to_a_rank_that_is_not_there(self):
        self.refused(["-n", "2", "--stdin", "2", "true"],
                     "--stdin 2: the job has ranks 0 to 1 only")

    def test_help_on_nothing(self):
        result = run("--help", "bindin")
        self.assertEqual(result.returncode, 2)
        self.assertIn('did you mean "binding"?', result.stderr)


class Parameters(unittest.TestCase):
    """Names and values are checked before anything starts; ranks find the result."""

    def test_unknown_spawner(self):
        result = run("--param", "launcher.spawner.use=locl", "-n", "1", "true")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "mpiexec: parameter launcher.spawner.use: there is no "
                         'spawner "locl"; did you mean "local"?\n')

    def test_unknown_name_is_warned_about(self):
        result = run("--param", "launcher.spawner.us=local", "-n", "1", "echo", "ran")
        self.assertEqual(result.stdout, "ran\n")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, 'mpiexec: warning: unknown parameter '
                         '"launcher.spawner.us" (--param); did you mean "launcher.spawner.use"?\n')

    def test_value_out_of_range(self):
        for words, extra, origin in (
                (["--param", "p2p.wait.mode=sometimes"], None, "--param"),
                ([], {"LAMINA_P2P_WAIT_MODE": "sometimes"},
                 "environment LAMINA_P2P_WAIT_MODE")):
            result = run(*words, "-n", "1", "echo", "ran", extra=extra)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.returncode, 2)
            self.assertIn('parameter p2p.wait.mode: "sometimes" is not one of auto|',
                          result.stderr)
            self.assertIn("(set by %s)" % origin, result.stderr)

    def test_not_name_and_value(self):
        result = run("--param", "a.b.c", "true")
        self.assertEqual(result.stderr, "mpiexec: --param a.b.c: not name=value\n")

    def test_ranks_find_values_and_origins(self):
        os.makedirs(os.path.join(SCRATCH, ".config"), exist_ok=True)
        path = write(".config/lamina.conf", "p2p.wait.mode = oversubscribed # here\n")
        self.addCleanup(os.unlink, path)
        result = run("-n", "1", "sh", "-c", "echo $LAMINA_P2P_WAIT_MODE $LAMINA_ORIGINS")
        self.assertEqual(result.stderr, "")
        self.assertTrue(result.stdout.startswith("oversubscribed "), result.stdout)
        self.assertIn("lamina.conf:1", result.stdout)
        # The environment wins over files, the command line over both.
        result = run("-n", "1", "sh", "-c", "echo $LAMINA_P2P_WAIT_MODE",
                     extra={"LAMINA_P2P_WAIT_MODE": "exclusive"})
        self.assertEqual(result.stdout, "exclusive\n")
        result = run("--param", "p2p.wait.mode=oversubscribed", "-n", "1", "sh", "-c",
                     "echo $LAMINA_P2P_WAIT_MODE",
                     extra={"LAMINA_P2P_WAIT_MODE": "exclusive"})
        self.assertEqual(result.stdout, "oversubscribed\n")

    def test_a_bad_file_is_named(self):
        os.makedirs(os.path.join(SCRATCH, ".config"), exist_ok=True)
        path = write(".config/lamina.conf", "\nnonsense\n")
        self.addCleanup(os.unlink, path)
        result = run("-n", "1", "true")
        self.assertEqual(result.stderr, "mpiexec: %s:2: expected name = value\n" % path)
        self.assertEqual(result.returncode, 2)


class Understood(unittest.TestCase):
    """Good input does what it says."""

    def test_plan(self):
        result = run("--dry-run", "-n", "1", "true", "a b", ":", "-n", "2", "--wdir", "/", "ls")
        self.assertEqual(result.stderr, "")
        lines = result.stdout.split("\n")
        self.assertEqual(lines[0], "plan: 3 ranks on 1 host")
        self.assertEqual(lines[1], "  rank 0           true 'a b'")
        self.assertEqual(lines[2], "  ranks 1,2        ls")
        self.assertEqual(lines[3], "                   in /")
        self.assertIn("  started by local", lines)

    def test_display_goes_to_standard_error_when_the_job_runs(self):
        result = run("--display", "plan", "-n", "1", "echo", "data")
        self.assertEqual(result.stdout, "data\n")
        self.assertTrue(result.stderr.startswith("plan: 1 rank on 1 host\n"), result.stderr)

    def test_bindings_are_real(self):
        allowed = sorted(os.sched_getaffinity(0))
        result = run("-n", str(len(allowed)), "--bind-to", "hwthread", "--output",
                     os.path.join(SCRATCH, "bound"), sys.executable, "-c",
                     "import os; print(sorted(os.sched_getaffinity(0)))")
        self.assertEqual(result.stderr, "")
        cpus = []
        for rank in range(len(allowed)):
            with open(os.path.join(SCRATCH, "bound", "rank.%d.out" % rank),
                      encoding="utf-8") as file:
                cpus += eval(file.read())  # a list this test printed
        self.assertEqual(sorted(cpus), allowed)

    def test_only_allowed_cpus_are_planned(self):
        one = sorted(os.sched_getaffinity(0))[0]
        result = subprocess.run(
            ["taskset", "-c", str(one), MPIEXEC, "--dry-run", "--display", "bindings", "-n", "2",
             "--bind-to", "core", "true"], check=False, capture_output=True, text=True,
            env=clean_environment(), timeout=TIME_LIMIT_S)
        self.assertIn("ranks 0,1", result.stdout)
        self.assertIn("CPU %d" % one, result.stdout)

    def bindings(self, *words):
        result = run("--dry-run", "--display", "bindings", *words, "true")
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_as_many_ranks_on_each_object(self):
        self.assertIn("plan: 2 ranks on 1 host\n",
                      run("--dry-run", "--map-by", "ppr:2:node", "true").stdout)
        self.assertIn("not bound", self.bindings("--map-by", "ppr:2:node"))

    def test_rank_file(self):
        cores = self.cores()  # of the machine, whatever of it this process may use
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        allowed = {max(os.sched_getaffinity(0))}
        os.sched_setaffinity(0, allowed)
        core = next(i for i, cpus in enumerate(cores) if cpus & allowed)
        path = write("ranks", "rank 1=localhost slot=*\nrank 0=localhost slot=%d # bound\n" % core)
        text = self.bindings("--rankfile", path)
        self.assertIn("rank 0 ", text)
        self.assertRegex(text, "rank 1 .*not bound")
        for core, cpus in enumerate(cores):
            if not cpus & allowed:
                path = write("ranks", "rank 0=localhost slot=%d\n" % core)
                refused = run("--display", "bindings", "--dry-run", "--rankfile", path, "true")
                self.assertIn("slot=%d: this process may run on no such core, only on CPUs " % core,
                              refused.stderr)

    @staticmethod
    def cores():
        """Sets of CPUs, in the order in which cores are counted: by package, then by first CPU."""
        found = {}
        for path in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology"):
            cpu = int(path.split("/")[-2][3:])
            with open(path + "/physical_package_id", encoding="ascii") as file:
                package = int(file.read())
            with open(path + "/core_id", encoding="ascii") as file:
                found.setdefault((package, int(file.read())), set()).add(cpu)
        first = {}
        for (package, _), cpus in found.items():
            first[package] = min(first.get(package, min(cpus)), min(cpus))
        return [found[key] for key in sorted(found, key=lambda key: (first[key[0]], min(found[key])))]

    def test_hosts_in_sequence(self):
        result = run("--dry-run", "--map-by", "seq", "-H", "n1,n2,n1", "true")
        self.assertIn("  host n1: 2 slots, ranks 0,2\n", result.stdout)

    def test_ranges_of_hosts(self):
        result = run("--dry-run", "--map-by", "node", "-H", "n[08-10]:2", "-n", "4", "true")
        self.assertIn("  host n08: 2 slots, ranks 0,3\n", result.stdout)
        self.assertIn("  host n10: 2 slots, rank 2\n", result.stdout)

    def test_threads_without_cpus_are_pointed_out(self):
        result = run("--bind-to", "hwthread", "-n", "1", "echo", "ran",
                     extra={"OMP_NUM_THREADS": "64"})
        self.assertEqual(result.stdout, "ran\n")
        self.assertRegex(result.stderr, r"^mpiexec: warning: OMP_NUM_THREADS=64, but rank 0 is kept "
                         r"on 1 CPU \(\d+\); --cpus-per-rank 64 gives every thread its own\n$")

    def test_environment(self):
        result = run("-x", "A=from -x", "-x", "HERE", "-genv", "B", "for all", "-n", "1", "sh", "-c",
                     'echo "$A|$B|$HERE"', ":", "-n", "1", "sh", "-c", 'echo "$A|$B|$HERE"',
                     extra={"HERE": "mine", "A": "outer"})
        self.assertEqual(sorted(result.stdout.split("\n")),
                         ["", "from -x|for all|mine", "outer|for all|mine"])

    def test_variable_that_is_not_set(self):
        result = run("-x", "NOT_SET_ANYWHERE", "-n", "1", "true")
        self.assertEqual(result.stderr, "mpiexec: warning: -x NOT_SET_ANYWHERE: not set here, so "
                         "the ranks do not get it\n")
        self.assertEqual(result.returncode, 0)

    def test_working_directory(self):
        self.assertEqual(run("-n", "1", "--wdir", "/usr", "pwd").stdout, "/usr\n")

    def test_program_relative_to_the_working_directory(self):
        write("there", "#!/bin/sh\necho here\n", 0o755)
        self.assertEqual(run("-n", "1", "--wdir", SCRATCH, "./there", cwd="/").stdout, "here\n")

    def test_more_ranks_than_cpus_just_run(self):
        ranks = 3 * len(os.sched_getaffinity(0))
        result = run("-n", str(ranks), "sh", "-c", "echo $LAMINA_P2P_WAIT_MODE")
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, "oversubscribed\n" * ranks)
        result = run("-v", "-n", str(ranks), "true")
        self.assertIn("mpiexec: more ranks than CPUs on ", result.stderr)

    def test_all_ranks_are_told_of_the_same_crowd(self):
        # Who chose algorithms by other numbers would wait for messages that nobody sends.
        show = ("sh", "-c", "echo $LAMINA_P2P_WAIT_MODE $LAMINA_COLLECTIVE_SELECT_CROWD")
        self.assertEqual(run("-n", "1", *show).stdout, "exclusive 1\n")
        result = run("-n", "1", *show, ":", "-n", "1", "-x",
                     "LAMINA_P2P_WAIT_MODE=oversubscribed", *show)
        self.assertEqual(sorted(result.stdout.splitlines())[-1], "oversubscribed 4")
        self.assertTrue(all(line.endswith(" 4") for line in result.stdout.splitlines()), result)
        result = run("-n", "1", "--param", "collective.select.crowd=3", *show)
        self.assertEqual(result.stdout, "exclusive 3\n")

    def test_a_job_within_a_job_is_its_own(self):
        ranks = 3 * len(os.sched_getaffinity(0))
        result = run("-n", "1", MPIEXEC, "-n", str(ranks), "sh", "-c",
                     "echo $LAMINA_P2P_WAIT_MODE")
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, "oversubscribed\n" * ranks)

    def test_without_number_one_rank_a_slot(self):
        self.assertEqual(run("-H", "localhost:3", "echo", "x").stdout, "x\n" * 3)

    def test_this_host_by_any_of_its_names(self):
        for name in ("localhost", "127.0.0.1", "[::1]", os.uname().nodename):
            self.assertEqual(run("-H", name, "-n", "1", "echo", "x").stdout, "x\n", name)

    def test_host_file_in_the_configuration_folder(self):
        os.makedirs(os.path.join(SCRATCH, ".config/lamina"), exist_ok=True)
        write(".config/lamina/my_hosts", "localhost slots=2\n")
        self.assertEqual(run("--hostfile", "my_hosts", "echo", "x", cwd="/").stdout, "x\n" * 2)

    def test_help_and_version(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("usage: mpiexec "))
        self.assertTrue(run("--help", "binding").stdout.startswith("binding: "))
        self.assertRegex(run("--version").stdout, r"^mpiexec \(Lamina\) \d+\.\d+\.\d+\n$")


class Lamina(unittest.TestCase):
    """The same program under its other name."""

    @classmethod
    def setUpClass(cls):
        cls.program = os.path.join(SCRATCH, "lamina")
        if not os.path.lexists(cls.program):
            os.symlink(MPIEXEC, cls.program)

    def lamina(self, *words, **more):
        return run(*words, program=self.program, **more)

    def test_run(self):
        self.assertEqual(self.lamina("run", "-n", "2", "echo", "x").stdout, "x\nx\n")

    def test_commands(self):
        result = self.lamina("inf")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, 'lamina: unknown command "inf"; did you mean "info"?\n')
        self.assertEqual(self.lamina().returncode, 2)
        self.assertTrue(self.lamina("help").stdout.startswith("usage: lamina "))
        self.assertTrue(self.lamina("help", "hosts").stdout.startswith("hosts: "))
        commands = re.findall(r"^  ([a-z]+) ", self.lamina("help").stdout, re.M)
        self.assertIn("why", commands)
        for command in commands:
            result = self.lamina("help", command)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, "^usage: lamina " + command)
        for verb in ("grow", "shrink"):
            result = self.lamina(verb, "4711")
            self.assertEqual((result.returncode, result.stderr), (
                2, "lamina %s: say which hosts, behind the job: lamina %s 4711 node7\n" % (verb, verb)))
        self.assertTrue(self.lamina("version").stdout.startswith("Lamina "))

    def test_info(self):
        result = self.lamina("info")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for word in ("spawner", "local", "transport", "shm", "collective"):
            self.assertIn(word, result.stdout)
        result = self.lamina("info", "--params", "--param", "p2p.wait.mode=exclusive")
        line = next(text for text in result.stdout.split("\n") if "p2p.wait.mode" in text)
        self.assertIn("exclusive", line)
        self.assertIn("--param", line)

    def test_info_of_one_component(self):
        result = self.lamina("info", "transport", "shm")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("shm", result.stdout)
        self.assertNotIn("ucx", result.stdout)
        result = self.lamina("info", "transprt")
        self.assertEqual(result.returncode, 2)
        self.assertIn("transprt", result.stderr)

    def test_info_of_windows(self):
        lines = [" ".join(line.split()) for line in self.lamina("info", "window").stdout.split("\n")]
        for path in ("mapped", "copied", "device", "framed"):
            self.assertTrue(any(line.startswith(path) for line in lines), lines)
        for value, why in (("on", "transport.ucx.one_sided is on"), ("off", "transport.ucx.one_sided is off"),
                           ("auto", "RDMA adapter")):
            result = self.lamina("info", "--param", "transport.ucx.one_sided=" + value, "window", "device")
            self.assertIn(why, " ".join(result.stdout.split()))
        result = self.lamina("info", "--param", "rma.path=framed", "window", "copied")
        self.assertIn("rma.path is framed", result.stdout)

    def test_info_tells_bad_values(self):
        result = self.lamina("info", "--param", "p2p.wait.mode=sometimes")
        self.assertEqual(result.returncode, 2)
        self.assertIn('"sometimes"', result.stderr)

    def test_info_of_collectives(self):
        result = self.lamina("info", "--collectives", "-n", "8", "--ppn", "4")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("allreduce", result.stdout)
        for words, why in ((("-n", "1"), "-n is 1, must be 2.."), (("--ppn", "3"), "--ppn is 3"),
                           (("extra",), '"extra"'),
                           (("--param", "collective.bcast.algorithm=magic"), '"magic"')):
            result = self.lamina("info", "--collectives", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn(why, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
