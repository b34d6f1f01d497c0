#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   who comes from another launcher finds the options of its scripts: each is taken and does what
        its name promises, or is answered in one line that says what to use instead.
Method: the built program alone, option by option, on this machine by fork and through a shepherd;
        the last test looks whether every option of the lists below had its turn.
"""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from options_test import MPIEXEC, SCRATCH, clean_environment, run, write  # noqa: E402

# With one dash or two, as scripts have them.
TAKEN = """
    -soft -arch -path -file -configfile -initial-errhandler -memory-alloc-kinds -host -wdir --n -perhost
    -prepend-rank -genvlist -envlist -x --map-by --bind-to --nooversubscribe --display-map
    --display-allocation --get-stack-traces --app -bynode -byslot -bycore -bysocket -pernode
    --use-hwthread-cpus --cpu-set -outfile-pattern -errfile-pattern --output-filename
    --merge-stderr-to-stdout --default-hostfile -q --quiet -Q --label -l --chdir -D""".split()
# What the answer has to name, and the options that get it.
EXPLAINED = {
    "~/.config/lamina.conf": "--tune --am",
    "--param NAME=VALUE": "--mca --gmca --omca --pmca --prtemca --pmixmca -ssi",
    "--spawner": "-rmk -launcher -bootstrap",
    "--agent": "-launcher-exec -bootstrap-exec",
    "spawner.ssh.options": "-bootstrap-exec-args",
    "transport.ucx": "-iface -ofi -ib -rdma -psm -psm2 -dapl",
    "order in which they are listed": "-order-nodes",
    "--gdb RANK": "-tv -tvsu -gdba --debug --stop-in-init --stop-on-exec",
    "xterm -hold -e": "--xterm",
    "not copied": "--preload-binary --preload-files -s --bcast --bcast-exclude "
                  "--send-libs --compress",
    "the others cannot go on": "--enable-recovery -disable-auto-cleanup --with-ft --continuous",
    "a rank that fails ends the job anyway": "--disable-recovery -K --kill-on-bad-exit",
    "--restarts N": "--max-restarts -k --no-kill",
    "--map-by ppr:N:socket": "-npersocket --ntasks-per-socket",
    "--map-by ppr:N:core": "--ntasks-per-core",
    "--map-by ppr:N:OBJECT": "--ppr",
    "--map-by node": "--loadbalance -rr -grr -m --distribution",
    "schedule=no": "-nolocal -skip-launch-node --exclude",
    "--display plan": "-print-rank-map --display-devel-map --display-diffable-map",
    "--display allocation": "--display-devel-allocation",
    "lstopo": "--display-topo",
    "passed on anyway; leave it out": "-genvall -envall -genvuser -envuser -E --preserve-env "
                                      "--fwd-environment --forward-signals",
    "-x NAME=VALUE sets one": "--export",
    "in front of mpiexec": "-genvnone -envnone --export",
    "env -u NAME": "-genvexcl -envexcl --unset-env",
    "-x NAME=VALUE with": "--prepend-env --append-env",
    "prefix=": "--prefix --launch-agent",
    "finds itself": "--noprefix --pmix-prefix --app-prefix",
    "--bind-to core": "--bind-to-core --hint --threads-per-core",
    "--bind-to socket": "--bind-to-socket",
    "--bind-to none": "--bind-to-none",
    "--display bindings shows it": "-binding --cpu-bind --cpu_bind",
    "numactl": "-membind --mem-bind --mem_bind",
    "--rankfile FILE": "--cpu-list --slot-list",
    "bound by the CPUs of their own host": "--hetero-nodes --hetero-apps",
    "-v -v in detail": "-d --debug-devel --debug-daemons --debug-daemons-file "
                       "--leave-session-attached --slurmd-debug",
    "shown by itself": "--show-progress",
    "`lamina ps`": "--report-pid --report-uri --output-proctable",
    "never as XML": "--xml",
    "no daemons stay": "--dvm --dvm-uri --dvm-hostfile --hnp",
    "nothing here needs it": "--novm --max-vm-size --personality --do-not-resolve -bindlib -topolib "
                             "-demux -pmi-port -localhost -disable-hostname-propagation -noconf "
                             "-pmi-connect -pmi-aggregate -pmi-noaggregate --use-regexp "
                             "--fwd-mpirun-port --enable-instant-on-support",
    "--name-server FILE": "--ompi-server -nameserver",
    "soon as ranks have written them": "-u --unbuffered --stream-buffering",
    "--wdir DIR": "--set-cwd-to-session-dir",
    "`lamina info`": "-info",
    "--tag-output": "-ordered-output -prepend-pattern",
    "fails first is named with its code": "-print-all-exitcodes",
    "use --checkpoint;": "-ckpointlib -ckpoint",
    "--checkpoint-every TIME": "-ckpoint-interval",
    "--checkpoint-dir DIR": "-ckpoint-prefix",
    "`lamina restart --generation N DIR`": "-ckpoint-num",
    "X11 is not forwarded": "-enable-x -disable-x --x11",
    "-H node[01-16]": "-hosts-group",
    "--hostfile FILE": "-machine -F --nodefile -w --nodelist",
    "-H localhost": "-localonly",
    "-H HOST,HOST": "-w --nodelist -r --relative --het-group --pack-group",
    "follows from -n and --ppn": "--nodes",
    "TOOL ./app": "-gtool -aps -itac -mps -check_mpi",
    "umask 022": "-umask",
    "ulimit": "--propagate",
    "`lamina clean`": "-cleanup",
    "resource manager": "-A --account -p --partition -J --job-name --qos --mem --mem-per-cpu -C "
                        "--constraint --reservation -L --licenses -M --begin --dependency --hold -I "
                        "--immediate --nice --comment --mail-type --tmp --switches --core-spec "
                        "--cpu-freq --signal --network --cores-per-socket -B --contiguous "
                        "--cluster-constraint --clusters -b --deadline --priority --wckey "
                        "--mail-user --acctg-freq --bb --bbf --mincpus --spread-job --use-min-nodes "
                        "--reboot --power --thread-spec --delay-boot --time-min --mcs-label "
                        "--sockets-per-node --extra-node-info",
    "LAMINA_LOCAL_RANK": "--gres -G --gpus --gpus-per-task --gpus-per-node --cpus-per-gpu "
                         "--mem-per-gpu --ntasks-per-gpu --gpu-bind --gres-flags -gpus-per-proc "
                         "-gpu-subdevs-per-proc --gpus-per-socket --gpu-freq --tres-per-task "
                         "--tres-bind",
    "in which it was started": "--jobid",
    "--timeout SECONDS limits the job": "-t --time -W --wait",
    "by PMIx": "--mpi",
    "use --oversubscribe": "-O --overcommit",
    "for salloc or sbatch": "-t --time --exclusive --exact",
    "overlap other steps anyway": "--overlap",
    "--configfile FILE": "--multi-prog",
    "control-C": "-X --disable-status --quit-on-interrupt",
    "--outfile-pattern FILE": "-o",
    "--errfile-pattern FILE": "-e --error",
    "--stdin RANK|all": "-i --input -s",
    "goes to rank 0": "--pty",
    "./script": "--prolog --epilog --task-prolog --task-epilog",
    "apptainer exec": "--container",
    "use --help": "--usage"}
MISSPELT = {"--nooversubscrib": "--nooversubscribe", "--oversubscrib": "--oversubscribe",
            "--display-mop": "--display-map", "--get-stack-trace": "--get-stack-traces",
            "--merge-stderr-to-stdou": "--merge-stderr-to-stdout", "-y": "", "-j": "", "--m": "",
            "--noreport-bindings": "", "--noquiet": ""}
CPUS = sorted(os.sched_getaffinity(0))
SHOW_CPUS = (sys.executable, "-c", "import os; print(*sorted(os.sched_getaffinity(0)))")
SHEPHERD = ("--spawner", "ssh", "-H", "localhost:4")  # this machine needs no ssh
tried = set()


def mpiexec(*words, **more):
    """As run(), and notes which options had their turn."""
    tried.update(word for word in words if word.startswith("-"))
    return run(*words, **more)


class Habits(unittest.TestCase):

    def says(self, stdout, *words, **more):
        """These words run a job that writes these lines, in any order, and nothing else."""
        result = mpiexec(*words, **more)
        self.assertEqual((result.stderr, result.returncode), ("", 0), words)
        self.assertEqual(sorted(result.stdout.splitlines()), sorted(stdout), words)

    def refused(self, message, *words, status=2):
        result = mpiexec(*words)
        self.assertEqual(result.stderr, "mpiexec: " + message + "\n")
        self.assertEqual((result.stdout, result.returncode), ("", status))

    def plan(self, *words):
        result = mpiexec("--dry-run", *words, "true")
        self.assertEqual((result.stderr, result.returncode), ("", 0), words)
        return result.stdout

    def test_what_the_standard_has(self):
        # A largest number of 1, 3, 5, 7 for which there is room.
        self.says(["x"] * 3, "-n", "8", "-host", "localhost:4", "-soft", "1:8:2", "echo", "x")
        self.refused("true can have 2 ranks, and -soft names no such number and no less", "-n", "2",
                     "-soft", "4,8", "true")
        machine = os.uname().machine
        self.says(["x"], "-n", "1", "-arch", machine, "echo", "x")
        self.refused("--arch pdp11: this node is %s, and a job has nodes of one architecture"
                     % machine, "-n", "1", "-arch", "pdp11", "true")
        for option in ("-wdir", "--chdir", "-D"):
            self.says(["/usr"], "-n", "1", option, "/usr", "pwd")
        for kind in (), SHEPHERD:
            self.says(["mpi_errors_return"], *kind, "-n", "1", "-initial-errhandler",
                      "mpi_errors_return", "printenv", "LAMINA_CORE_ERRORS_INITIAL_HANDLER")
        self.says(["mpi,system"], "-n", "1", "-memory-alloc-kinds", "mpi,system", "printenv",
                  "LAMINA_CORE_MEMORY_ALLOC_KINDS")

    def test_search_path(self):
        folder = os.path.join(SCRATCH, "only here")
        os.makedirs(folder, exist_ok=True)
        write("only here/so_called", "#!/bin/sh\necho so $#\n", 0o755)
        self.refused("no such program in PATH: so_called", "-n", "1", "so_called", status=127)
        for kind in (), SHEPHERD:
            self.says(["so 1"], *kind, "-n", "1", "-path", "/nowhere:" + folder, "so_called", "a b")

    def test_files_of_words(self):
        write("programs", "# two programs\n-n 1 echo 'a  b'\n-n 2 \\\n  -x V=w printenv V\n")
        for option in ("-configfile", "--app"):
            self.says(["a  b", "w", "w"], option, "programs")
            self.says(["a  b", "w", "w", "c"], option, "programs", ":", "-n", "1", "echo", "c")
        write("further", "-n 2 -x V=u\n")
        self.says(["u", "u"], "-file", "further", "printenv", "V")
        self.refused("-configfile nowhere: nowhere: No such file or directory", "-configfile",
                     "nowhere")

    def test_numbers_and_places(self):
        self.says(["x", "x"], "--n", "2", "echo", "x")
        two = ("-H", "n1:2,n2:2")
        self.assertIn("host n1: 2 slots, rank 0\n", self.plan("-perhost", "1", *two, "-n", "2"))
        self.assertIn("plan: 2 ranks on 2 hosts\n", self.plan("-pernode", *two))
        self.assertIn("host n2: 2 slots, ranks 1,3\n", self.plan("-bynode", *two))
        self.assertIn("host n2: 2 slots, ranks 2,3\n", self.plan("-byslot", *two))
        # Elsewhere -N is the number of hosts, and -c that of CPUs for each rank.
        self.refused("2 ranks of true, but 1 free slot on 1 host; no host may take more than 1 (-N and "
                     "--ppn count ranks of a host, not hosts)", "-n", "2", "-N", "1", "true")
        self.refused("-c 4: the number of ranks was given before (2); -c is that number too, and CPUs "
                     "for each rank are --cpus-per-rank", "-n", "2", "-c", "4", "true")
        for option, kind in (("-bycore", "core"), ("-bysocket", "socket")):
            self.assertIn("--map-by %s binds to it" % kind, self.plan(option, "-n", "1"))

    def test_sharing_slots(self):
        one = ("-n", "2", "-H", "localhost:1")
        self.assertEqual(mpiexec(*one, "true").returncode, 2)
        self.says(["x", "x"], *one, "--map-by", ":OVERSUBSCRIBE", "echo", "x")
        self.says(["x", "x"], "-n", "2", "--bind-to", "core:overload-allowed", "echo", "x")
        many = str(len(CPUS) + 1)
        message = ("%s ranks of true, but %d free slot%s on 1 host; without --nooversubscribe ranks "
                   "may share slots" % (many, len(CPUS), "s" if len(CPUS) > 1 else ""))
        self.refused(message, "-n", many, "--nooversubscribe", "true")
        self.refused(message, "-n", many, "--map-by", "slot:NOOVERSUBSCRIBE", "true")

    def test_cpus(self):
        for kind in (), SHEPHERD:
            self.says([str(CPUS[-1])] * 2, *kind, "-n", "2", "--cpu-set", str(CPUS[-1]), *SHOW_CPUS)
        self.refused("--cpu-set 4095: this process may not run on CPU 4095", "-n", "1", "--cpu-set",
                     "4095", "true")
        self.refused("--cpu-set all: not a list of CPUs like 0-3,8", "--cpu-set", "all", "true")
        self.says([str(cpu) for cpu in CPUS], "-n", str(len(CPUS)), "--use-hwthread-cpus",
                  "--cpus-per-rank", "1", *SHOW_CPUS)

    def test_display(self):
        self.assertTrue(self.plan("--display-map", "-n", "1").startswith("plan: 1 rank on 1 host\n"))
        self.assertEqual(self.plan("--display-allocation", "-H", "n1:2,n2", "-n", "1"),
                         "allocation: 2 hosts, 3 slots\n  host n1: 2 slots\n  host n2: 1 slot\n")

    def test_variables(self):
        extra = {"OMP_A": "1", "OMP_B": "2", "OTHER": "3"}
        show = ("sh", "-c", "echo $OMP_A $OMP_B $OTHER")
        # All of them are passed on anyway, so what counts is that nothing is lost or refused.
        for words in (("-x", "OMP_*"), ("-envlist", "OMP_A,OTHER"), ("-genvlist", "OMP_B,OTHER")):
            self.says(["1 2 3"], "-n", "1", *words, *show, extra=extra)
        plan = mpiexec("--dry-run", "--display", "env", "-n", "1", "-x", "OMP_*", "true", extra=extra)
        self.assertEqual(re.findall(r"\+ (O\w+=\d)", plan.stdout), ["OMP_A=1", "OMP_B=2"])
        self.refused("-genvlist A,,B: not NAME,NAME,...", "-genvlist", "A,,B", "true")
        for option in ("-x", "--env", "-envlist", "-genvlist"):
            self.assertEqual(mpiexec("-n", "1", option, "NOT_SET", "true").stderr,
                             "mpiexec: warning: %s NOT_SET: not set here, so the ranks do not get it\n"
                             % option)

    def test_output(self):
        for option in ("-prepend-rank", "--label", "-l"):
            self.says(["[rank 0] x"], "-n", "1", option, "echo", "x")
        for kind in (), SHEPHERD:
            self.says(["out", "err"] * 2, *kind, "-n", "2", "--merge-stderr-to-stdout", "sh", "-c",
                      "echo out; echo err >&2")

    def files(self, kind, *words):
        """What a job of four ranks leaves in a new folder; on standard output; on standard error."""
        folder = os.path.join(SCRATCH, "files.%d" % len(tried) + "".join(kind)[-3:])
        os.makedirs(folder)
        result = mpiexec(*kind, "-n", "4", *words, "sh", "-c",
                         "echo out $LAMINA_RANK; echo err $LAMINA_RANK >&2", cwd=folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = {}
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                with open(path, encoding="ascii") as file:
                    found[os.path.relpath(path, folder)] = sorted(file.read().splitlines())
        subprocess.run(["rm", "-r", folder], check=True)
        return found, sorted(result.stdout.splitlines()), sorted(result.stderr.splitlines())

    def test_files_of_output(self):
        out, err = (["%s %d" % (word, rank) for rank in range(4)] for word in ("out", "err"))
        for kind in ("--oversubscribe",), SHEPHERD:
            self.assertEqual(self.files(kind, "-outfile-pattern", "a/o.%r"), (
                {"a/o.%d" % rank: ["out %d" % rank] for rank in range(4)}, [], err))
            here = "localhost" if kind is SHEPHERD else os.uname().nodename
            self.assertEqual(self.files(kind, "-outfile-pattern", "o", "-errfile-pattern", "%h.%p"), (
                {"o": out, here + ".0": err}, [], []))
            self.assertEqual(self.files(kind, "-errfile-pattern", "100%%"), ({"100%": err}, out, []))
            self.assertEqual(self.files(kind, "-outfile-pattern", "o", "--merge-stderr-to-stdout"), (
                {"o": err + out}, [], []))
            self.assertEqual(self.files(kind, "--output-filename", "a/b"), (
                {"a/b/rank.%d.%s" % (rank, word): ["%s %d" % (word, rank)]
                 for rank in range(4) for word in ("out", "err")}, [], []))

    def test_default_host_file(self):
        write("defaults", "localhost slots=3\n")
        self.says(["x"] * 3, "--default-hostfile", "defaults", "echo", "x")
        self.says(["x"] * 2, "--default-hostfile", "defaults", "-H", "localhost:2", "echo", "x")

    def test_quiet(self):
        for option in ("-q", "--quiet", "-Q"):
            self.says([], option, "-x", "NOT_SET_ANYWHERE", "-n", "1", "true")

    def test_timeout(self):
        ended = "mpiexec: timeout after 0.2 s, still running: rank 0; the job was ended\n"
        events = "mpiexec: rank 0 has recorded no events\n"
        nap = ("-n", "1", "sleep", "100")  # tidy: sleep: it is the job that is to be ended
        for words, seconds, said in (((), "0.2", ended), (("--timeout", "0.2"), "100", ended),
                                     (("--get-stack-traces",), "0.2", ended + events)):
            result = mpiexec(*words, *nap, extra={"MPIEXEC_TIMEOUT": seconds})
            self.assertEqual((result.stderr, result.returncode), (said, 124), words)
        result = mpiexec("-n", "1", "true", extra={"MPIEXEC_TIMEOUT": "soon"})
        self.assertEqual(result.stderr, "mpiexec: environment MPIEXEC_TIMEOUT=soon: not a number of "
                         "seconds (0 to 1000000000; 0: no limit)\n")

    def test_what_is_explained(self):
        asked = [(option, answer) for answer, options in EXPLAINED.items()
                 for option in options.split()]
        for number, (option, answer) in enumerate(asked):
            words = ((option, "x"), (option + "=x",), (option,))[number % 3]
            result = run(*words, "true")
            self.assertEqual(result.returncode, 2, option)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("mpiexec: unknown option %s: " % option),
                            result.stderr)
            self.assertIn(answer, result.stderr)

    def test_misspelt(self):
        for option, meant in MISSPELT.items():
            result = run(option, "true")
            answer = "did you mean %s?" % meant if meant else "--help lists them"
            self.assertEqual(result.stderr, "mpiexec: unknown option %s; %s\n" % (option, answer))

    def test_place_in_the_job(self):
        names = ["LAMINA_" + name for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE",
                                               "NODES")] + ["MPI_LOCALRANKID", "MPI_LOCALNRANKS"]
        show = ("sh", "-c", "echo " + " ".join("$" + name for name in names))
        told = ["0 2 0 2 0 1 0 2", "1 2 1 2 0 1 1 2"]
        for kind in (), SHEPHERD:
            self.says(told, *kind, "-n", "2", *show)
            self.says(told, *kind, "-n", "2", *show, extra=dict.fromkeys(names, "9"))
        # A job within a job has places of its own.
        self.says(told, "-n", "1", MPIEXEC, "-n", "2", *show)
        done = subprocess.run([MPIEXEC, "--help", "environment"], check=True, capture_output=True,
                              text=True, env=clean_environment())
        for name in names:
            self.assertIn(name, done.stdout)

    def test_zz_all_had_their_turn(self):
        self.assertEqual(sorted(set(TAKEN) - tried), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
