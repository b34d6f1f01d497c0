#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the recipes of the README work as they stand there.
Method: each is cut out of the README and run by bash in a directory with a solver.c, an installation in
        PATH, virtual hosts node1 and node2 with a real sshd and a real Slurm; PBS is our stand-in,
        docker and kubectl are scripts that take their words as these do.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import everywhere_test as everywhere  # noqa: E402

RECIPES = {}
FOUR = r"(?m)^tour of 4 ranks: [0-9a-f]{16}$"
AGENTS = {"docker": "", "kubectl": "[[ $1 == -- ]] || exit 1; shift"}
AGENT_TEXT = """#!/bin/bash
[[ "$1 $2" == "exec -i" ]] || { echo "%s: $*?" >&2; exit 1; }
host=$3; shift 3
%s
exec %s/on "$host" "$@"
"""


def setUpModule():
    everywhere.NAME, everywhere.PREFIX, everywhere.SUBNET = "lamrec", "node", "10.142.0"
    everywhere.HOSTS = ["node1", "node2"]
    everywhere.setUpModule()
    place = everywhere.PLACE
    prefix = os.path.join(place, "prefix")
    os.makedirs(prefix)
    subprocess.run(["tar", "xf", "prefix.tar", "-C", prefix], check=True)
    for name in ("tour", "libmpi_abi.so.1", "mpiexec"):  # only the installation's may be used
        os.unlink(os.path.join(place, name))
    shutil.copy("test/cluster/tour.c", os.path.join(place, "solver.c"))
    everywhere.run([prefix + "/bin/mpicc", "solver.c", "-o", "solver"]).check_returncode()
    for name, more in AGENTS.items():
        with open(os.path.join(prefix, "bin", name), "w", encoding="ascii") as file:
            file.write(AGENT_TEXT % (name, more, place))
        os.chmod(os.path.join(prefix, "bin", name), 0o755)
    with open("README.md", encoding="utf-8") as file:
        RECIPES.update(re.findall(r"<!-- recipe: (\w+) -->\n```sh\n(.*?)```", file.read(), re.S))

HANGS = """#include <mpi.h>
int main(void) {
  int rank;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) MPI_Recv(&rank, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
"""
# Starts the job, waits until it hangs, looks at it by the script and ends it.
HANGING = """
ip link set lo up
mpiexec -n 4 ./hangs & job=$!
for ((end = SECONDS + 60; SECONDS < end; )); do lamina why $job 2>&1 | grep -q deadlock && break; done
bash -e "$1"; status=$?
kill $job; wait
exit $status
"""


class Recipes(unittest.TestCase):

    def script(self, name):
        path = os.path.join(everywhere.PLACE, name + ".sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RECIPES[name])
        return path

    def run_it(self, words, extra=None):
        variables = dict(extra or {}, LD_LIBRARY_PATH="",
                         PATH=everywhere.PLACE + "/prefix/bin:" + everywhere.variables()["PATH"])
        done = everywhere.run(words, variables)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    @staticmethod
    def ssh():
        return {"LAMINA_SPAWNER_SSH_OPTIONS": "-F %s/%s/ssh_config" % (everywhere.STATE,
                                                                       everywhere.NAME)}

    def test_each_is_tested(self):
        tests = {name[len("test_recipe_"):] for name in dir(self) if name.startswith("test_recipe_")}
        self.assertEqual(set(RECIPES) - {"requeue"}, tests)  # that one is requeue_test's

    def test_recipe_laptop(self):
        self.assertRegex(self.run_it(["bash", "-e", self.script("laptop")]).stdout, FOUR)

    def test_recipe_ci(self):
        self.run_it(["bash", "-e", self.script("ci")])
        with open(os.path.join(everywhere.PLACE, "logs/rank.0.out"), encoding="ascii") as file:
            self.assertRegex(file.read(), FOUR)

    def test_recipe_slow(self):
        done = self.run_it(["bash", "-e", self.script("slow")])
        self.assertRegex(done.stderr, r"profile in slow\.html; MPI \d+ % of the time")
        self.assertRegex(done.stderr, r"transports: \S+ reaches \S+ by shm")
        self.assertRegex(done.stdout, r"\nMPI_Finalize +4 ")
        with open(os.path.join(everywhere.PLACE, "slow.html"), encoding="utf-8") as file:
            self.assertIn("MPI_Finalize", file.read())
        for name in ("slow.json", "slow.pftrace.json"):
            with open(os.path.join(everywhere.PLACE, name), encoding="utf-8") as file:
                self.assertIn("MPI_Finalize", file.read())

    def test_recipe_hangs(self):
        """In a network of its own, lamina sees this job alone."""
        with open(os.path.join(everywhere.PLACE, "hangs.c"), "w", encoding="ascii") as file:
            file.write(HANGS)
        self.run_it(["mpicc", "hangs.c", "-o", "hangs"])
        done = self.run_it(["unshare", "--net", "bash", "-c", HANGING, "-", self.script("hangs")])
        self.assertIn("deadlock: rank 0 waits in MPI_Recv for a message from rank 1 with tag 5", done.stdout)
        self.assertRegex(done.stdout, r"RANK +HOST ")
        self.assertRegex(done.stdout, r"0-3: ")

    def test_recipe_dies(self):
        self.assertRegex(self.run_it(["bash", "-e", self.script("dies")]).stdout, FOUR)

    def test_recipe_sbatch(self):
        out = os.path.join(everywhere.PLACE, "sbatch.out")
        self.run_it(["sbatch", "--wait", "-o", out, self.script("sbatch")],
                    everywhere.slurm_environment())
        with open(out, encoding="ascii") as file:
            said = re.findall(FOUR, file.read())
        self.assertEqual(len(said), 2)
        self.assertEqual(said[0], said[1])

    def test_recipe_pbs(self):
        words = ["bash", "-e", self.script("pbs")]
        done = everywhere.in_pbs_job(
            lambda job: self.run_it(words, dict(job, PBS_O_WORKDIR=everywhere.PLACE)),
            everywhere.HOSTS)
        self.assertRegex(done.stdout, FOUR)

    def test_recipe_ssh(self):
        done = self.run_it(["bash", "-e", self.script("ssh")], self.ssh())
        self.assertIn("2 of 2 hosts are well (spawner ssh)", done.stdout)
        self.assertRegex(done.stdout, FOUR)

    def test_recipe_gpu(self):
        with open(os.path.join(everywhere.PLACE, "hosts"), "w", encoding="ascii") as file:
            file.write("node1 slots=2\nnode2 slots=2\n")
        done = self.run_it(["bash", "-e", self.script("gpu")], self.ssh())
        self.assertRegex(done.stdout, FOUR)
        self.assertEqual(sorted(line for line in done.stdout.splitlines() if "GPU" in line),
                         ["rank %d uses GPU %d of node %d" % (rank, rank % 2, rank // 2)
                          for rank in range(4)])

    def test_recipe_docker(self):
        self.assertRegex(self.run_it(["bash", "-e", self.script("docker")]).stdout, FOUR)

    def test_recipe_kubectl(self):
        self.assertRegex(self.run_it(["bash", "-e", self.script("kubectl")]).stdout, FOUR)


if __name__ == "__main__":
    unittest.main(verbosity=2)
