#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   whoever of jobs that spawn and meet on several hosts is killed at whatever moment, all that
        depend on it end within seconds, with one message for each run, and nothing is left on any
        host.
Method: spawn_kills_test on the virtual hosts of hosts_test: children go to hosts that their parents are
        not on, and shepherds, agents and launchers are killed too."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test  # noqa: E402
from hosts_test import HostsCase  # noqa: E402
from spawn_kills_test import Kills, RESTLESS  # noqa: E402

tearDownModule = hosts_test.tearDownModule


def setUpModule():
    hosts_test.setUpModule()
    shutil.copy(os.path.realpath(RESTLESS), hosts_test.program("restless"))


class Ssh(Kills, HostsCase):
    soon_s = 2.0
    patience_s = 20  # a run starts by ssh meanwhile
    places = {"family": "lh1:1,lh2:4", "serve": "lh1:2,lh2:2", "call": "lh2:2,lh3:2"}

    def begin(self, role, *arguments):
        line = [hosts_test.program("mpiexec"), *self.reach, "-H", self.places[role], "--oversubscribe",
                "-n", "2", "--map-by", "node", "./restless", role, *map(str, arguments)]
        job = subprocess.Popen(line, cwd=hosts_test.PLACE, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.variables())
        self.started.append(job)
        self.watch(job)
        return job

    def candidates(self):
        """Also shepherds, whose environment is that of their agent."""
        return super().candidates() + list(self.shepherds().values())


class Agent(Ssh):
    reach = hosts_test.AGENT


if __name__ == "__main__":
    harness.main()
