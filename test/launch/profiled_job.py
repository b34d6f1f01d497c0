# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the profile share: they run a job whose profile is known by construction, and read it."""

import csv
import json
import os
import tempfile

from harness import LaunchCase, ROOT

PROFILED = os.path.join(ROOT, "test/launch/profiled")


class ProfiledCase(LaunchCase):
    """A test case with a folder for its profiles."""

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        self.line = self.output = ""

    def profile(self, *arguments, ranks=2, options=(), status=0, file=None):
        """Runs a job that is profiled; returns what FILE.json says, as its HTML page does."""
        base = os.path.join(self.folder, file or "a")
        result = self.run_job(*arguments, ranks=ranks, options=["--profile=" + base + ".html", *options])
        self.assertEqual(result.returncode, status, result.stderr)
        lines = [line for line in result.stderr.splitlines() if " profile in " in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.line, self.output = lines[0], result.stdout
        with open(base + ".html", encoding="utf-8") as page:
            text = page.read()
        with open(base + ".json", encoding="utf-8") as numbers:
            profile = json.load(numbers)
        inside = text.split('id="data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(inside), profile)
        self.assertNotIn("http", text)
        self.assertEqual(len(profile["ranks"]), ranks)
        with open(base + ".csv", encoding="ascii", newline="") as table:
            rows = [[int(word) if word.isdigit() else word for word in row] for row in csv.reader(table)]
        self.assertEqual(rows[0], ["from", "to", "transport", "messages", "bytes", "own_messages", "own_bytes"])
        if profile["matrix"]["ranks_per_cell"] == 1:
            self.assertEqual([[*row[:2], *row[3:], row[2]] for row in rows[1:] if row[1] != "outside"],
                             profile["matrix"]["cells"])
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(os.path.basename(base) + ".")
                          and not name.endswith((".html", ".json", ".csv"))], [])
        return profile

    def counts(self, profile, rank, function):
        return profile["ranks"][rank]["functions"][function]

    def line_of(self, text):
        """The line of profiled.c that has this text."""
        with open(os.path.join(ROOT, "test/launch/profiled.c"), encoding="ascii") as source:
            lines = [number for number, line in enumerate(source, 1) if text in line]
        self.assertEqual(len(lines), 1, text)
        return "profiled.c:%d" % lines[0]

    def pattern(self, profile, name):
        return next(pattern for pattern in profile["waiting"] if pattern["pattern"] == name)

    def sent(self, profile):
        """The program's own messages and bytes by sender and receiver."""
        self.assertEqual(profile["matrix"]["ranks_per_cell"], 1)
        return {(cell[0], cell[1]): (cell[2], cell[3])
                for cell in profile["matrix"]["cells"] if cell[2] > 0}

    def collective(self, profile, function, communicator="MPI_COMM_WORLD"):
        found = [row for row in profile["collectives"]
                 if (row["function"], row["communicator"]) == (function, communicator)]
        self.assertEqual(len(found), 1, profile["collectives"])
        return found[0]

    def two_hosts(self):
        """Options by which this machine is two hosts, each reached by a command."""
        agent = os.path.join(self.folder, "agent")
        with open(agent, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nshift\nexec "$@"\n')
        os.chmod(agent, 0o755)
        return ["--agent", agent + " {host}"]
