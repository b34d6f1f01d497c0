#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   manual pages and --help say the same, and completion offers what there is.
Method: the installed files against the installed programs: every option of the help texts is looked
        for in the pages and the other way round; man renders them, and finds those of MPI's
        functions; bash itself completes.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

SCRATCH = os.environ["TEST_TMPDIR"]
PREFIX = os.path.join(SCRATCH, "prefix")
TIME_LIMIT_S = 30
OWN_PAGES = ("checkpoint", "profile", "restart", "stack", "top", "trace", "why")


def run(*words, cwd=SCRATCH, data=None):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PMIX_", "LAMINA_", "SLURM_", "PBS_", "LD_"))}
    kept.update(HOME=SCRATCH, PATH=PREFIX + "/bin:/usr/local/bin:/usr/bin:/bin")
    return subprocess.run(words, check=False, capture_output=True, text=True, cwd=cwd, env=kept,
                          timeout=TIME_LIMIT_S, input=data)


def setUpModule():
    os.makedirs(PREFIX, exist_ok=True)
    subprocess.run(["tar", "xf", os.path.abspath(sys.argv[1]), "-C", PREFIX], check=True)


def page(name):
    """As text: without the language of man."""
    with open(os.path.join(PREFIX, "share/man/man1", name), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"\\f[A-Z]", "", text).replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    return re.sub(r"\\ ", " ", text)


def options_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))


class Pages(unittest.TestCase):

    def test_every_program_has_one(self):
        commands = {"lamina-" + name for name in OWN_PAGES}
        programs = set(os.listdir(PREFIX + "/bin")) | commands
        pages = {name[:-2] for name in os.listdir(PREFIX + "/share/man/man1")}
        self.assertEqual(programs - pages, set())
        self.assertEqual(pages - programs, set())

    def test_mpiexec_is_its_help(self):
        text = page("mpiexec.1")
        shown = run("mpiexec", "--help", "all").stdout
        for line in shown.splitlines():
            if line.startswith("  -"):
                self.assertIn(line.strip(), text)
        self.assertEqual(options_in(shown) - options_in(text), set())
        self.assertEqual(options_in(text) - options_in(shown), set())

    def test_lamina_is_its_help(self):
        text = page("lamina.1")
        overview = run("lamina", "help").stdout
        commands = re.findall(r"^  ([a-z]+) ", overview, re.M)
        self.assertGreater(len(commands), 5)
        for command in commands:
            self.assertIn("\n.B %s\n" % command, text)
        for command in ("ps", "check", "clean", "info"):
            self.assertIn(run("lamina", command, "--help").stdout, text)

    def test_own_pages_are_the_help_of_their_commands(self):
        for name in OWN_PAGES:
            with self.subTest(name):
                text = page("lamina-%s.1" % name)
                self.assertIn(run("lamina", name, "--help").stdout, text)
                for option in re.findall(r"^\.B (--[a-z-]+)", text, re.M):
                    self.assertIn(option, run("mpiexec", "--help", "all").stdout)
                for other in re.findall(r"^\.BR (lamina-[a-z]+) ", text, re.M):
                    self.assertTrue(os.path.exists(os.path.join(PREFIX, "share/man/man1", other + ".1")), other)

    def test_pages_lead_to_saved_states(self):
        pages = {"man1/lamina-checkpoint.1", "man1/lamina-restart.1", "man3/lamina_checkpoint.3"}
        for name in ("man1/mpiexec.1", "man1/lamina.1", *sorted(pages)):
            named = page("../" + name).split(".SH SEE ALSO\n")[1]
            for other in pages - {name}:
                base, section = other[5:].rsplit(".", 1)
                self.assertRegex(named, r"\b%s ?\(%s\)" % (base, section), name)
                self.assertTrue(os.path.exists(os.path.join(PREFIX, "share/man", other)), other)

    def test_mpicc_says_what_it_understands(self):
        text = page("mpicc.1")
        with open(os.path.join(PREFIX, "bin/mpicc"), encoding="utf-8") as file:
            script = file.read()
        usage = re.search(r"#   mpicc .*?\n\n", script, re.S).group(0)
        for option in ("-show", "-compile_info", "-link_info", "-cc=", "-cxx=", "-fc="):
            self.assertIn(option, usage)
            self.assertIn(option, text)
        for variable in re.findall(r"\$\{(LAMINA_[A-Z]+)", script):
            self.assertIn(variable, text)
        wrappers = [name for name in os.listdir(PREFIX + "/bin")
                    if os.path.realpath(PREFIX + "/bin/" + name).endswith("/mpicc")]
        for name in wrappers:
            self.assertIn(name, text)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_renders_them(self):
        for name in ("mpiexec.1", "lamina.1", "lamina-checkpoint.1", "lamina-restart.1", "mpicc.1"):
            result = run("man", "--warnings", "-l", os.path.join(PREFIX, "share/man/man1", name))
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)
            self.assertGreater(len(result.stdout.splitlines()), 20)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_finds_functions(self):
        # With PREFIX/bin in PATH, man looks into PREFIX/share/man by itself.
        for name in ("MPI_Send", "MPI_Send_c", "PMPI_Send", "PMPI_Send_c"):
            found = run("man", "-w", name)
            self.assertEqual(found.stdout, PREFIX + "/share/man/man3/MPI_Send.3\n", found.stderr)
            shown = run("man", "--warnings", name)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), name)
            self.assertIn("MPI_Send - send a message", shown.stdout)


class Completion(unittest.TestCase):

    def complete(self, *words):
        """What bash offers for the last of `words`."""
        script = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
compopt() { :; }  # only where bash itself is completing
"$(complete -p "${1##*/}" | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
printf '%s\\n' "${COMPREPLY[@]}"
"""
        name = words[0].rsplit("/", 1)[-1]
        result = run("bash", "-c", script, "-",
                     os.path.join(PREFIX, "share/bash-completion/completions", name), *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        return [line for line in result.stdout.split("\n") if line]

    def test_options(self):
        offered = self.complete("mpiexec", "--")
        for line in run("mpiexec", "--help").stdout.splitlines():
            names = re.match(r"  (-[^\s,\[]+(?:, -[^\s,\[]+)*)", line)
            for option in names.group(1).split(", ") if names else []:
                self.assertIn(option, offered + self.complete("mpiexec", "-"))
        self.assertEqual(self.complete("mpirun", "--map"), ["--map-by"])
        self.assertEqual(self.complete("mpiexec", "-n", "4", "--bind-to", "so"), ["socket"])
        self.assertEqual(self.complete("mpiexec", "--rank-by", "no"), ["node"])
        self.assertIn("hosts", self.complete("mpiexec", "--help", ""))

    def test_names_of_parameters(self):
        names = run("lamina", "info", "--names").stdout.split()
        self.assertIn("transport.shm.ring_cells", names)
        self.assertIn("launcher.shepherd.window", names)
        self.assertEqual(self.complete("mpiexec", "--param", "launcher.shepherd.win"),
                         ["launcher.shepherd.window="])
        self.assertEqual(len(self.complete("mpiexec", "--param", "")), len(names))
        self.assertEqual(self.complete(PREFIX + "/bin/mpiexec", "--param", "transport.shm.ring_c"),
                         ["transport.shm.ring_cells="])

    def test_hosts(self):
        self.assertIn("localhost", self.complete("mpiexec", "-H", "local"))
        self.assertIn("other,localhost", self.complete("mpiexec", "-H", "other,local"))

    def test_a_program_and_what_belongs_to_it(self):
        self.assertIn("mpiexec", self.complete("mpiexec", "-n", "2", "mpiex"))
        self.assertEqual(self.complete("mpiexec", "-n", "2", "./program", "--ma"), [])
        self.assertEqual(self.complete("mpiexec", "./program", "-x", ":", "--map"), ["--map-by"])

    def test_subcommands(self):
        self.assertEqual(self.complete("lamina", "cl"), ["clean"])
        commands = re.findall(r"^  ([a-z]+) ", run("lamina", "help").stdout, re.M)
        self.assertEqual(sorted(self.complete("lamina", "")), sorted(commands))
        self.assertEqual(self.complete("lamina", "ps", "--p"), ["--ping"])
        self.assertEqual(self.complete("lamina", "check", "--hostf"), ["--hostfile"])
        self.assertEqual(self.complete("lamina", "run", "--map"), ["--map-by"])
        self.assertIn("--params", self.complete("lamina", "info", "--par"))
        self.assertEqual(self.complete("lamina", "help", "bind"), ["binding"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
