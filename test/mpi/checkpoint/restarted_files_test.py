#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   files, pipes and locks that ranks have open, and what they print, are after a restart what they were when the
        job was saved.
Method: steady.c reads, writes and locks files in every turn, is saved by criu, ended or killed later, and restarted.
"""

import os
import re
import threading

from restarted_case import RestartedCase, SCRATCH, TIME_LIMIT_S, main, read, setUpModule


class RestartedFiles(RestartedCase):
    def test_standard_output_and_error_in_one_file(self):
        """No line of the ranks is there twice, and what mpiexec has said stays."""
        job = self.start(2, together=True)
        self.save(job)
        job.go_on(3)
        self.kill_a_rank(job)
        job.wait()
        said = re.search(r"mpiexec: rank \d on \S+ was killed by signal 9.*\n", read("out"))
        self.assertTrue(said, read("out"))
        job = self.restart(together=True)
        job.go_on(3)
        self.end(job)
        self.assertEqual(read("out").count(said.group()), 1, read("out"))
        turns = re.findall(r"turn (\d+) value", read("out"))
        self.assertEqual(turns, [str(turn) for turn in range(int(turns[0]), int(turns[0]) + len(turns))], read("out"))
        self.assertEqual(read("err"), "")

    def test_files_are_read_and_written_on(self):
        given = os.path.join(SCRATCH, "given")
        with open(given, "w", encoding="ascii") as file:
            for line in range(20000):
                file.write("%d %s\n" % (line, "x" * 3000))
        ours = os.path.join(SCRATCH, "ours")
        for rank in range(2):
            with open("%s.%d" % (ours, rank), "w", encoding="ascii"):
                pass
        job = self.start(2, "--restarts", "1", way=("filing", ours), stdin=given)
        self.save(job)
        job.go_on(30)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1")
        self.save_and_end(job)
        job = self.restart(stdin=given)
        job.go_on(30)
        self.end(job)
        lines = read("out").splitlines()
        turns = len(lines) - 2
        self.assertEqual(lines, ["begun"] + ["turn %d reads %d" % (turn, turn) for turn in range(turns)] + ["done"])
        for rank in range(2):
            self.assertEqual(read("ours.%d" % rank).splitlines(),
                             ["turn %d of rank %d" % (turn, rank) for turn in range(turns)])

    def test_input_from_a_pipe_is_read_on(self):
        """The pipe is full all the time, so that there is unread input whenever the job is saved."""
        ours = os.path.join(SCRATCH, "piped")
        mine, its = os.pipe()
        self.addCleanup(os.close, mine)
        enough, written = threading.Event(), []

        def feed():
            while not enough.is_set():
                os.write(its, b"%d %s\n" % (len(written), b"x" * 40))
                written.append(str(len(written)))
            os.close(its)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        job = self.start(2, way=("filing", ours), stdin=mine)
        for _ in range(2):
            self.save_and_end(job)
            job = self.restart(stdin=mine)
        job.go_on(1)
        enough.set()
        feeder.join(TIME_LIMIT_S)
        job.wait_for("reads %s\n" % written[-1], 1)
        self.end(job)
        self.assertEqual(re.findall(r"turn \d+ reads (\d+)", read("out")), written)

    def test_ranks_that_write_into_one_file(self):
        path = os.path.join(SCRATCH, "log")
        if os.path.exists(path):
            os.unlink(path)
        job = self.start(3, way=("logging", path))
        for _ in range(2):
            self.save(job)
            job.go_on(2)
            job.kill()
            self.wait_until_ranks_have_ended()
            job = self.restart()
        job.go_on(2)
        self.end(job)
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
        for rank in range(3):
            own = [line for line in lines if line.endswith("of rank %d" % rank)]
            self.assertEqual(own, ["line %d of rank %d" % (at, rank) for at in range(len(own))])
            self.assertGreater(len(own), 0)

    def test_files_that_are_locked(self):
        path = os.path.join(SCRATCH, "locked")
        job = self.start(2, way=("locks", path))
        job.wait_for("begun", 1)
        before = self.locks_of(path)
        self.assertEqual(len(before), 4, before)
        self.assertEqual([len(self.locks_of("%s.%d" % (path, rank))) for rank in range(2)], [1, 1])
        self.save(job)
        job.go_on(1)
        self.assertEqual(self.locks_of(path), before)
        self.save_and_end(job)
        self.assertEqual(self.locks_of(path), [])
        job = self.restart()
        job.go_on(1)
        self.assertEqual(self.locks_of(path), before)
        self.assertEqual([len(self.locks_of("%s.%d" % (path, rank))) for rank in range(2)], [1, 1])
        self.end(job)

    def locks_of(self, path):
        """What the kernel says of a file's locks, without the processes that hold them."""
        with open("/proc/locks", encoding="ascii") as file:
            fields = [line.split() for line in file if ":%d " % os.stat(path).st_ino in line]
        return sorted((field[1], field[3], field[6], field[7]) for field in fields)

    def test_files(self):
        path = os.path.join(SCRATCH, "numbers")
        for name in (path, path + ".apart"):
            if os.path.exists(name):
                os.unlink(name)
        job = self.start(3, "--restarts", "1", way=("files", path))
        self.save(job)
        job.go_on(20)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1")
        job.go_on(10)
        self.save_and_end(job)
        job = self.restart()
        job.go_on(10)
        self.end(job)
        self.assertEqual(read("out").splitlines()[-1], "done")


if __name__ == "__main__":
    main()
