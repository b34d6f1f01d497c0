#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   third_party/criu refuses words that it does not know, removes nothing of others, and leaves nothing behind
        when it is interrupted, at whatever it is.
Method: the script with an apt-get of ours in PATH, which says what it was asked and then waits for ever.
"""

import os
import shutil
import signal
import subprocess
import unittest

SCRIPT = os.path.abspath("third_party/criu")
SCRATCH = os.environ["TEST_TMPDIR"]
TOOLS = os.path.join(SCRATCH, "tools")
PLACE = os.path.join(SCRATCH, "place")
ASKED = os.path.join(SCRATCH, "asked")
TIME_LIMIT_S = 30

APT_GET = """#!/bin/bash
if [[ $1 == indextargets ]]; then echo 'Debian|Debian|http://mirror.invalid/debian'; exit; fi
echo "$1 $$" > %s
exec tail -f /dev/null
""" % ASKED


def start(*words):
    return subprocess.Popen([SCRIPT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=PLACE,
                            env=dict(os.environ, PATH=TOOLS + ":" + os.environ["PATH"]))


def run(*words):
    process = start(*words)
    output, errors = process.communicate(timeout=TIME_LIMIT_S)
    return process.returncode, output, errors


class Script(unittest.TestCase):
    def setUp(self):
        for folder in (TOOLS, PLACE):
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
        if os.path.lexists(ASKED):
            os.remove(ASKED)
        os.mkfifo(ASKED)
        for name, text in (("apt-get", APT_GET), ("dpkg", "#!/bin/sh\necho amd64\n")):
            with open(os.path.join(TOOLS, name), "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(os.path.join(TOOLS, name), 0o755)

    def tearDown(self):
        self.assertEqual(os.listdir(PLACE), [])

    def test_usage(self):
        for word in ("--help", "-h"):
            status, output, errors = run(word)
            self.assertEqual((status, errors), (0, ""))
            self.assertIn("\nusage: third_party/criu [FOLDER] ", output)
            self.assertNotIn("#", output)

    def test_words_that_are_refused(self):
        for words, message in ((("--hlep",), "unknown word '--hlep'"), (("a", "-x"), "unknown word '-x'"),
                               (("a", "b"), "it takes one folder, not 2"), (("",), "the folder has no name")):
            self.assertEqual(run(*words), (2, "", "third_party/criu: %s; --help tells more\n" % message))

    def test_folders_of_others_stay(self):
        other = os.path.join(SCRATCH, "other")
        os.makedirs(other + "/criu", exist_ok=True)
        for folder in (other, other + "/", "/"):
            status, _, errors = run(folder)
            message = "third_party/criu: %s is there and has something else in it; name a new folder\n"
            self.assertEqual((status, errors), (1, message % (folder.rstrip("/") or "/")))
        self.assertEqual(os.listdir(other), ["criu"])

    def test_an_interruption_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = start("new/folders/criu/")
            with open(ASKED, encoding="ascii") as file:
                verb, apt = file.read().split()
            self.assertEqual(verb, "update")
            self.assertNotEqual(os.listdir(PLACE), [])
            process.send_signal(number)
            _, errors = process.communicate(timeout=TIME_LIMIT_S)
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(errors, "third_party/criu: fetching criu and what it needs, about 20 MB\n")
            self.assertEqual(os.listdir(PLACE), [])
            self.assertFalse(os.path.exists("/proc/" + apt), "apt-get still runs")


if __name__ == "__main__":
    unittest.main(verbosity=2)
