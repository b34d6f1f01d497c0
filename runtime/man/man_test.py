#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   every function of the standard ABI has a man page, and no page says what is not so.
Method: the pages as they are installed and the table behind them, against mpi.h, the tables of the
        ABI, what Fortran is told, and the checks in runtime/api as far as checks.py can read them;
        groff formats them all, and the C compiler compiles the examples.
"""
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../fortran")]

# pylint: disable=wrong-import-position
import checks
import generate
import page
import table

ROOT = os.path.join(HERE, "../..")
TABLES = sorted(glob.glob(os.path.join(HERE, "table/*.txt")))
TIME_LIMIT_S = 60

# Through these functions a class comes that somebody else has chosen, or every function has it.
PASSED_ON = {"RaiseTransfer", "RaiseCollective", "NotInitialized"}
# What checks.py finds although the branch is never taken: (functions, classes).
NEVER = [
    # Only neighbours need a topology, and only blocks of one length can be compared.
    (r"MPI_I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|"
     r"reduce_scatter(_block)?|scan|exscan)(_init)?$", {"TOPOLOGY"}),
    (r"MPI_I?(gatherv|scatterv|allgatherv|neighbor_all(gatherv?|toall))(_init)?$", {"TRUNCATE"}),
    (r"MPI_Comm_disconnect$", {"TOPOLOGY"}),
    # A probe has no buffer, and a message that was taken has a sender and a tag.
    (r"MPI_I?m?probe$", {"BUFFER", "COUNT", "TYPE"}),
    (r"MPI_I?mrecv$", {"RANK", "TAG"}),
    # Hints are not data, although a function for data has the same name.
    (r"MPI_File_set_info$", {"ARG", "BUFFER", "COUNT", "TYPE"}),
    # All windows are made by one function, and one element has no count.
    (r"MPI_Win_create_dynamic$", {"BASE", "DISP", "SIZE"}),
    (r"MPI_(Fetch_and_op|Compare_and_swap)$", {"ARG", "BUFFER", "COUNT", "TRUNCATE"}),
]
# What other rooms choose, so that checks.py cannot find it: (functions, classes).
BEHIND = [
    (r"MPI_Remove_error_", {"ARG"}),
    # These are raised when the request is completed.
    (r"MPI_(Irecv|Recv_init|Imrecv|Isendrecv(_replace)?)$", {"TRUNCATE", "PROC_ABORTED"}),
    (r".*(barrier|bcast|gather|scatter|alltoall|reduce|scan)", {"TRUNCATE", "PROC_ABORTED"}),
]
# Phrases that stand in the standard's lists of arguments or on other people's pages.
STOCK = ["(handle)", "(choice)", "(integer)", "(logical)", "(string)", "(state)",
         "negative integer", "initial address", "starting address", "number of elements in",
         "rank of destination", "rank of source", "message tag", "communication request",
         "send buffer (", "receive buffer (", "erroneous", "the user", "upon return", "in order to",
         "this routine", "this function returns", "opaque object", "the implementation",
         "is significant only", "handle to", "blocks until", "semantics"]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def plain(text):
    """What a page says, without the language of man."""
    text = re.sub(r"\\f[A-Z]|\\&|^\.(SH|TP|PP|nf|fi|nh|ad l)\b.*$", "", text, flags=re.M)
    return text.replace("\\-", "-").replace("\\e", "\\")


def tokens(prototype):
    return re.findall(r"\w+|\.\.\.|[^\s\w]", prototype)


def prototypes(text):
    """{name: tokens} of the prototypes of functions of MPI in C."""
    found = re.findall(r"^((?:int|double|MPI_\w+) (MPI_\w+)\([^;]*\);)$", text, re.M)
    return {name: tokens(whole) for whole, name in found}


def setUpModule():
    global ROWS, WORDS, BLOCKS, PAGES, HEADER_PAGES
    ROWS = generate.functions(os.path.join(ROOT, "test/mpi/abi/functions.tsv"),
                              os.path.join(ROOT, "runtime/include/mpi.h"))
    WORDS, BLOCKS = table.read(TABLES)
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    subprocess.run(["tar", "xf", os.path.join(HERE, "man3.tar"), "-C", folder], check=True)
    PAGES = {name[:-2]: read(os.path.join(folder, name)) for name in os.listdir(folder)}
    HEADER_PAGES = {name: PAGES.pop(name) for name in list(PAGES) if name.startswith("lamina_")}
    os.chdir(folder)


class Pages(unittest.TestCase):

    def own(self):
        """(name, text) of the pages that are no links."""
        return [(name, text) for name, text in sorted(PAGES.items()) if not text.startswith(".so ")]

    def test_every_function_has_one(self):
        wanted = set(ROWS) | {"P" + name for name in ROWS}
        self.assertEqual(wanted - set(PAGES), set())
        self.assertEqual(set(PAGES) - wanted, set())
        for name, text in PAGES.items():
            if text.startswith(".so "):
                shown = re.fullmatch(r"\.so man3/(\w+)\.3\n", text).group(1)
                plain_name = name.removeprefix("P")
                self.assertEqual(shown, generate.main_name(plain_name, ROWS))
                self.assertFalse(PAGES[shown].startswith(".so "), name)

    def test_prototypes_are_those_of_the_header(self):
        header = prototypes(read("runtime/include/mpi.h"))
        shown = {}
        for name, text in self.own():
            found = prototypes(plain(text))
            self.assertEqual(next(iter(found), None), name)
            shown.update(found)
        self.assertEqual(set(ROWS) - set(shown), set())
        for name in ROWS:
            self.assertEqual(shown[name], header[name], name)

    def test_headers_of_lamina(self):
        for stem in ("checkpoint", "region", "sr"):
            header = read(os.path.join("runtime/include/lamina", stem + ".h"))
            names = re.findall(r"\b(lamina_\w+)\([^()]*\)\s*__attribute__", header)
            self.assertGreater(len(names), 1)
            shown = plain(HEADER_PAGES["lamina_" + stem])
            for name in names:
                page_text = HEADER_PAGES[name]
                self.assertTrue(name == "lamina_" + stem or page_text == ".so man3/lamina_%s.3\n" % stem, name)
                self.assertRegex(shown, r"\b%s\(" % name)
            self.assertNotIn("__attribute__", shown)

    def test_fortran_is_shown(self):
        for name, text in self.own():
            only_c = name.startswith("MPI_T_") or name.endswith(("_toint", "_fromint"))
            self.assertEqual("use mpi or mpif.h" in text, not only_c, name)
            is_old = ROWS[name]["deprecated_since"] == "MPI-2.0"
            self.assertEqual("use mpi_f08" in text, not only_c and not is_old, name)

    def test_groff_has_no_complaint(self):
        names = [name + ".3" for name, _ in self.own()]
        names += ["lamina_checkpoint.3", "lamina_region.3", "lamina_sr.3"]
        done = subprocess.run(["groff", "-man", "-ww", "-z", *names], check=False, text=True,
                              capture_output=True, timeout=TIME_LIMIT_S)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_the_first_line_can_be_looked_up(self):
        seen = {}
        for name, text in self.own():
            line = re.search(r"\.SH NAME\n%s \\- (.*)\n" % name, text).group(1)
            self.assertRegex(line, r"^[a-z].*[^.]$", name)
            # What is deprecated does what its successor does.
            if not ROWS[name]["deprecated_since"]:
                self.assertFalse(line in seen, "%s and %s" % (name, seen.get(line)))
                seen[line] = name


class Table(unittest.TestCase):

    def parameters(self, name):
        return page.Page(BLOCKS[name], ROWS, WORDS, None)

    def test_each_argument_is_described(self):
        used = set()
        for name, block in BLOCKS.items():
            one = self.parameters(name)
            for argument in one.intents:
                self.assertTrue(one.described(argument)[1], "%s: %s" % (block.where, argument))
                if argument not in block.described:
                    used.add(argument)
        self.assertEqual(set(WORDS.arguments) - used, set(), "words that nobody needs")

    def test_nothing_else_is_described(self):
        by_hand = {}
        for path in TABLES:
            if not path.endswith("vocabulary.txt"):
                by_hand.update({block.name: block for block in table.blocks(path, read(path))})
        for name, block in by_hand.items():
            self.assertEqual(set(block.described) - set(self.parameters(name).intents), set(),
                             block.where)

    def test_what_is_constant_only_goes_in(self):
        for name in BLOCKS:
            one = self.parameters(name)
            for text in ROWS[name]["parameters"].split(", "):
                argument = re.search(r"(\w*)(\[\d*\])*$", text).group(1)
                constant = text.startswith("const ") or not re.search(r"[*\[]", text)
                if constant and argument in one.intents:
                    self.assertEqual(one.described(argument)[0], "in", (name, argument))

    def test_directions_agree_with_what_fortran_is_told(self):
        for name in BLOCKS:
            one = self.parameters(name)
            for argument, intent in one.intents.items():
                if intent == "out":
                    self.assertNotEqual(one.described(argument)[0], "in", (name, argument))

    def test_kinds_fit(self):
        for name, block in BLOCKS.items():
            self.assertEqual(set(block.kind) - set(WORDS.kinds), set(), block.where)
            row = ROWS[name]
            if row["area"] in ("collective", "neighbor-collective") and name != "MPI_Reduce_local":
                self.assertIn("collective", block.kind, name)
            if row["area"] == "tool" and name != "MPI_T_init_thread":
                self.assertEqual(block.kind, ["tool"], name)
            if name == "MPI_Grequest_start" or "MPI_Request *request" not in row["parameters"]:
                self.assertFalse({"nonblocking", "persistent"} & set(block.kind), name)
            elif self.parameters(name).described("request")[0] == "out":
                kind = "persistent" if name.endswith("_init") else "nonblocking"
                self.assertIn(kind, block.kind, name)

    def test_sections_are_of_the_right_chapter(self):
        chapters = {
            "environment": "9 11 15 20", "point-to-point": "3 13 16", "partitioned": "4",
            "collective": "6", "neighbor-collective": "8", "datatype": "3 5 7 16 19", "op": "6",
            "group": "7", "communicator": "3 7 9 16", "topology": "8", "info": "10 16",
            "session": "3 9 11", "dynamic": "11", "rma": "12 7 9", "io": "14 9", "tool": "15",
            "handle-conversion": "20"}
        for name, block in BLOCKS.items():
            self.assertRegex(block.section, r"^\d+(\.\d+)*$", block.where)
            chapter = block.section.split(".")[0]
            self.assertIn(chapter, chapters[ROWS[name]["area"]].split(), block.where)

    def test_see_also_leads_somewhere(self):
        for name, block in BLOCKS.items():
            self.assertTrue(block.see, block.where)
            self.assertEqual(len(set(block.see)), len(block.see), block.where)
            for other in block.see:
                self.assertIn(other, BLOCKS, block.where)
                self.assertNotEqual(other, name, block.where)

    def test_names_in_the_text_exist(self):
        known = set(re.findall(r"\bMPI_\w+", read("runtime/include/mpi.h")))
        for path in TABLES:
            for number, line in enumerate(read(path).split("\n"), 1):
                words = [word for word in re.findall(r"\bMPI_\w+", line) if not word.endswith("_")]
                self.assertEqual(set(words) - known, set(), "%s:%d" % (path, number))

    def test_sentences(self):
        for name, block in BLOCKS.items():
            self.assertTrue(block.text, block.where)
            for paragraph in block.text:
                self.assertRegex(paragraph, r"^[A-Z`].*[.]$", block.where)
            for word, said in block.described.items():
                self.assertRegex(said, r"^(\((in|out|inout)\) )?\S.*[^.]$", (block.where, word))

    def test_own_words(self):
        for path in TABLES:
            text = " ".join(read(path).lower().split())
            for phrase in STOCK:
                self.assertFalse(phrase in text, "%s: '%s'" % (path, phrase))

    def test_mistakes_are_found(self):
        for bad in ("MPI_A - a\n  x: 1\n  x: 2\n", "MPI_A - a\n  no key\n", "MPI_A - a\nmore\n"):
            with self.assertRaises(table.Mistake):
                list(table.blocks("bad.txt", bad))
        one = list(table.blocks("bad.txt", "MPI_A - a\n  like: MPI_B\n"))[0]
        with self.assertRaises(table.Mistake):
            table.inherited({}, one)


class Errors(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = os.path.join(ROOT, "runtime/api")
        files = [name for name in sorted(os.listdir(folder)) if name.endswith((".cc", ".h"))]
        cls.graph = checks.Graph({name: read("runtime/api/" + name) for name in files})

    @staticmethod
    def listed(name, rules):
        found = set()
        for functions, classes in rules:
            if re.match(functions, name, re.I):
                found |= {"MPI_ERR_" + word for word in classes}
        return found

    def reachable(self, name, beyond):
        """The classes that runtime/api can raise; functions for tools return codes of tools."""
        found = self.graph.classes("P" + name, beyond)
        return {word for word in found if word.startswith("MPI_T_") == name.startswith("MPI_T_")}

    def test_the_classes_exist(self):
        known = {row.split("\t")[0] for row in read("test/mpi/abi/constants.tsv").split("\n")}
        self.assertEqual(set(WORDS.errors) - known, set())
        for block in BLOCKS.values():
            self.assertEqual(set(block.raised) - known, set(), block.where)
            unsaid = {name for name, said in block.raised.items() if not said}
            self.assertEqual(unsaid - set(WORDS.errors), set(), block.where)

    def test_each_check_is_on_the_page(self):
        others = {"P" + name for name in ROWS}
        for name, block in BLOCKS.items():
            raised = self.reachable(name, PASSED_ON | others - {"P" + name})
            raised -= self.listed(name, NEVER) | set(block.raised)
            self.assertEqual(raised, set(), "%s: %s raises this; 'errors:' must say so" %
                             (block.where, name))

    def test_each_error_on_the_page_has_a_check(self):
        for name, block in BLOCKS.items():
            if ROWS[name]["area"] not in ("rma", "io", "dynamic"):
                raised = self.reachable(name, set()) | self.listed(name, BEHIND)
                self.assertEqual(set(block.raised) - raised, set(),
                                 "%s: %s never raises this" % (block.where, name))

    def test_the_reader_of_checks(self):
        graph = checks.Graph({
            "a.cc": "namespace {\nint Own() { return Raise(MPI_ERR_TAG); }\n}\n"
                    "#define NEED(x) if (!x) return MPI_ERR_ARG\n"
                    "int PMPI_A(int) {\n  // MPI_ERR_COMM\n  NEED(1);\n"
                    "  return Own() + core::Shared();\n}\n",
            "b.cc": "int Shared() { return MPI_ERR_RANK; }\n"
                    "int PMPI_B() { return Own() + Shared(); }\n"})
        self.assertEqual(graph.classes("PMPI_A"), {"MPI_ERR_ARG", "MPI_ERR_TAG"})
        self.assertEqual(graph.classes("PMPI_B"), {"MPI_ERR_RANK"})
        self.assertEqual(graph.classes("PMPI_B", {"Shared"}), set())


class Examples(unittest.TestCase):

    def test_the_functions_used_most_have_one(self):
        self.assertGreaterEqual(len(self.examples()), 30)
        for name, path in self.examples():
            self.assertRegex(read(path), r"\b%s\(" % name)
            self.assertIn(".SH EXAMPLE", PAGES[name])

    def examples(self):
        paths = sorted(glob.glob(os.path.join(HERE, "examples/*.c")))
        return [(os.path.basename(path)[:-2], path) for path in paths]

    def test_they_compile(self):
        compiler = subprocess.run(
            ["cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
             "-I" + os.path.join(ROOT, "runtime/include"), *(path for _, path in self.examples())],
            check=False, text=True, capture_output=True, timeout=TIME_LIMIT_S)
        self.assertEqual((compiler.returncode, compiler.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
