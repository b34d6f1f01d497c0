#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `lamina checkpoint` shows what generations a directory has, and names what is wrong with one.
Method: the built program on generations that are written here, by the format's description alone.
"""

import os
import shutil
import subprocess
import unittest

MPIEXEC = os.path.abspath("launcher/mpiexec")
SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
STORE = os.path.join(SCRATCH, "D")
TIME_LIMIT_S = 60


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def private(path, data):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o600)


def write_generation(number, ranks=2, content=b"state"):
    """Returns its folder."""
    folder = os.path.join(STORE, "g%06d" % number)
    os.makedirs(folder)
    private(os.path.join(folder, "plan"), b"plan")
    lines = ["lamina checkpoint 1", "generation %d after %d" % (number, number - 1), "job abc",
             "user %d" % os.getuid(), "taken 2026-11-27T09:41:07Z", "engine self 1.0",
             "kernel 6.1.0 x86_64", "plan 4 %08x" % crc32c(b"plan"), "node 0 here"]
    lines += ["rank %d node 0 process %d links" % (rank, 100 + rank) for rank in range(ranks)]
    for rank in range(ranks):
        os.mkdir(os.path.join(folder, "rank%05d" % rank))
        private(os.path.join(folder, "rank%05d" % rank, "image"), content)
        lines.append("part %d image %d %08x" % (rank, len(content), crc32c(content)))
    text = "".join(line + "\n" for line in lines).encode()
    private(os.path.join(folder, "manifest"),
            text + b"end %d %08x\n" % (len(lines), crc32c(text)))
    return folder


def checkpoint(*words):
    return subprocess.run([LAMINA, "checkpoint", *words], check=False, capture_output=True, text=True,
                          timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)


class Store(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(STORE, ignore_errors=True)
        os.mkdir(STORE, 0o700)

    def test_generations_are_listed_the_newest_first(self):
        write_generation(9, ranks=1)
        write_generation(10, content=bytes(2_100_000))
        os.mkdir(os.path.join(STORE, "g000011.part"))
        result = checkpoint("--list", STORE)
        self.assertEqual(result.stdout.splitlines(), [
            "generation 10: 2 ranks, 4.2 MB, by self 1.0, taken 2026-11-27T09:41:07Z",
            "generation 9: 1 rank, 9 B, by self 1.0, taken 2026-11-27T09:41:07Z",
            "g000011.part: not complete"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_flipped_bit_is_found_by_verify_alone(self):
        write_generation(1)
        folder = write_generation(2)
        private(os.path.join(folder, "rank00001", "image"), b"stbte")
        self.assertEqual(checkpoint("--list", STORE).returncode, 0)
        result = checkpoint("--verify", STORE)
        self.assertEqual(result.returncode, 1)
        first, second = result.stdout.splitlines()
        self.assertRegex(first, r"^g000002: rank00001/image is damaged: its checksum is \w{8}, must be ")
        self.assertRegex(second, r"^generation 1: 2 ranks, 14 B, .*, whole$")

    def test_a_file_that_is_cut_off_is_named(self):
        folder = write_generation(1)
        private(os.path.join(folder, "rank00001", "image"), b"st")
        for word in ("--list", "--verify"):
            result = checkpoint(word, STORE)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, "g000001: rank00001/image has 2 bytes, must have 5\n")

    def test_directories_that_cannot_be_used(self):
        result = checkpoint("--list", STORE)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "lamina checkpoint: there is no generation in %s\n" % STORE)
        os.chmod(STORE, 0o777)
        result = checkpoint("--verify", STORE)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "lamina checkpoint: %s may be written by others (mode 0777); "
                         "chmod go-w it\n" % STORE)
        result = checkpoint("--list", STORE + "/none")
        self.assertEqual(result.returncode, 2)
        self.assertIn("No such file or directory", result.stderr)

    def test_words(self):
        for words, message in ((("x", STORE), 'unknown word "x"'), (("--lits", STORE), "did you mean --list?"),
                               (("x",), '"x" is not the number of a process'), (("--list",), "--list needs one directory"),
                               (("--list", STORE, STORE), "needs one directory"),
                               (("1", "2"), "one job can be saved at a time, and here are 2"),
                               (("--end", "--move", "a=b", "1"), "--end and --move exclude each other"),
                               (("1", "--move", "a=b", "--end"), "--end and --move exclude each other"),
                               (("--end", "--list", STORE), "--list and --end exclude each other"),
                               (("--move", "a=b", "--move", "c=d"), "--move can be given only once"),
                               (("1", "--move"), "--move needs two hosts behind it, as in node7=node9"),
                               (("--move", "1", "a=b"), "--move needs two hosts"),
                               (("--move", "a=", "1"), "--move needs two hosts")):
            result = checkpoint(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(message, result.stderr)
        self.assertTrue(checkpoint("--help").stdout.startswith("usage: lamina checkpoint"))

    def test_words_in_any_order(self):
        write_generation(1)
        for words in (("--verify", STORE), (STORE, "--verify"), ("--list", "--verify", STORE), ("--verify", "--list", STORE),
                      ("--list", STORE, "--verify")):
            result = checkpoint(*words)
            self.assertEqual((result.returncode, result.stderr), (0, ""), words)
            self.assertIn(", whole", result.stdout, words)
        # The job is looked for, whichever word comes first, and is not there.
        for words in (("--end", "999999999"), ("999999999", "--end"), ("--move", "a=b", "999999999"),
                      ("999999999", "--move", "a=b")):
            result = checkpoint(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn("999999999", result.stderr)
            self.assertNotIn("unknown word", result.stderr)
            self.assertNotIn("not the number of a process", result.stderr)


class Program(unittest.TestCase):
    def program(self, folder, version):
        path = os.path.join(SCRATCH, folder, "criu")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho Version: %s\n" % version)
        os.chmod(path, 0o755)
        return path

    def test_that_of_the_installation_precedes_that_of_the_system(self):
        own = os.path.join(SCRATCH, "prefix/bin/lamina")
        os.makedirs(os.path.dirname(own))
        shutil.copy(os.path.realpath(MPIEXEC), own)
        found = self.program("found", "4.2.3")
        named = self.program("named", "4.2.5")
        variables = dict(os.environ, PATH=os.path.dirname(found))

        def info(*words):
            text = subprocess.run([own, "info", "checkpoint", *words], check=True, capture_output=True, text=True,
                                  timeout=TIME_LIMIT_S, env=variables).stdout
            return " ".join(text.split())

        self.assertIn(found + " (4.2.3, found in PATH) saves whole processes", info())
        installed = self.program("prefix/libexec/lamina/criu", "4.2.4")
        self.assertIn(installed + " (4.2.4, of this installation) saves whole processes", info())
        variables["LAMINA_CHECKPOINT_CRIU_PROGRAM"] = named
        self.assertIn(named + " (4.2.5, named by checkpoint.criu.program) saves whole processes", info())


if __name__ == "__main__":
    unittest.main(verbosity=2)
