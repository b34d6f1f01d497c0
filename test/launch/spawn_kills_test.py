#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   whoever of jobs that spawn and meet is killed at whatever moment, all that depend on it end
        within seconds, with one message for each run, and nothing is left.
Method: restless.c spawns, accepts, merges and disconnects for ever; SEEDS times a process that the
        seed chooses gets SIGKILL at a moment that the seed chooses: a rank of any job, a launcher of
        any job, or a guard. Standard input is closed then, so that what does not depend on it ends."""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import LaunchCase, lamina_files, processes_with, wait_until  # noqa: E402

SEEDS = int(os.environ["SEEDS"])
FIRST_SEED = int(os.environ.get("FIRST_SEED", "1"))
RESTLESS = os.path.join(harness.ROOT, "test/launch/restless")
# Ranks that are told to end have 5 s, and a machine may lie still for long.
END_S = 100.0


def name_of(process):
    try:
        with open("/proc/%d/comm" % process, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class Kills:
    """What is the same wherever the jobs run. `begin(role, ...)` starts one, and `candidates()` are the
    processes that may be killed. A run gives up waiting for another one after `patience_s`."""

    victims = frozenset()

    def setUp(self):
        super().setUp()
        self.files_before = lamina_files()

    def candidates(self):
        return processes_with(self.mark)

    def kill_one(self, dice):
        """Returns what was killed: mpiexec, mpiexec-guard, restless, ssh or nothing."""
        time.sleep(dice.uniform(0.0, self.soon_s))  # tidy: sleep: the moment of the kill is the test
        candidates = wait_until(self.candidates, END_S)
        if not candidates:
            return "nothing"
        victim = dice.choice(sorted(candidates))
        name = name_of(victim)
        self.victims = {job.pid for job in self.started[-2:]} & {victim}
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return "nothing"
        return name or "nothing"

    def judge(self, job, killed):
        """The job has ended, with one message if it has failed, and with none if it has not."""
        status = job.wait(END_S)
        said = job.stderr.read().decode()
        messages = [line for line in said.splitlines() if line.startswith("mpiexec: ")]
        what = "%s was killed, the status is %d, and it says: %s" % (killed, status, said)
        if job.pid in self.victims:
            self.assertEqual((status, len(messages)), (-signal.SIGKILL, 0), what)
        elif status != 0:
            self.assertEqual(len(messages), 1, what)
        else:
            self.assertLessEqual(len(messages), 1, what)
        return status

    def nothing_left(self):
        gone = wait_until(lambda: not self.candidates(), END_S)
        left = [(pid, name_of(pid)) for pid in self.candidates()]
        self.assertTrue(gone, "still running: %s" % left)
        self.assertEqual(self.no_files_of(self.files_before), [])

    def test_family(self):
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            with self.subTest(seed=seed):
                job = self.begin("family")
                killed = self.kill_one(random.Random(seed))
                job.stdin.close()
                self.judge(job, killed)
                self.nothing_left()

    def test_two_runs(self):
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            with self.subTest(seed=seed):
                server = self.begin("serve", self.patience_s)
                port = server.stdout.readline().decode().strip()
                client = self.begin("call", self.patience_s, port)
                killed = self.kill_one(random.Random(seed))
                server.stdin.close()
                client.stdin.close()
                for job in (server, client):
                    self.judge(job, killed)
                self.nothing_left()


class SpawnKills(Kills, LaunchCase):
    soon_s = 0.5  # the victim is chosen within this time
    patience_s = 5

    def begin(self, *arguments):
        return self.start_job(RESTLESS, *map(str, arguments), ranks=2, stdin=subprocess.PIPE)


if __name__ == "__main__":
    harness.main()
