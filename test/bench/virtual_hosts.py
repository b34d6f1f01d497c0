# SPDX-License-Identifier: BSD-3-Clause
"""What some rows need beside a command: two virtual hosts, a slow cable, a busy neighbour."""
import atexit
import os
import subprocess

from places import VCLUSTER


class Hosts:
    """Two virtual hosts and a cable between them, where this machine allows that."""

    # test/cluster/vcluster derives the names of the hosts' networks from NAME and NODES.
    NAME, NODES, SUBNET = "brun", ("br1", "br2"), "10.98.41"
    WAYS = ("hosts", "shaped")
    # Both hosts share this machine's processors, so each rank binds itself to the one of its host.
    PIN = ["sh", "-c", 'case $(hostname) in *1) own=0;; *) own=1;; esac; exec taskset -c $own "$0" "$@"']
    up = False

    @staticmethod
    def tell(*words):
        done = subprocess.run([VCLUSTER, *words], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
        if done.returncode != 0:
            raise OSError((done.stderr.strip().splitlines() or ["vcluster failed"])[-1])

    @classmethod
    def start(cls):
        os.environ["VC_NAME"] = cls.NAME
        cls.up = True  # A start that fails half way has to be taken down, too.
        atexit.register(cls.stop)
        cls.tell("up", "-n", "2", "--prefix", "br", "--subnet", cls.SUBNET, "--no-ssh", "--no-system",
                 "--private", "/dev/shm")

    @classmethod
    def stop(cls):
        if cls.up:
            cls.up = False
            cls.tell("down")

    @classmethod
    def between(cls):
        """The words that make floor.c open its sockets between the two hosts."""
        return ["hosts"] + ["/run/netns/%s-%s" % (cls.NAME, node) for node in cls.NODES] + [cls.SUBNET + ".1"]


class Surroundings:
    """Shapes the cable or starts the busy neighbour for as long as rows of such a way are measured."""

    def __init__(self, way):
        self.way, self.neighbour = way, None

    def __enter__(self):
        if self.way == "shaped":
            Hosts.tell("shape", "all", "rate=1gbit")
        if self.way == "beside":
            self.neighbour = subprocess.Popen(["sh", "-c", "while :; do :; done"])

    def __exit__(self, *_):
        if self.way == "shaped":
            Hosts.tell("shape", "all", "reset")
        if self.neighbour:
            self.neighbour.kill()
            self.neighbour.wait()
