#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   every rule of tidy.py reports what it is there for, and leaves good code alone.
Method: small made-up trees, a bad and a good one per rule, and the parts the rules stand on.
"""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing of ours stays in the tree
import tidy  # noqa: E402

SPDX = "// SPDX-License-Identifier: BSD-3-Clause\n"

SENDS = {tidy.FUNCTIONS: "name\treturns\tparameters\tarea\nMPI_Send\tint\tint a\tpoint-to-point\n",
         "runtime/api/a.cc": "PROFILED(MPI_Send);\n"}

# rule -> ([bad trees], [good trees]); words are cut in two where this file would break the rule.
SAMPLES = {
    tidy.environment: (
        [{"runtime/p2p/a.cc": 'x = getenv("A");\n'},
         {"launcher/a.cc": "execve(a, b, environ);\n"},
         {"runtime/core/a.cc": 'x = std::getenv("A");\n'}],
        [{"runtime/base/environment.cc": 'getenv("A"); environ;\n'},
         {"runtime/p2p/a.cc": '// getenv("A")\nx = "getenv(1)"; environment();\n'}]),
    tidy.output: (
        [{"runtime/p2p/a.cc": 'printf("x");\n'}, {"transports/shm/a.cc": "std::cout << 1;\n"},
         {"collectives/a.cc": 'fprintf(stderr, "x");\n'}, {"runtime/a.cc": 'puts("x");\n'}],
        [{"launcher/cli/a.cc": 'printf("x");\n'}, {"runtime/a.cc": 'snprintf(b, 2, "x"); // puts(\n'},
         {"transports/conformance/bench.cc": 'int main() { printf("x"); }\n'},
         {"runtime/p2p/a_test.cc": 'printf("x");\n'}]),
    tidy.sleeping: (
        [{"launcher/a.cc": "usleep(3);\n"},
         {"launcher/a.cc": "std::this_thread::sleep_for(1ms); // tidy: sleep: I like it\n"},
         {"test/a.cc": "sleep(1);\n"}, {"test/a.py": "time.sl" + "eep(1)\n"},
         {"test/run": "#!/usr/bin/env python3\ntime.sl" + "eep(1)\n"}, {"test/a.sh": "sleep 1\n"},
         {"test/run": "#!/bin/bash\nmake && sleep 1\n"},
         {"test/a.sh": "while true; do sleep 0.1; done\n"}],
        [{"test/a.cc": "// tidy: sleep: the kernel needs it\nsleep(1);\n"},
         {"test/a.sh": "mpiexec -n 2 sleep 100\n"}, {"test/a.sh": "# sleep 3\nx # do sleep 1\n"},
         {"test/a.py": 'run("do sleep 1")\n'}, {"README.md": "sleep 3\n"},
         {"runtime/a.cc": "// sleep(1)\nAsleep(1); Sleep(2);\n"}]),
    tidy.volatility: (
        [{"runtime/a.cc": "vola" + "tile int x;\n"}, {"test/a.c": "vola" + "tile int x;\n"}],
        [{"runtime/a.cc": 'asm vola' + 'tile("pause"); __asm__ __vola' + 'tile__("");\n'},
         {"test/a.c": "// tidy: vola" + "tile: keeps the loop\nvola" + "tile int x;\n"},
         {"runtime/a.cc": "// vola" + "tile\n"}]),
    tidy.promises: (
        [{"runtime/a.cc": "// TO" + "DO: later\n"}, {"BUILD": "# FIX" + "ME\n"},
         {"test/a.py": "# TO" + "DO(me): later\n"}, {"a.cc": "// TO" + "DO(#12)\n"}],
        [{"runtime/a.cc": "// TO" + "DO(#12): later\n"}, {"runtime/a.cc": "int mastodon;\n"}]),
    tidy.licence: (
        [{"runtime/a.cc": "int x;\n"}, {"test/run": "#!/bin/sh\n"}, {"a.c": "\n\n\n" + SPDX}],
        [{"runtime/a.cc": SPDX}, {"test/run": "#!/bin/sh\n#" + SPDX[2:]}, {"README.md": "x\n"}]),
    tidy.blanks: (
        [{"a.cc": "x;\t\n"}, {"a.cc": "\tx;\n"}, {"README.md": "x \n"}, {"a.py": "x\r\n"},
         {"a.h": "x"}, {"BUILD": "x \n"}],
        [{"a.cc": "x;\n\n  y;\n"}, {"a.cc": ""}, {"Makefile": "\tx\n"}]),
    tidy.columns: (
        [{"a.cc": "x" * 101 + "\n"}, {"a.h": "// clang-format on\n" + "x" * 101},
         {"a.cc": "// clang-format off\n// clang-format on\n" + "x" * 101}],
        [{"a.cc": "x" * 100}, {"runtime/include/mpi.h": "x" * 200}, {"a.cc": "\u2190" * 100},
         {"a.cc": "// clang-format off\n" + "x" * 300}]),
    tidy.using: (
        [{"a.cc": "  using " + "namespace std;\n"}, {"a.h": "using " + "namespace std::literals;\n"}],
        [{"a.cc": "// using " + "namespace std;\nusing std::string; namespace a = b;\n"}]),
    tidy.guards: (
        [{"a.h": "int x;\n"}, {"a.h": "#ifndef A_H\n#define A_H\n"},
         {"a.h": 'extern "C" { }\n'}],
        [{"a.h": SPDX + "#pragma once\n"}, {"a.h": '#ifndef A_H_\n#define A_H_\nextern "C" {\n'},
         {"test/mpi/a.h": "#ifndef A_H\n#define A_H\n"}]),
    tidy.machine: (
        [{"README.md": "see /wo" + "rk/x\n"}, {"a.sh": "cp /ro" + "ot/x .\n"},
         {"a.sh": "cd /tmp/b" + "z\n"}],
        [{"README.md": "net/wo" + "rk/x and frame" + "wo" + "rk/ and runtime/ro" + "ot/a\n"}]),
    tidy.arrows: (
        [{"runtime/base/a.cc": '#include "runtime/core/comm.h"\n'},
         {"runtime/component/a.cc": '#include "transports/transport.h"\n'},
         {"transports/shm/a.cc": '#include "runtime/p2p/p2p.h"\n'},
         {"transports/shm/a.cc": '# include "runtime/core/comm.h"\n'},
         {"transports/shm/a_test.cc": '#include "runtime/core/comm.h"\n'},
         {"transports/shm/a.h": '#include "collectives/collective.h"\n'},
         {"runtime/p2p/a.cc": '#include "transports/shm/shm_transport.h"\n'},
         {"runtime/api/a.cc": '#include "collectives/basic/basic.h"\n'},
         {"collectives/exec/a.cc": '#include "transports/transport.h"\n'},
         {"launcher/cli/a.cc": '#include "runtime/p2p/p2p.h"\n'},
         {"launcher/main.cc": '#include "runtime/core/comm.h"\n'},
         {"launcher/main.cc": '#include "transports/shm/shm_transport.h"\n'},
         {"launcher/cli/a.cc": '#include "launcher/spawn/local/local.h"\n'},
         {"runtime/core/a.cc": '#include "launcher/plan/plan.h"\n'},
         {"runtime/core/a.cc": '#include "test/mpi/check.h"\n'}],
        [{"runtime/base/a.cc": '#include "runtime/base/text.h"\n#include <vector>\n'},
         {"runtime/p2p/a.cc": '#include "transports/transport.h"\n'},
         {"runtime/p2p/a_test.cc": '#include "transports/self/self_transport.h"\n'},
         {"runtime/assembly/a.cc": '#include "transports/shm/shm_transport.h"\n'
                                   '#include "collectives/basic/basic.h"\n'},
         {"launcher/main.cc": '#include "launcher/spawn/local/local.h"\n'},
         {"launcher/spawn/local/a.cc": '#include "launcher/spawn/local/local.h"\n'},
         {"launcher/pmix/a.cc": '#include "runtime/bootstrap/card.h"\n'},
         {"collectives/basic/a.cc": '#include "collectives/barrier/barrier.h"\n'},
         {"runtime/api/a.cc": '#include "collectives/select/select.h"\n'}]),
    tidy.siblings: (
        [{"transports/shm/a.cc": '#include "transports/ucx/b.h"\n'},
         {"launcher/spawn/ssh/a.cc": '\n#include "launcher/spawn/local/b.h"\n'}],
        [{"transports/shm/a.cc": '#include "transports/shm/b.h"\n#include "transports/transport.h"\n'},
         {"transports/conformance/a.cc": '#include "transports/ucx/b.h"\n'},
         {"transports/shm/a_test.cc": '#include "transports/self/b.h"\n'}]),
    tidy.top: (
        [{"notes/a.txt": "x"}, {"a.cc": "x"}],
        [{"runtime/a.cc": "x", "README.md": "x", ".ci/run": "x"}]),
    tidy.readmes: (
        [{"runtime/p2p/a.cc": ""}, {"collectives/barrier/a.cc": "", "collectives/README.md": "x"},
         {"test/apps/a/a.c": "", "test/apps/README.md": "a/"}],
        [{"runtime/p2p/a.cc": "", "runtime/p2p/README.md": ""}, {"test/data/a.txt": ""},
         {"collectives/barrier/a.cc": "", "collectives/README.md": "| `barrier/` | x |\n"}]),
    tidy.orphans: (
        [{"a/BUILD": 'srcs = ["b.cc"]\n', "a/c.cc": ""}, {"a/c.cc": ""},
         {"a/BUILD": '# srcs = ["c.cc"]\n', "a/c.cc": ""},
         {"a/BUILD": 'srcs = ["xc.cc"]\n', "a/c.cc": ""},
         {"a/BUILD": 'srcs = ["c.cc"]\n', "a/sub/c.cc": ""}],
        [{"a/BUILD": 'srcs = ["c.cc", ":d.cc"]\n', "a/c.cc": "", "a/d.cc": ""},
         {"a/BUILD": 'srcs = ["sub/c.cc"]\n', "a/sub/c.cc": ""},
         {"a/BUILD": 'srcs = glob(["*_test.cc", "sub/**/*.c"])\n', "a/c_test.cc": "",
          "a/sub/d/e.c": ""}]),
    tidy.names: (
        [{"runtime/p2p/util.h": ""}, {"runtime/common/a.h": ""}, {"runtime/helpers_test.cc": ""}],
        [{"runtime/p2p/match.h": "", "README.md": "", "runtime/utility_belt.h": ""}]),
    tidy.twice: (
        [{"runtime/api/a.cc": "int PMPI_Send(int a) { return f(); }\n",
          "runtime/api/b.cc": "UNSUPPORTED(MPI_Send, int)\n"},
         {"runtime/api/a.cc": "PROFILED(MPI_Send);\n", "runtime/api/b.cc": "PROFILED(MPI_Send);\n"},
         {"runtime/api/a.cc": "int MPI_X(int (*f)(int),\n  int b) {\n}\nint MPI_X(void) {}\n"}],
        [{"runtime/api/a.cc": "int PMPI_Send(int a) { return PMPI_Recv(a); }\nPROFILED(MPI_Send);\n",
          "runtime/api/b.cc": "int PMPI_Recv(int a) { if (PMPI_Send(a)) { } }\n"
                              "// UNSUPPORTED(MPI_Send, int)\nPROFILED(MPI_Recv);\n",
          "runtime/include/mpi.h": "int PMPI_Send(int a);\n",
          "runtime/api/c_test.cc": "int PMPI_Send(int a) { return 0; }\n"}]),
    tidy.mistakes: (
        [{**SENDS, "test/mpi/a.c": "EXPECT(MPI_Send(1) == MPI_SUCCESS);\nx = MPI_ERR_ARG;\n"},
         {**SENDS, tidy.INFALLIBLE: "name\treason\nMPI_Send\t\n"},
         {**SENDS, tidy.INFALLIBLE: "name\treason\nMPI_Send\tno way\n",
          "test/mpi/a.c": "EXPECT(ClassOf(MPI_Send(1)) == 3);\n"}],
        [{**SENDS, "test/mpi/a.c": "EXPECT(ClassOf(MPI_Send(1)) == MPI_ERR_ARG);\n"},
         {**SENDS, "test/mpi/a.c": "#define BAD(call) \\\n  EXPECT(call == MPI_ERR_ARG)\nBAD(MPI_Send(1));\n"},
         {**SENDS, "test/mpi/a.c": "F f[] = {MPI_Recv, MPI_Send};\nEXPECT(f[i](1) == MPI_ERR_ARG);\n"},
         {**SENDS, tidy.INFALLIBLE: "name\treason\nMPI_Send\tno way\n"}]),
}


class Rules(unittest.TestCase):
    def test_every_rule_has_samples(self):
        self.assertEqual({r.__name__ for r in tidy.RULES}, {r.__name__ for r in SAMPLES})

    def test_bad_samples_are_reported(self):
        for rule, (bad, _) in SAMPLES.items():
            self.assertTrue(bad)
            for tree in bad:
                with self.subTest(rule=rule.__name__, tree=tree):
                    self.assertNotEqual(list(rule(tree)), [])

    def test_good_samples_are_not(self):
        for rule, (_, good) in SAMPLES.items():
            self.assertTrue(good)
            for tree in good:
                with self.subTest(rule=rule.__name__, tree=tree):
                    self.assertEqual(list(rule(tree)), [])

    def test_a_finding_names_its_line(self):
        tree = {"runtime/a.cc": 'int x;\n/* two\nlines */ const char* s = "\\"";\nputs(s);\n'}
        self.assertEqual([(f.path, f.line) for f in tidy.output(tree)], [("runtime/a.cc", 4)])


class CodeOnly(unittest.TestCase):
    def test_blanks_comments_and_literals_and_keeps_lines(self):
        for text, code in [
                ("a; // b\nc;", "a;     \nc;"),
                ("a /* b\nc */ d", "a     \n     d"),
                ('x("a\\"b");', 'x("    ");'),
                ("x = 'y'; z = 1'000'000;", "x = ' '; z = 1'000'000;"),
                ('"//" a', '"  " a'),
        ]:
            self.assertEqual(tidy.code_only(text), code)
        raw = 'R"(a\n"b" // c)" d'
        self.assertEqual(tidy.code_only(raw).count("\n"), 1)
        self.assertTrue(tidy.code_only(raw).endswith(" d"))
        self.assertNotIn("b", tidy.code_only(raw))


class Functions(unittest.TestCase):
    def test_finds_bodies_and_their_lengths(self):
        text = ("namespace a {\nclass B {\n public:\n  int c() const { return d_; }\n};\n"
                "int B::e(int f) {\n  if (f) {\n    return 1;\n  }\n  return 2;\n}\n"
                "#define M(x) \\\n  { x }\nint table[] = {f(1), 2};\n}  // namespace a\n")
        self.assertEqual(list(tidy.functions(text)), [("c", 4, 1), ("B::e", 6, 6)])


class Reading(unittest.TestCase):
    def test_skips_what_version_control_ignores(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in [(".gitignore", "/.build\n# x\nout.json\n"), (".build/a.cc", "x"),
                               ("bazel-out/a.cc", "x"), ("out.json", "x"), ("runtime/a.cc", "y"),
                               ("runtime/__pycache__/a.pyc", "x"), (".git/config", "x")]:
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                    f.write(text)
            with open(os.path.join(root, "runtime/picture"), "wb") as f:
                f.write(b"\xff\xfe\x00")
            os.symlink("a.cc", os.path.join(root, "runtime/link.cc"))
            self.assertEqual(sorted(tidy.read_tree(root)), [".gitignore", "runtime/a.cc"])


if __name__ == "__main__":
    unittest.main()
