# SPDX-License-Identifier: BSD-3-Clause
"""A stand-in for pbs_mom: speaks the task manager protocol as OpenPBS does (the bytes are in
launcher/spawn/pbs/README.md) and runs tasks on this machine, with what a real one gives them: an
environment of its own, a session of their own, nothing on standard input."""

import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import threading

ERROR = 999
NO_SUCH_NODE = 17006


def integer(value):
    text = ("-" if value < 0 else "+") + str(abs(value))
    digits = len(text) - 1
    while digits > 1:
        count = str(digits)
        text = count + text
        digits = len(count)
    return text.encode()


def text(words):
    return integer(len(words)) + words.encode()


def noise():
    """A number that a real pbs_mom leaves to chance."""
    return random.randrange(-2**31, 2**31)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        piece = self.data[self.at:self.at + count]
        assert len(piece) == count, "cut short"
        self.at += count
        return piece

    def integer(self):
        digits = 1
        while True:
            first = self.take(1)
            if first in b"+-":
                value = int(self.take(digits))
                return -value if first == b"-" else value
            digits = int(first + self.take(digits - 1))

    def text(self):
        return self.take(self.integer()).decode()


class Mom:
    """Serves one job until stop(). `broken`: nodes on which nothing can be started; `reach`: from a
    node's number to the words in front of what is to run there, none for this machine."""

    def __init__(self, job, cookie, nodes, broken=(), reach=lambda node: []):
        self.job, self.cookie, self.nodes, self.broken = job, cookie, nodes, set(broken)
        self.reach = reach
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.tasks, self.spawned, self.signalled = {}, [], []
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        """The end of the job's script: what still runs is killed."""
        self.listener.close()
        left = [task for task in self.tasks.values() if task.poll() is None]
        for task in left:
            os.killpg(task.pid, signal.SIGKILL)
            task.wait()
        return len(left)

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        data = b""
        while True:
            while len(data) < 11 or len(data) < 11 + struct.unpack("!I", data[7:11])[0]:
                try:
                    piece = connection.recv(65536)
                except ConnectionResetError:  # mpiexec has ended, with an answer unread
                    return
                if not piece:
                    return
                data += piece
            assert data[:7] == b"PKTV1\0\0", data[:11]
            length = struct.unpack("!I", data[7:11])[0]
            request, data = Reader(data[11:11 + length]), data[11 + length:]
            self.answer(connection, request)

    def send(self, connection, event, code, *body):
        message = integer(2) + integer(2) + integer(code) + integer(event) + b"".join(body)
        with self.lock:
            try:
                connection.sendall(b"PKTV1\0" + os.urandom(1) + struct.pack("!I", len(message)) +
                                   message)
            except OSError:
                pass

    def answer(self, connection, request):
        assert (request.integer(), request.integer()) == (2, 2)
        assert (request.text(), request.text()) == (self.job, self.cookie)
        command, event, task = request.integer(), request.integer(), request.integer()
        assert task == 1
        if command == 100:
            nodes = b"".join(integer(i) for i in range(self.nodes))
            # The parent of a task that no task has started is not specified.
            parent = text(os.urandom(3).hex()) + integer(noise()) + integer(noise())
            self.send(connection, event, 0, integer(self.nodes), nodes, parent)
        elif command == 102:
            node = request.integer()
            words = [request.text() for _ in range(request.integer())]
            variables = {}
            while True:
                assignment = request.text()
                if not assignment:
                    break
                name, _, value = assignment.partition("=")
                variables[name] = value
            if node in self.broken:
                self.send(connection, event, ERROR, integer(NO_SUCH_NODE))
                return
            environment = {"PATH": "/bin:/usr/bin:/sbin:/usr/sbin", "HOME": "/", "PBS_JOBID": self.job,
                           # A MoM's own PMIx, which is of no use to anybody.
                           "PMIX_NAMESPACE": "pbs", "PMIX_RANK": "0"}
            environment.update(variables)
            self.spawned.append((node, words, variables))
            task = subprocess.Popen(self.reach(node) + words, env=environment, cwd="/", stdin=subprocess.DEVNULL,
                                    start_new_session=True)
            self.tasks[task.pid] = task
            self.send(connection, event, 0, integer(task.pid))
        elif command == 103:
            request.integer()
            task, number = request.integer(), request.integer()
            self.signalled.append(number)
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                if self.tasks[task].poll() is None:
                    os.killpg(task, number)
            self.send(connection, event, 0)
        elif command == 104:
            request.integer()
            task = self.tasks[request.integer()]

            def tell():
                status = task.wait()
                self.send(connection, event, 0, integer(256 - status if status < 0 else status))
            threading.Thread(target=tell, daemon=True).start()
        else:
            raise AssertionError(command)
