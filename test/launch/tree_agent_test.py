#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a tree of shepherds works through any agent; shepherds at every height are clean under the
        sanitizers, while they work, fail and are cleaned up after.
Method: the cases of tree_test through `ip netns exec`, which passes the environment on, so that every
        process of a job writes what a sanitizer finds into one folder, which has to stay empty."""

import glob
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test as hosts  # noqa: E402
import tree_test  # noqa: E402

setUpModule, tearDownModule = tree_test.setUpModule, tree_test.tearDownModule


class TreeAgentTest(tree_test.WellTest, tree_test.FailureTest):
    reach = hosts.AGENT
    called = [os.uname().nodename] * len(tree_test.HOSTS)  # such an agent does not enter the hosts' names

    def variables(self):
        variables = super().variables()
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"):
            variables[name] = "%s:log_path=%s" % (variables.get(name, ""),
                                                  hosts.program("sanitizer"))
        return variables

    def tearDown(self):
        super().tearDown()
        reports = glob.glob(hosts.program("sanitizer.*"))
        for report in reports:
            with open(report, encoding="utf-8", errors="replace") as file:
                print(file.read(), file=sys.stderr)
            os.remove(report)
        self.assertEqual(reports, [])


if __name__ == "__main__":
    harness.main()
