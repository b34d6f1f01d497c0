#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a job that was saved by criu is restarted on other hosts, on fewer and on more, unevenly and on this one, and
        says what the undisturbed job says, bit for bit; its output is neither lost nor repeated.
Method: virtual hosts of this machine, reached by ssh. steady.c says after every turn what has come of it; it is saved
        and ended, and restarted elsewhere, again and again.
"""

import fcntl
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

VCLUSTER = os.path.abspath("test/cluster/vcluster")
CRIU = os.environ.get("TEST_CRIU", "criu")
NAME, PREFIX, SUBNET = "lamckp", "lk", "10.144.0"
STATE = "/run/lamina-checkpoint"
APART = "/tmp/lamina-apart"  # where each host has a /tmp of its own
HOSTS = [PREFIX + str(i) for i in (1, 2, 3, 4)]
TIME_LIMIT_S = 120
USER = 64321  # an ordinary one, whom only hosts of a test know
# As in test/apps/hpcc. Its input lies where it runs.
BUILD_HPCC = """
archive=${TEST_ARCHIVE:-$1/archive}
test/apps/fetch "$archive" hpcc || exit
set -e
mkdir "$1/hpcc" "$1/prefix"
tar xf "$archive/hpcc.tar.gz" -C "$1/hpcc" --strip-components=1
tar xf prefix.tar -C "$1/prefix"
cp -L test/apps/hpcc/Make.lamina "$1/hpcc/hpl/"
make -C "$1/hpcc" -j2 arch=lamina MPICC="$1/prefix/bin/mpicc" > /dev/null
sed -e 's/^2 \\( *Ps\\)/2 \\1/; s/^2 \\( *Qs\\)/2 \\1/; s/^1000\\( *Ns\\)/600 \\1/; s/^80\\( *NBs\\)/32\\1/' \\
  "$1/hpcc/_hpccinf.txt" > "$1/hpccinf.txt"
"""
PLACE = None  # hosts have a /tmp of their own, so what they run lies elsewhere


def vcluster_variables():
    return dict(variables(), VC_NAME=NAME, VC_RUN=STATE, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")


def vcluster(*arguments, check=True):
    return subprocess.run([VCLUSTER, *arguments], env=vcluster_variables(), check=check, text=True, cwd=PLACE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=400).stdout


def why_not():
    if os.geteuid() != 0:
        return "virtual hosts need root"
    for tool in ("ip", "nsenter", "ssh", "/usr/sbin/sshd"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            return tool + " is missing: third_party/install test"
    return ""


def place(name):
    return os.path.join(PLACE, name)


def read(name):
    with open(place(name), encoding="ascii") as file:
        return file.read()


def setUpModule():
    global PLACE
    if why_not():
        raise unittest.SkipTest("skipped: " + why_not())
    PLACE = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    for source in ("launcher/mpiexec", "runtime/libmpi_abi.so.1", "test/mpi/checkpoint/steady",
                   "test/apps/heat2d/heat2d", "test/apps/heat2d/heat2d.pgm"):
        shutil.copy(os.path.realpath(source), place(os.path.basename(source)))
    os.symlink("mpiexec", place("lamina"))
    if os.path.exists(CRIU):
        shutil.copytree(os.path.dirname(CRIU), place("criu"), symlinks=True)
    vcluster("up", "-n", str(len(HOSTS)), "--name", NAME, "--prefix", PREFIX, "--subnet", SUBNET, "--no-system")
    job = Job(2, "-H", "localhost:2")
    saved = job.save() if job.begins() else None
    errors = job.stop()
    if saved is None or saved.returncode != 0:
        tearDownModule()
        raise unittest.SkipTest("skipped: " + (saved.stderr if saved else "") + errors)


def tearDownModule():
    if PLACE is not None:
        vcluster("down", "--name", NAME, check=False)
        shutil.rmtree(PLACE, ignore_errors=True)


def variables():
    return dict(os.environ, LD_LIBRARY_PATH=PLACE)


def words(ranks, *options, way=("course",), program=None):
    """The words that begin a job."""
    criu = place("criu/criu") if os.path.exists(CRIU) else CRIU
    return [place("mpiexec"), "-n", str(ranks), "--oversubscribe", "--checkpoint-dir", "D", "--checkpoint", "--param",
            "checkpoint.criu.program=" + criu, "--param", "checkpoint.engine.use=criu", "--param",
            "spawner.ssh.options=-F %s/%s/ssh_config" % (STATE, NAME), *options, *(program or ["./steady", way[0], place("stop"), *way[1:]])]


class Job:
    """A job whose output goes into the files out and err, behind what is there. `via`: the words that run a command
    elsewhere, or as another user."""

    def __init__(self, ranks, *options, way=("course",), program=None, directory="D", stdin=subprocess.DEVNULL, via=()):
        self.via = via
        if ranks:
            for name in ("out", "err"):
                if os.path.lexists(place(name)):
                    os.unlink(place(name))
            shutil.rmtree(place("D"), ignore_errors=True)
            line = words(ranks, *options, way=way, program=program)
        else:
            line = [place("lamina"), "restart", *options, directory]
        if os.path.lexists(place("stop")):
            os.unlink(place("stop"))
        with open(place("out"), "a", encoding="ascii") as out, open(place("err"), "a", encoding="ascii") as err:
            self.process = subprocess.Popen([*via, *line], cwd=PLACE, stdin=stdin, stdout=out, stderr=err,
                                            env=vcluster_variables())

    def begins(self):
        """Waits until it has said something; False if it has ended before."""
        until = time.monotonic() + TIME_LIMIT_S
        while "turn" not in read("out"):
            if self.process.poll() is not None:
                return "turn" in read("out")
            assert time.monotonic() < until, "it says nothing: " + read("err")[-2000:]
        return True

    def go_on(self, turns):
        """Waits until it has said the results of so many turns more."""
        self.wait_for("out", "turn", read("out").count("turn") + turns)

    def wait_for(self, name, text, count=1):
        until = time.monotonic() + TIME_LIMIT_S
        while read(name).count(text) < count:
            assert self.process.poll() is None, (self.process.returncode, read("err")[-2000:])
            assert time.monotonic() < until, read("err")[-2000:]

    def save(self, *words, turns=2):
        self.go_on(turns)
        until = time.monotonic() + TIME_LIMIT_S
        mpiexec = str(self.process.pid)
        if self.via:
            mpiexec = subprocess.run([*self.via, "pgrep", "-o", "mpiexec|lamina"], check=True, cwd=PLACE, text=True,
                                     stdout=subprocess.PIPE, env=vcluster_variables()).stdout.strip()
        while True:
            saved = subprocess.run([*self.via, place("lamina"), "checkpoint", *words, mpiexec], check=False, cwd=PLACE,
                                   capture_output=True, text=True, timeout=TIME_LIMIT_S, env=vcluster_variables())
            # One that has just been restarted does not answer yet.
            if saved.returncode != 2 or self.process.poll() is not None:
                return saved
            assert time.monotonic() < until, "it does not answer: " + saved.stderr

    def wait(self):
        return self.process.wait(timeout=TIME_LIMIT_S)

    def stop(self):
        with open(place("stop"), "w", encoding="ascii"):
            pass
        self.wait()
        return read("err")


class RestartedHosts(unittest.TestCase):
    def setUp(self):
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.process.poll() is None:
                job.process.kill()
                job.wait()

    def go(self, ranks, places):
        """Goes from place to place, and compares what was said with what an undisturbed run says."""
        for number, where in enumerate(places):
            job = Job(0 if number else ranks, "-H", where)
            self.jobs.append(job)
            if number > 0 and "," not in where + places[number - 1]:
                job.wait_for("err", "on %s now instead of %s" % (where.split(":")[0], places[number - 1].split(":")[0]))
            if number + 1 < len(places):
                saved = job.save("--end")
                self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
                self.assertEqual(job.wait(), 85, read("err")[-2000:])
        self.compare(job, ranks, places[0])

    def compare(self, job, ranks, begun):
        job.go_on(3)
        job.stop()
        self.assertEqual(job.process.returncode, 0, read("err")[-2000:])
        out = read("out")
        # The order in which a sum is made depends on where a job begins, and stays.
        alone = subprocess.run([*words(ranks, "-H", begun), str(out.count("turn"))], cwd=PLACE, check=True,
                               capture_output=True, text=True, timeout=TIME_LIMIT_S, env=variables())
        self.assertEqual(out, alone.stdout)

    def test_from_this_host_to_another_and_back(self):
        self.go(2, ["localhost:2", "lk1:2", "localhost:2"])

    def test_more_hosts_and_fewer(self):
        self.go(4, ["lk1:4", "lk2:1,lk3:3", "lk1:4", "lk2:2,lk3:2", "localhost:4"])

    def test_an_ordinary_user(self):
        """The user logs in to both hosts. Ranks are saved and revived in user namespaces, where groups cannot change."""
        with open("/etc/passwd", encoding="utf-8") as file:
            known = file.read() + "ada:x:%d:%d::%s:/bin/sh\n" % (USER, USER, PLACE)
        with open(os.path.join(STATE, NAME, "ssh_config"), encoding="ascii") as file:
            config = file.read().replace(os.path.join(STATE, NAME, "id"), place("id"))
        for name, text in (("passwd", known), ("ssh_config", config)):
            with open(place(name), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(os.path.join(STATE, NAME, "id"), place("id"))
        for path in (PLACE, place("id")):
            os.chown(path, USER, USER)
        for path, mode in ((PLACE, 0o755), (place("id"), 0o600)):
            os.chmod(path, mode)
        for host in HOSTS[:2]:
            vcluster("exec", host, "mount", "--bind", place("passwd"), "/etc/passwd")
            self.addCleanup(vcluster, "exec", host, "umount", "/etc/passwd")
        self.addCleanup(os.chown, PLACE, 0, 0)
        login = (VCLUSTER, "exec", HOSTS[0], "setpriv", "--reuid=%d" % USER, "--regid=%d" % USER)
        via = (*login, "--init-groups")
        ssh = ("--param", "spawner.ssh.options=-F " + place("ssh_config"))
        # It is user 0 of a namespace, which may do no more than the user may.
        shutil.rmtree(place("D"), ignore_errors=True)
        with open(place("locked"), "w", encoding="ascii"):
            pass
        os.chown(place("locked"), USER, USER)
        os.chmod(place("locked"), 0o444)
        written = subprocess.run([*via, *words(1, "-H", "lk1", *ssh, program=["sh", "-c", "id -u; echo x > locked"])],
                                 check=False, cwd=PLACE, capture_output=True, text=True, timeout=TIME_LIMIT_S,
                                 env=vcluster_variables())
        self.assertEqual(written.stdout, "0\n", written.stderr)
        self.assertIn("locked: Permission denied", written.stderr)
        for number, where in enumerate(("lk1:2,lk2:2", "lk2:4", "lk2:1,lk1:3")):
            job = Job(0 if number else 4, "-H", where, *ssh, via=via)
            self.jobs.append(job)
            if number < 2:
                saved = job.save("--end")
                self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
                self.assertEqual(job.wait(), 85, read("err")[-2000:])
            if number == 1:
                refused = Job(0, "-H", "lk1:4", *ssh, via=(*login, "--clear-groups"))
                self.jobs.append(refused)
                self.assertNotEqual(refused.wait(), 0)
                self.assertIn("it had other supplementary groups (1, and 0 here)", read("err"))
                self.assertNotIn("is lost", read("err"))
        self.assertEqual(os.stat(place("D")).st_uid, USER)
        self.compare(job, 4, "lk1:2,lk2:2")

    def test_a_job_goes_on_by_itself_without_a_host(self):
        job = Job(4, "-H", "lk1:2,lk2:2,lk3:2", "--restarts", "2")
        self.jobs.append(job)
        saved = job.save()
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        job.go_on(2)
        vcluster("crash", "lk2")
        self.addCleanup(vcluster, "boot", "lk2", check=False)  # if it is not up again
        job.wait_for("err", "mpiexec: the job is restarted from generation 1 without lk2; 1 more restart is allowed")
        saved = job.save()
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        job.go_on(2)
        vcluster("crash", "lk3")
        self.addCleanup(vcluster, "boot", "lk3")
        job.wait_for("err", "mpiexec: the job is restarted from generation 2 without lk3; 0 more restarts are allowed")
        vcluster("boot", "lk2")
        self.compare(job, 4, "lk1:2,lk2:2")

    def test_a_host_whose_ranks_end_before_it(self):
        """It is left out as well, whoever is heard first: its shepherd, a rank elsewhere, or nobody."""
        job = Job(4, "-H", "lk1:2,lk2:2,lk3:2", "--restarts", "1")
        self.jobs.append(job)
        saved = job.save()
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        job.process.send_signal(signal.SIGSTOP)
        vcluster("exec", "lk2", "pkill", "-KILL", "-f", "^./steady ")
        vcluster("crash", "lk2")
        self.addCleanup(vcluster, "boot", "lk2")
        job.process.send_signal(signal.SIGCONT)
        job.wait_for("err", "mpiexec: the job is restarted from generation 1 without lk2; 0 more restarts are allowed")
        job.go_on(3)
        job.stop()
        self.assertEqual(job.process.returncode, 0, read("err")[-2000:])

    def test_a_criu_that_fails_elsewhere(self):
        job = Job(2, "-H", "lk1:2")
        self.jobs.append(job)
        saved = job.save("--end")
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        self.assertEqual(job.wait(), 85, read("err")[-2000:])
        criu = place("failing_criu")
        with open(criu, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n[ \"$1\" != restore ] || { echo 'it does not work'; exit 7; }\nexec %s \"$@\"\n" %
                       (place("criu/criu") if os.path.exists(CRIU) else CRIU))
        os.chmod(criu, 0o700)
        job = Job(0, "-H", "lk2:1,lk3:1", "--param", "checkpoint.criu.program=" + criu)
        self.jobs.append(job)
        self.assertEqual(job.wait(), 2, read("err")[-2000:])
        self.assertRegex(read("err"), r"mpiexec: generation 1 cannot be restarted on lk\d: rank \d: criu \S+ cannot revive "
                         r"process \d+ on kernel \S+ \(it does not work\)\n")
        job = Job(0, "-H", "lk2:1,lk3:1")
        self.jobs.append(job)
        self.compare(job, 2, "lk1:2")

    def apart(self):
        """Has the job that follows keep its states in directories that each host has for itself."""
        def clean():
            shutil.rmtree(APART, ignore_errors=True)
            for host in HOSTS:
                vcluster("exec", host, "rm", "-rf", APART)
        clean()
        self.addCleanup(clean)
        return "--checkpoint-dir", APART

    def kept(self, generation):
        """What each host has of a generation, and this one first."""
        command = "cd %s/g%06d && echo *" % (APART, generation)
        return [subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True).stdout.strip(),
                *(vcluster("exec", host, "sh", "-c", command).strip() for host in HOSTS[:2])]

    def test_directories_of_their_own(self):
        for engine in ("pretend", "criu"):
            job = Job(3, "-H", "lk1:2,lk2:1", *self.apart(), "--param", "checkpoint.engine.use=" + engine)
            self.jobs.append(job)
            for generation in (1, 2, 3):
                saved = job.save()
                self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
                self.assertRegex(saved.stdout, "^generation %d: 3 ranks" % generation)
                self.assertEqual(self.kept(generation),
                                 ["manifest plan", *2 * ["manifest plan rank00000 rank00001 rank00002"]])
            self.assertEqual(vcluster("exec", "lk1", "ls", APART).split(), ["g000002", "g000003", "lock"])
            job.go_on(2)
            job.stop()
            self.assertEqual(job.process.returncode, 0, read("err")[-2000:])
            self.assertNotIn("mpiexec", read("err"))
        for word in ("--list", "--verify"):
            shown = subprocess.run([place("lamina"), "checkpoint", word, APART], check=True, capture_output=True,
                                   text=True).stdout
            self.assertIn(", with several hosts", shown.splitlines()[0])

    def test_another_job_on_one_of_the_hosts(self):
        """It is started where the directory of that name is another one; it runs, and nothing is mixed."""
        job = Job(2, "-H", "lk1:1,lk2:1", *self.apart())
        self.jobs.append(job)
        self.assertEqual(job.save().returncode, 0, read("err")[-2000:])
        with open(place("other"), "w", encoding="ascii") as errors:
            other = subprocess.Popen(
                [VCLUSTER, "exec", "lk3", *words(1, "-H", "lk1:1", "--checkpoint-dir", APART, "--checkpoint-every", "1s")],
                env=vcluster_variables(), cwd=PLACE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        until = time.monotonic() + TIME_LIMIT_S
        while read("other").count("cannot be saved") < 2:
            self.assertIsNone(other.poll(), read("other"))
            self.assertLess(time.monotonic(), until)
        self.assertRegex(read("other"), r"mpiexec: .*the job cannot be saved: lk1 cannot use the directory of --checkpoint-dir: "
                         r"another job saves its states in %s \(mpiexec \d+ on lk1\); wait until it ends, end it, or give "
                         r"another --checkpoint-dir\n" % APART)
        self.assertEqual(job.save().returncode, 0, read("err")[-2000:])
        job.stop()
        self.assertEqual((other.wait(timeout=TIME_LIMIT_S), job.process.returncode), (0, 0), read("other"))

    def test_going_on_from_directories_of_their_own(self):
        job = Job(3, "-H", "lk1:2,lk2:1", *self.apart())
        for where in ("lk1:2,lk2:1", "lk2:3", "lk2:1,lk3:2", "lk1:1,lk3:2"):
            self.jobs.append(job)
            saved = job.save("--end")
            self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
            self.assertEqual(job.wait(), 85, read("err")[-2000:])
            if where == "lk1:1,lk3:2":
                vcluster("exec", "lk2", "rm", "-rf", APART)
            job = Job(0, "-H", where, directory=APART)
        self.jobs.append(job)
        self.compare(job, 3, "lk1:2,lk2:1")
        for where, why in (("lk2:3", "no host of the job has the image of rank 0, which was written on lk2; -H must name that "
                            "host, or one that has a copy"), ("localhost:3", "the image of rank 0 is not here")):
            job = Job(0, "-H", where, directory=APART)
            self.jobs.append(job)
            self.assertNotEqual(job.wait(), 0)
            self.assertIn("mpiexec: generation 4 cannot be restarted: " + why, read("err"))

    def test_a_fast_directory_of_each_host_comes_first(self):
        """One state is in those alone, and is found by the hosts that have it; one is in the common directory, too."""
        def clean():
            for path in glob.glob("/tmp/lamina-checkpoint-*"):
                if os.path.realpath(place("D/local")) == path:
                    shutil.rmtree(path)
        self.addCleanup(clean)
        job = Job(3, "-H", "lk1:2,lk2:1", "--param", "checkpoint.store.local=/tmp", "--param", "checkpoint.store.every=2")
        for generation, states in ((1, []), (2, ["g000002"]), (3, ["g000002"])):
            self.jobs.append(job)
            saved = job.save()
            self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
            self.assertRegex(saved.stdout, "^generation %d: 3 ranks" % generation)
            self.assertEqual(sorted(name for name in os.listdir(place("D")) if name.startswith("g")), states)
            job.process.kill()
            job.wait()
            job = Job(0)
        self.jobs.append(job)
        saved = job.save("--end")
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        self.assertEqual(job.wait(), 85, read("err")[-2000:])
        for host in HOSTS[:2]:
            vcluster("exec", host, "sh", "-c", "rm -r /tmp/lamina-checkpoint-*")
        job = Job(0, "-H", "lk3:3")
        self.jobs.append(job)
        self.compare(job, 3, "lk1:2,lk2:1")

    def test_a_damaged_image_is_taken_from_the_next_host(self):
        job = Job(2, "-H", "lk1:1,lk2:1", *self.apart())
        self.jobs.append(job)
        saved = job.save("--end")
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        self.assertEqual(job.wait(), 85, read("err")[-2000:])
        vcluster("exec", "lk2", "sh", "-c", "cd %s/g000001/rank00001 && truncate -s 1 pages-1.img" % APART)
        job = Job(0, directory=APART)
        self.jobs.append(job)
        self.compare(job, 2, "lk1:1,lk2:1")
        self.assertRegex(read("err"), r"mpiexec: warning: lk2: g000001: rank00001/pages-1.img is damaged: its checksum is ")

    def test_a_disk_that_is_full(self):
        vcluster("exec", "lk2", "sh", "-c", "mkdir -m 700 %s && mount -t tmpfs -o size=64k,mode=700 tmpfs %s" % (APART, APART))
        self.addCleanup(vcluster, "exec", "lk2", "sh", "-c", "umount %s && rmdir %s" % (APART, APART))
        job = Job(2, "-H", "lk1:1,lk2:1", "--checkpoint-dir", APART)
        self.jobs.append(job)
        self.addCleanup(vcluster, "exec", "lk1", "rm", "-rf", APART)
        self.addCleanup(shutil.rmtree, APART, ignore_errors=True)
        for _ in range(2):
            saved = job.save()
            self.assertEqual(saved.returncode, 1)
            self.assertIn("No space left on device", saved.stderr)
        self.assertEqual([os.listdir(APART), *(vcluster("exec", host, "ls", APART) for host in HOSTS[:2])], [["lock"], "lock\n", "lock\n"])
        job.go_on(2)
        job.stop()
        self.assertEqual(job.process.returncode, 0, read("err")[-2000:])

    def test_input_that_cannot_be_kept(self):
        """A rank has not read what mpiexec has taken from a pipe already, and its host has a directory of its own."""
        mine, its = os.pipe()
        self.addCleanup(os.close, mine)
        self.addCleanup(os.close, its)
        os.write(its, b"nobody reads this\n")
        job = Job(2, "-H", "lk1:1,lk2:1", *self.apart(), stdin=mine)
        self.jobs.append(job)
        until = time.monotonic() + TIME_LIMIT_S
        while fcntl.ioctl(mine, termios.FIONREAD, bytes(4)) != bytes(4):
            self.assertIsNone(job.process.poll(), read("err")[-2000:])
            self.assertLess(time.monotonic(), until)
        for _ in range(2):
            refused = job.save()
            self.assertEqual((refused.returncode, refused.stdout, refused.stderr), (
                1, "", "lamina checkpoint: rank 0 has not read all of standard input, which cannot be kept on a host with "
                       "a directory of its own\n"))
        self.assertEqual([os.listdir(APART), *(vcluster("exec", host, "ls", APART) for host in HOSTS[:2])], [["lock"], "lock\n", "lock\n"])
        self.compare(job, 2, "lk1:1,lk2:1")

    def test_a_job_goes_on_by_itself_without_a_host_and_its_disk(self):
        job = Job(4, "-H", "lk1:2,lk2:2,lk3:2", "--restarts", "1", *self.apart())
        self.jobs.append(job)
        saved = job.save()
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        job.go_on(2)
        vcluster("exec", "lk2", "rm", "-rf", APART)
        vcluster("crash", "lk2")
        self.addCleanup(vcluster, "boot", "lk2")
        job.wait_for("err", "mpiexec: the job is restarted from generation 1 without lk2; 0 more restarts are allowed")
        self.compare(job, 4, "lk1:2,lk3:2")

    def test_a_host_that_cannot_keep_anything(self):
        vcluster("exec", "lk2", "touch", APART)
        self.addCleanup(vcluster, "exec", "lk2", "rm", "-rf", APART)
        shutil.rmtree(APART, ignore_errors=True)
        self.addCleanup(shutil.rmtree, APART, ignore_errors=True)
        job = Job(2, "-H", "lk1:1,lk2:1", "--checkpoint-dir", APART)
        self.jobs.append(job)
        saved = job.save()
        self.assertEqual(saved.returncode, 1)
        self.assertIn("lamina checkpoint: the job cannot be saved: lk2 cannot use the directory of --checkpoint-dir",
                      saved.stderr)
        job.go_on(2)
        job.stop()
        self.assertEqual(job.process.returncode, 0, read("err")[-2000:])

    def test_a_job_is_moved(self):
        job = Job(4, "-H", "lk1:2,lk2:2")
        self.jobs.append(job)
        for number, (old, new) in enumerate((("lk2", "lk3"), ("lk1", "lk2")), 1):
            for pair, why in (("lk9=lk1", "no rank of the job is on lk9"),
                              ("%s=%s" % (new, old), "no rank of the job is on " + new)):
                refused = job.save("--move", pair)
                self.assertEqual((refused.returncode, refused.stderr), (1, "lamina checkpoint: %s\n" % why))
            moved = job.save("--move", "%s=%s" % (old, new))
            self.assertEqual(moved.returncode, 0, moved.stderr + read("err")[-2000:])
            job.wait_for("err", "mpiexec: the job goes on from generation %d with %s instead of %s" % (number, new, old))
            job.wait_for("err", "are on %s now instead of %s" % (new, old))
        self.assertEqual(job.save("--move", "lk3=lk9").returncode, 0)
        job.wait_for("err", "mpiexec: cannot start on lk9: ")
        job.wait_for("err", "mpiexec: the job goes on from generation 3 where it was\n")
        refused = job.save("--move", "lk2=lk3")
        self.assertEqual((refused.returncode, refused.stderr),
                         (1, "lamina checkpoint: ranks of the job are on lk3 already\n"))
        self.compare(job, 4, "lk1:2,lk2:2")

    def test_ranks_that_are_in_finalize(self):
        job = Job(4, "-H", "lk1:2,lk2:2", way=("owed",))
        self.jobs.append(job)
        job.wait_for("out", "begun")
        for where in ("lk1:4", "lk2:1,lk3:3"):
            saved = job.save("--end", turns=0)
            self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
            self.assertEqual(job.wait(), 85, read("err")[-2000:])
            job = Job(0, "-H", where)
            self.jobs.append(job)
        saved = job.save(turns=0)
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        job.stop()
        self.assertEqual((job.process.returncode, read("out")), (0, "begun\ndone\n"), read("err")[-2000:])

    def test_a_file_that_is_not_there_any_more(self):
        path = place("theirs")
        job = Job(2, "-H", "lk1:2", way=("filing", path))
        self.jobs.append(job)
        while not os.path.exists(path + ".1"):
            self.assertIsNone(job.process.poll(), read("err")[-2000:])
        saved = job.save("--end", turns=0)
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        self.assertEqual(job.wait(), 85, read("err")[-2000:])
        os.unlink(path + ".1")
        job = Job(0, "-H", "lk1:1,lk2:1")
        self.jobs.append(job)
        self.assertEqual(job.wait(), 2, read("err")[-2000:])
        self.assertIn("generation 1 cannot be restarted: rank 1: %s.1, which it writes, is not there any more; bring back "
                      "what it had" % path, read("err"))

    def test_windows(self):
        job = Job(4, "-H", "lk1:2,lk2:2", way=("windows", "say"))
        self.jobs.append(job)
        saved = job.save("--end")
        self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
        self.assertEqual(job.wait(), 85, read("err")[-2000:])
        job = Job(0, "-H", "lk1:1,lk2:3")
        self.jobs.append(job)
        self.assertEqual(job.wait(), 2, read("err")[-2000:])
        self.assertIn("ranks 0 and 1 share the memory of a window and must be on one host", read("err"))
        job = Job(0, "-H", "lk3:4")
        self.jobs.append(job)
        job.go_on(10)
        job.stop()
        self.assertEqual(job.process.returncode, 0, read("err")[-2000:])
        self.assertEqual(read("out").splitlines()[-1], "done")

    def test_a_solver_goes_from_place_to_place(self):
        solver = ["./heat2d", "--steps", "400", "--output", place("picture")]
        places = ["lk1:8,lk2:8", "lk1:16", "lk1:4,lk2:4,lk3:4,lk4:4", "lk2:1,lk3:15"]
        for number, where in enumerate(places):
            job = Job(0 if number else 16, "-H", where, program=solver)
            self.jobs.append(job)
            if where != places[-1]:
                job.wait_for("out", "step", number + 1)
                saved = job.save("--end", turns=0)
                self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
                self.assertEqual(job.wait(), 85, read("err")[-2000:])
        self.assertEqual(job.wait(), 0, read("err")[-2000:])
        alone = subprocess.run(words(16, "-H", places[0], program=solver), cwd=PLACE, check=True, capture_output=True,
                               text=True, timeout=TIME_LIMIT_S, env=variables())
        self.assertEqual(read("out").count("checksum"), 1)
        self.assertEqual(read("out").splitlines()[-1], alone.stdout.splitlines()[-1])

    @unittest.skipUnless(os.path.exists("prefix.tar"), "HPCC takes its time: restarted_hpcc_test")
    def test_hpcc(self):
        built = subprocess.run(["bash", "-c", BUILD_HPCC, "-", PLACE], check=False, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=600)
        if built.returncode == 3:
            self.skipTest("the archive cannot be reached: " + built.stdout.strip()[-200:])
        self.assertEqual(built.returncode, 0, built.stdout[-2000:])
        report = place("hpccoutf.txt")
        sections = ["Begin of MPIRandomAccess", "Begin of StarDGEMM", "Begin of StarSTREAM", "Begin of MPIFFT"]
        places = ["lk1:2,lk2:2", "lk1:4", "lk1:1,lk2:2,lk3:1", "lk2:1,lk3:3", "localhost:4"]
        for number, where in enumerate(places):
            job = Job(0 if number else 4, "-H", where, program=["./hpcc/hpcc"])
            self.jobs.append(job)
            if where == places[-1]:
                break
            until = time.monotonic() + TIME_LIMIT_S
            while not os.path.exists(report) or sections[number] not in read("hpccoutf.txt"):
                self.assertIsNone(job.process.poll(), read("err")[-2000:])
                self.assertLess(time.monotonic(), until)
            saved = job.save("--end", turns=0)
            status = job.wait()
            if number > 0 and status == 0:
                break  # the rest of it was faster
            self.assertEqual((saved.returncode, status), (0, 85), saved.stderr + read("err")[-2000:])
        self.assertEqual(job.wait(), 0, read("err")[-2000:])
        text = read("hpccoutf.txt")
        for line in ("Success=1", "CommWorldProcs=4", "MPIRandomAccess_Errors=0"):
            self.assertRegex(text, "(?m)^%s$" % line)
        self.assertNotRegex(text, r"FAILED|\(failed\)")
        for line in ("Begin of HPL section", "End of HPL section"):
            self.assertEqual(text.count(line), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
