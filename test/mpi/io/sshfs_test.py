#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   files are right on a file system of a network that shows other nodes' changes only to who opens the
        file anew, and whose locks nobody else sees.
Method: two and three virtual hosts, each of which has mounted one folder by sshfs. Its server is the sftp-server
        of this machine, reached through a pipe.

usage: sshfs_test.py PROGRAM..."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.getcwd(), "test/mpi/collective"))
import cube_test as hosts  # noqa: E402

SERVER = "/usr/lib/openssh/sftp-server"
# An agent that enters the host's mounts as well.
hosts.AGENT = ["--agent", hosts.VCLUSTER + " exec {host}"]
os.environ.update(VC_NAME=hosts.NAME, VC_RUN=hosts.STATE)
CELLS = [[1, 1], [2, 2], [1, 1, 1]]


def why_not():
    """Why there can be no such file system here; "": there can."""
    if shutil.which("sshfs") is None:
        return "sshfs is missing: third_party/install test"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse cannot be opened"
    if not os.path.exists(SERVER):
        return SERVER + " is missing: third_party/install test"
    return hosts.why_not()


def script(place, name, command):
    path = os.path.join(place, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexec %s\n" % command)
    os.chmod(path, 0o755)


def mount(place, host):
    """Mounts the folder `real` of the place as its folder `shared` on the host. It has one thread (-s),
    because FUSE with several can keep a file for ever, as `.fuse_hidden...`, that is deleted while it is closed."""
    subprocess.run([hosts.VCLUSTER, "exec", host, "sshfs", "-s", "-o", "dir_cache=no",
                    "-o", "ssh_command=" + os.path.join(place, "server"),
                    "anywhere:" + os.path.join(place, "real"), os.path.join(place, "shared")],
                   cwd=place, check=True, timeout=60)


def main():
    if why_not():
        print("SKIPPED: " + why_not())
        return 0
    place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    failures = 0
    try:
        for folder in ("real", "shared"):
            os.mkdir(os.path.join(place, folder))
        script(place, "server", SERVER)
        script(place, "on_sshfs", "mountpoint -q $TEST_TMPDIR")
        hosts.raise_hosts(place, sys.argv[1:], max(map(len, CELLS)))
        for i in range(max(map(len, CELLS))):
            mount(place, "%s%d" % (hosts.PREFIX, i + 1))
        for program in ["on_sshfs", *map(os.path.basename, sys.argv[1:])]:
            for cell in CELLS:
                problem = hosts.run(place, cell, program, [], folder="shared")
                print("%-10s %s %s" % ("FAILED" if problem else "passed", "+".join(map(str, cell)), program),
                      flush=True)
                failures += problem != ""
                if problem:
                    print(problem, flush=True)
    finally:
        hosts.vcluster("down", "--name", hosts.NAME, check=False)
        shutil.rmtree(place, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
