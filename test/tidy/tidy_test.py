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
import prose  # noqa: E402
import reading  # noqa: E402
import tidy  # noqa: E402

SPDX = "// SPDX-License-Identifier: BSD-3-Clause\n"

DESCRIBE = 'param::Describe("a.b.c", &Params::c, Unit::kNone, 1u, 9u,\n "'

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
         {"transports/conformance/benchmark.cc": 'int main() { printf("x"); }\n'},
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
         {"collectives/select/a.h": '#include "collectives/board/params.h"\n'},
         {"collectives/bcast/a.cc": '#include "collectives/hierarchical/inner.h"\n'},
         {"collectives/board/a.cc": '#include "collectives/basic/basic.h"\n'},
         {"launcher/cli/a.cc": '#include "runtime/p2p/p2p.h"\n'},
         {"launcher/main.cc": '#include "runtime/core/comm.h"\n'},
         {"launcher/main.cc": '#include "transports/shm/shm_transport.h"\n'},
         {"launcher/cli/a.cc": '#include "launcher/spawn/local/local.h"\n'},
         {"launcher/shepherd/a.cc": '#include "checkpoint/criu/criu.h"\n'},
         {"runtime/core/a.cc": '#include "checkpoint/store/manifest.h"\n'},
         {"checkpoint/store/a.cc": '#include "runtime/memory/copy.h"\n'},
         {"runtime/core/a.cc": '#include "launcher/plan/plan.h"\n'},
         {"runtime/core/a.cc": '#include "test/mpi/check.h"\n'}],
        [{"runtime/base/a.cc": '#include "runtime/base/text.h"\n#include <vector>\n'},
         {"runtime/p2p/a.cc": '#include "transports/transport.h"\n'},
         {"runtime/p2p/a_test.cc": '#include "transports/self/self_transport.h"\n'},
         {"runtime/assembly/a.cc": '#include "transports/shm/shm_transport.h"\n'
                                   '#include "collectives/basic/basic.h"\n'},
         {"launcher/main.cc": '#include "launcher/spawn/local/local.h"\n'},
         {"launcher/main.cc": '#include "checkpoint/criu/criu.h"\n'},
         {"launcher/shepherd/a.cc": '#include "checkpoint/store/generation.h"\n'},
         {"launcher/spawn/local/a.cc": '#include "launcher/spawn/local/local.h"\n'},
         {"launcher/pmix/a.cc": '#include "runtime/bootstrap/card.h"\n'},
         {"collectives/basic/a.cc": '#include "collectives/barrier/barrier.h"\n'},
         {"collectives/board/a.cc": '#include "collectives/board/board.h"\n'},
         {"collectives/plugin/a_test.cc": '#include "collectives/basic/basic.h"\n'},
         {"collectives/conformance/a.cc": '#include "collectives/basic/basic.h"\n'},
         {"collectives/hierarchical/inner.cc": '#include "collectives/basic/basic.h"\n'},
         {"runtime/api/a.cc": '#include "collectives/select/select.h"\n'}]),
    tidy.circles: (
        [{"runtime/a/a.h": '#include "runtime/b/b.h"\n', "runtime/b/b.h": '#include "runtime/a/a.h"\n'},
         {"runtime/a/a.h": '#include "runtime/b/b.h"\n', "runtime/b/c.cc": '#include "transports/t.h"\n',
          "transports/u.h": '#include "runtime/a/a2.h"\n'}],
        [{"runtime/a/a.h": '#include "runtime/b/b.h"\n#include "runtime/a/c.h"\n',
          "runtime/b/b_test.cc": '#include "runtime/a/a.h"\n',
          "runtime/b/conformance/b.cc": '#include "runtime/a/a.h"\n'},
         {"runtime/a/a.h": '#include "runtime/b/b.h"\n#include "runtime/c/c.h"\n',
          "runtime/b/b.h": '#include "runtime/c/c.h"\n'}]),
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
    tidy.pages: (
        [{"runtime/README.md": "x\n" * 121}],
        [{"runtime/README.md": "x\n" * 120, "README.md": "x\n" * 300, "runtime/a.md": "x\n" * 300}]),
    tidy.numbers: (
        [{"runtime/a.cc": "// 64 KiB take 9.2 us and past the caches 10.4.\n"},
         {"runtime/a.cc": "int a;  // 3, 4 or 5 of them\n"},
         {"runtime/a.h": "/* Writing 1 MiB takes 2 ms,\n * and else 3. */\n"},
         {"runtime/a.h": "// The other one.\n//\n// It took 33 ms on 4 strands,\n// 27 on two.\n"}],
        [{"runtime/a.cc": "// Pieces of 64 KiB, of which 16 fit.\n\n// A pause of 20 ms.\n"},
         {"runtime/a_test.cc": "// 3 4 5 6\n", "test/a.c": "// 3 4 5 6\n"},
         {"runtime/a.cc": "//   kind   bytes 2..5   count\n//   3      4 and 5      6\n"},
         {"runtime/a.cc": "// MPI-5.0, sections 6.3 to 6.8, 6.12 and 6.13; table 7.1.\n"},
         {"runtime/a.cc": "// Source: Watts, van de Geijn, Lett. 5 (1995) 281-292.\n"},
         {"runtime/a.cc": "// Cost:   (P - 2 + S) * alpha, S = sqrt((P - 1) * n / 8192), 7 or 8, 9.\n"},
         {"runtime/a.cc": "// Rank 0 sends 2^k + 3 blocks of 4 n bytes, 64-bit words, to rank 1 and rank 2.\n"},
         {"runtime/a.cc": "// \"0-3,8\" is 5 of them, [08-10] is 08, 09, 10, and `f(3, 4, 5)`.\n"},
         {"runtime/a.cc": "// GCC 12, Zen 3, UCX 1.16, Fortran 2018, kernels before 5.3.\n"},
         {"runtime/a.cc": "f(3, 4, 5, 6);  // It is.\n"}]),
    tidy.fragments: (
        [{"runtime/a.cc": "// %s\n" % sentence} for sentence in (
            "Of a broadcast.", "Of several ringers one wins; the others need no call.",
            "It is. Nor where one expects less than another has, which is wrong.", "Who has arrived.",
            "Whoever is there.", "As memcpy, from the last byte to the first: what is read is old.",
            "As many as the window allows.", "For messages: what was written, made short.",
            "For operation `number`, `bytes` that are short.", "Likewise for reduce.", "That it takes.")]
        + [{"test/a.c": "int a; /* For short\n * blocks. */\n"}],
        [{"runtime/a.cc": "// %s\n" % sentence} for sentence in (
            "For each peer, the bytes that have arrived are counted.", "As long as it is full, nothing is sent.",
            "As section 9.5 says, codes are given again.", "Of the two contexts, the smaller one is taken.",
            "Whoever waits at a board does nothing else.", "Who reads this?", "Nor does it wait.",
            "That is slow.", "Office hours.", "It is\n// Of no use.", "Foreign code.")]
        + [{"runtime/a.md": "Of a broadcast.\n", "runtime/b.cc": 'x = "// Of a broadcast.";\n'}]),
    tidy.help_texts: (
        [{"runtime/a.h": DESCRIBE + "x" * 201 + '")'},
         {"runtime/a.h": DESCRIBE + "x" * 101 + '"\n  "' + "y" * 100 + '"),\n'}],
        [{"runtime/a.h": DESCRIBE + "x" * 100 + '"\n  "' + "y" * 100 + '"),\n f("' + "z" * 300 + '")'},
         {"runtime/a_test.cc": DESCRIBE + "x" * 201 + '")'}]),
    tidy.formatting: (
        [{".clang-format": "BasedOnStyle: Google\n", "runtime/a.cc": "int  a;\n"}],
        [{".clang-format": "BasedOnStyle: Google\n", "runtime/a.cc": "int a;\n", "test/a.c": "int  a;\n",
          "runtime/include/mpi.h": "int  a;\n"}, {"README.md": ""}]),
}


class Rules(unittest.TestCase):
    def test_every_rule_has_samples(self):
        self.assertLessEqual({r.__name__ for r in tidy.RULES}, {r.__name__ for r in SAMPLES})

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
            self.assertEqual(reading.code_only(text), code)
        raw = 'R"(a\n"b" // c)" d'
        self.assertEqual(reading.code_only(raw).count("\n"), 1)
        self.assertTrue(reading.code_only(raw).endswith(" d"))
        self.assertNotIn("b", reading.code_only(raw))


class Prose(unittest.TestCase):
    def test_paragraphs_are_what_stands_together(self):
        text = ("// SPDX-License-Identifier: X\n// One\n// goes on.\n//\n// Two:\n//    code(3);\n// on.\n"
                "int a;  // Three.\n// Four.\n\n/* Five\n * and\n */\n// Six\n")
        self.assertEqual(list(prose.paragraphs(text)),
                         [(2, "One goes on."), (5, "Two: ; on."), (8, "Three."), (9, "Four."),
                          (11, "Five and"), (14, "Six")])

    def test_help_is_the_last_text(self):
        text = ('// param::Describe("no.no", &P::n, "No.")\nauto x = std::tuple{\n'
                'param::Describe("a.b", &P::b, "one|two", "Say \\"(\\" and"\n   " go."),\n'
                'Describe(kName, &P::c)};\n')
        self.assertEqual(list(prose.helps(text)), [(3, "a.b", 'Say \\"(\\" and go.')])


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
            self.assertEqual(sorted(reading.read_tree(root)), [".gitignore", "runtime/a.cc"])


if __name__ == "__main__":
    unittest.main()
