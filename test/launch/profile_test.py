#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `mpiexec --profile` writes a page and the same numbers as a file, however the job ends, and the
        numbers are right.
Method: programs whose profile is known by construction: a sender that is late by a known time, ranks of
        which one computes twice as long, a ring; jobs that are killed, fail or time out; two hosts that an
        agent makes of this machine.
"""

import glob
import json
import os
import re
import subprocess
import unittest

from harness import MPIEXEC, ROOT, command, environment, wait_until
from profiled_job import PROFILED, ProfiledCase


class Profile(ProfiledCase):

    def test_late_sender(self):
        profile = self.profile(PROFILED, "late")
        receive = self.counts(profile, 1, "MPI_Recv")
        self.assertEqual((receive["calls"], receive["received_bytes"], receive["sent_bytes"]), (1, 8, 0))
        # On a busy machine rank 1 may come to its receive a little later than it says.
        self.assertGreater(receive["waited_ns"], 0.2e9)
        self.assertLessEqual(receive["waited_ns"], receive["inside_ns"])
        send = self.counts(profile, 0, "MPI_Send")
        self.assertEqual((send["calls"], send["sent_bytes"], send["received_bytes"]), (1, 8, 0))
        self.assertLess(send["inside_ns"], receive["inside_ns"])
        self.assertGreater(profile["ranks"][0]["computed_ns"], 0.4e9)
        self.assertEqual(receive["for_senders_ns"], receive["waited_ns"])
        late = self.pattern(profile, "late sender")
        self.assertEqual((late["function"], late["rank"]), ("MPI_Recv", 1))
        self.assertGreater(late["ns"], 0.2e9)
        self.assertEqual(self.sent(profile), {(0, 1): (1, 8), (1, 0): (1, 0)})
        self.assertEqual([size["eager"] for size in profile["sizes"] if size["from_bytes"] == 8], [1])

    def test_late_receiver(self):
        profile = self.profile(PROFILED, "late-receiver")
        send = self.counts(profile, 0, "MPI_Send")
        self.assertGreater(send["for_receivers_ns"], 0.2e9)
        late = self.pattern(profile, "late receiver")
        self.assertEqual((late["function"], late["rank"]), ("MPI_Send", 0))
        # What MPI_Waitall waits for is told apart as well.
        self.assertGreater(self.counts(profile, 0, "MPI_Waitall")["for_senders_ns"], 0.1e9)
        self.assertEqual(self.sent(profile), {(0, 1): (2, 10 << 20), (1, 0): (1, 8)})
        large = [size for size in profile["sizes"] if size["from_bytes"] == 8 << 20]
        self.assertEqual([(size["rendezvous"], size["rendezvous_bytes"]) for size in large], [(1, 10 << 20)])

    def compiled(self):
        """The program with its lines, which the linker takes out of the one of the build."""
        program = os.path.join(self.folder, "profiled")
        library = os.path.join(ROOT, "runtime/libmpi_abi.so.1")
        with open(library, "rb") as file:
            if re.search(rb"__[at]san_init|__ubsan_handle", file.read()):
                self.skipTest("a sanitizer has to be linked first")
        subprocess.run(["cc", "-g", "-O1", "-I" + os.path.join(ROOT, "runtime/include"),
                        os.path.join(ROOT, "test/launch/profiled.c"), library, "-o", program,
                        "-Wl,-rpath," + os.path.dirname(os.path.realpath(library))],
                       check=True, timeout=120)
        return program

    def test_call_sites_have_lines(self):
        program = self.compiled()
        profile = self.profile(program, "late")
        receive = self.line_of("MPI_Recv(&word")
        sites = {(site["function"], site["place"]): site for site in profile["sites"]}
        self.assertEqual(sites["MPI_Recv", receive]["calls"], 1)
        self.assertGreater(sites["MPI_Recv", receive]["waited_ns"], 0.2e9)
        self.assertEqual(sites["MPI_Send", self.line_of("MPI_Send(&word")]["sent_bytes"], 8)
        self.assertTrue(sites["MPI_Recv", receive]["line"].endswith("/" + receive))
        self.assertEqual(sites["MPI_Recv", receive]["object"], program)
        self.assertIn("waiting is in MPI_Recv at " + receive, self.line)

    def test_whoever_finds_no_lines_or_takes_too_long_does_not_hold_the_job_up(self):
        for script in ("exit 1", "echo $$ >> %s/readers; exec sleep 1000" % self.folder):
            with self.subTest(script):
                tools = os.path.join(self.folder, "tools")
                os.makedirs(tools, exist_ok=True)
                reader = os.path.join(tools, "eu-addr2line")
                with open(reader, "w", encoding="ascii") as file:
                    file.write("#!/bin/sh\n" + script + "\n")
                os.chmod(reader, 0o755)
                before = os.environ["PATH"]
                os.environ["PATH"] = tools + ":" + before
                try:
                    profile = self.profile(PROFILED, "ring")
                finally:
                    os.environ["PATH"] = before
                place = next(site["place"] for site in profile["sites"] if site["function"] == "MPI_Sendrecv")
                self.assertRegex(place, r"^profiled\+0x[0-9a-f]+$")
        with open(os.path.join(self.folder, "readers"), encoding="ascii") as readers:
            for reader in readers:
                self.assertFalse(os.path.exists("/proc/" + reader.strip()))

    def test_imbalance(self):
        profile = self.profile(PROFILED, "imbalance")
        # A machine that does something else can only lengthen what is computed.
        first, second = (rank["computed_ns"] for rank in profile["ranks"])
        self.assertGreater(first, 0.3e9)
        self.assertGreater(second, 0.6e9)
        balance = profile["balance"]
        self.assertAlmostEqual(balance["load"], (first + second) / 2 / max(first, second), 2)
        self.assertAlmostEqual(balance["parallel"], balance["load"] * balance["communication"], 2)
        if balance["busiest"] == 1 and balance["load"] < 0.9:
            self.assertIn("rank 1 computes 1.", self.line)
        self.assertEqual(self.counts(profile, 0, "MPI_Barrier")["calls"], 2)
        barrier = self.collective(profile, "MPI_Barrier")
        self.assertEqual((barrier["communicator"], barrier["members"], barrier["calls"]),
                         ("MPI_COMM_WORLD", 2, 4))
        waits = self.pattern(profile, "imbalance at collectives")
        self.assertEqual(waits["function"], "MPI_Barrier")
        self.assertGreater(waits["ns"], 0.1e9)
        self.assertGreaterEqual(barrier["waited_ns"], waits["place_ns"])

    def test_ring(self):
        profile = self.profile(PROFILED, "ring", ranks=4)
        for rank in range(4):
            counts = self.counts(profile, rank, "MPI_Sendrecv")
            self.assertEqual((counts["calls"], counts["sent_bytes"]), (10, 10000))
            functions = profile["ranks"][rank]["functions"].values()
            self.assertEqual(sum(counts["received_bytes"] for counts in functions), 10000)
        self.assertEqual(profile["functions"]["MPI_Sendrecv"]["calls"], 40)
        self.assertEqual(self.sent(profile), {(rank, (rank + 1) % 4): (10, 10000) for rank in range(4)})

    def test_collectives_have_the_bytes_of_the_program(self):
        profile = self.profile(PROFILED, "collectives")
        for rank in range(2):
            for function, sent, received in [("MPI_Bcast", 128 * (rank == 0), 128 * (rank == 1)),
                                             ("MPI_Allreduce", 128, 128), ("MPI_Alltoall", 16, 16),
                                             ("MPI_Barrier", 0, 0), ("MPI_Finalize", 0, 0)]:
                counts = self.counts(profile, rank, function)
                self.assertEqual((counts["calls"], counts["sent_bytes"], counts["received_bytes"]),
                                 (1, sent, received), function)
        # A request that is waited for, and a communicator with a name of its own.
        for function in ("MPI_Bcast", "MPI_Allreduce", "MPI_Alltoall", "MPI_Barrier"):
            self.assertTrue(self.collective(profile, function)["algorithms"], function)
        row = self.collective(profile, "MPI_Iallreduce", "a <name>")
        self.assertEqual((row["calls"], row["sent_bytes"], row["members"]), (2, 256, 2))
        self.assertGreater(row["waited_ns"], 0.1e9)
        self.assertGreater(self.counts(profile, 0, "MPI_Wait")["for_members_ns"], 0.1e9)

    def test_algorithms_that_the_user_has_chosen(self):
        for algorithm in ("binomial", "linear"):
            profile = self.profile(PROFILED, "collectives",
                                   options=["--param", "collective.bcast.algorithm=" + algorithm])
            self.assertEqual(self.collective(profile, "MPI_Bcast")["algorithms"], algorithm)

    def test_messages_have_their_transport(self):
        for ranks, carrier in ((1, "self"), (2, "shm")):
            profile = self.profile(PROFILED, "ring", ranks=ranks)
            self.assertEqual({cell[6] for cell in profile["matrix"]["cells"]}, {carrier})

    def test_a_full_disk(self):
        """The page is not there, one line says why, and mpiexec fails, with the job's own status if it has one."""
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        script = 'mount -t tmpfs -o size=8k tmpfs "$0" || exit 77\n"$@"\nstatus=$?\nls -A "$0"\nexit $status'
        for what, status in (("ring", 1), ("failed", 3)):
            result = subprocess.run(
                ["unshare", "-m", "sh", "-c", script, small,
                 *command(PROFILED, what, ranks=2, options=["--profile=" + small + "/a"])],
                check=False, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                env=environment(self.mark))
            if result.returncode in (1, 77) and "mpiexec" not in result.stderr:
                self.skipTest("a small disk needs root: " + result.stderr)
            self.assertEqual(result.returncode, status, result.stderr)
            lines = [line for line in result.stderr.splitlines() if "profile" in line]
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertRegex(lines[0], r"^mpiexec: cannot write the profile .*/a\.\w+: No space left on device$")
            self.assertLessEqual(set(result.stdout.split()), {"a.csv", "a.json"})

    def test_regions_memory_and_cpus(self):
        profile = self.profile(PROFILED, "regions")
        regions = {region["name"]: region for region in profile["regions"]}
        self.assertEqual(set(regions), {"<outer>", "inner", "not ended"})
        outer, inner = regions["<outer>"], regions["inner"]
        self.assertEqual((outer["ranks"], outer["times"], inner["times"]), (2, 2, 4))
        self.assertGreater(outer["inside_ns"], inner["inside_ns"] + 0.2e9)
        self.assertGreater(inner["inside_ns"], 0.2e9)
        self.assertGreater(inner["waited_ns"], 0.05e9)
        self.assertLessEqual(inner["waited_ns"], inner["in_mpi_ns"])
        # MPI_Pcontrol(0) hides the second barrier.
        for rank in range(2):
            self.assertEqual(self.counts(profile, rank, "MPI_Barrier")["calls"], 1)
            self.assertGreater(profile["ranks"][rank]["peak_bytes"], 1 << 20)
            self.assertRegex(profile["ranks"][rank]["cpus"], r"^[0-9]+([-,][0-9]+)*$")

    def test_a_killed_rank_leaves_its_numbers(self):
        profile = self.profile(PROFILED, "killed", status=137)
        self.assertEqual(profile["end"], "exit status 137")
        self.assertTrue(profile["ranks"][1]["uses_mpi"])
        self.assertEqual(self.counts(profile, 1, "MPI_Comm_rank")["calls"], 1)

    def test_a_rank_that_fails(self):
        profile = self.profile(PROFILED, "failed", status=3)
        self.assertEqual(profile["end"], "exit status 3")
        self.assertEqual(self.counts(profile, 1, "MPI_Comm_rank")["calls"], 1)

    def test_a_timeout(self):
        profile = self.profile(PROFILED, "stuck", options=["--timeout", "3"], status=124)
        for rank in range(2):
            self.assertEqual(profile["ranks"][rank]["ended_in"], "MPI_Recv")
            self.assertEqual(self.counts(profile, rank, "MPI_Recv")["calls"], 1)

    def test_two_hosts(self):
        profile = self.profile(PROFILED, "late", options=[*self.two_hosts(), "-H", "one:1,two:1"])
        self.assertEqual([rank["host"] for rank in profile["ranks"]], ["one", "two"])
        self.assertGreater(self.counts(profile, 1, "MPI_Recv")["waited_ns"], 0.2e9)

    def test_a_program_without_mpi_and_the_name_by_default(self):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            result = self.run_job("true", options=["--profile"])
        finally:
            os.chdir(before)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no rank used MPI", result.stderr)
        self.assertEqual(len(glob.glob(os.path.join(self.folder, "true.*.html"))), 1)

    def test_spawned_jobs_are_not_in_it(self):
        profile = self.profile(PROFILED, "spawn", options=["--oversubscribe"])
        self.assertEqual(profile["spawned_jobs"], 1)
        self.assertIn("the ranks of 1 spawned job are not in it", self.line)
        with open(self.folder + "/a.html", encoding="utf-8") as page:
            self.assertIn("the ranks of 1 spawned job are not in it", page.read())

    def test_what_cannot_be_written_is_said(self):
        result = self.run_job("echo", "started", options=["--profile=" + self.folder + "/none/a"])
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertIn("cannot write the profile", result.stderr)
        self.assertIn("No such file or directory", result.stderr)

    def test_a_job_that_runs(self):
        lamina = os.path.join(self.folder, "lamina")
        os.symlink(MPIEXEC, lamina)
        def ask(*words):
            return subprocess.run([lamina, "profile", *words], check=False, capture_output=True, text=True,
                                  timeout=60, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  env=environment(self.mark))

        for options in ((), (*self.two_hosts(), "-H", "one:1,two:1")):
            with self.subTest(options):
                end = os.path.join(self.folder, "end%d" % len(options))
                job = self.start_job(PROFILED, "stuck", ranks=2, options=["--profile=" + end, *options])
                page = os.path.join(self.folder, "now.html")

                def is_there():
                    done = ask("-o", "now.html", str(job.pid))
                    if done.returncode != 0:
                        return False  # mpiexec does not listen yet, or a host is not up
                    self.assertIn("profile in " + page, done.stdout)
                    with open(page[:-5] + ".json", encoding="utf-8") as numbers:
                        profile = json.load(numbers)
                    self.assertEqual(profile["end"], "the job goes on")
                    return all(rank["ended_in"] == "MPI_Recv" for rank in profile["ranks"])

                self.assertTrue(wait_until(is_there, 30))
                self.assertFalse(os.path.exists(end + ".html"))
                job.terminate()
                job.wait(timeout=30)
                self.assertTrue(os.path.exists(end + ".html"))
        job = self.start_job(PROFILED, "stuck", ranks=1)
        wait_until(lambda: ask(str(job.pid)).returncode != 2)
        done = ask(str(job.pid))
        self.assertEqual((done.returncode, done.stderr),
                         (1, "lamina profile: the job was started without --profile\n"))
        job.terminate()
        job.wait(timeout=30)


if __name__ == "__main__":
    unittest.main()
