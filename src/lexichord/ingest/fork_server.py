"""Child processes that are forked from one that has imported what they run.

To import it takes 0.3 s, a fork a hundredth of that. Each message is four bytes of length, then
JSON.
"""

import atexit
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

MESSAGE_LENGTH = struct.Struct("!I")
END_SECONDS = 2.0  # that the process gets to end its children


class ForkedChild:
    """A child with a socket to it; the process that it was forked from waits for it."""

    def __init__(self, fork_server: "ForkServer", pid: int, connection: socket.socket) -> None:
        self.fork_server, self.pid, self.connection = fork_server, pid, connection

    def poll(self) -> int | None:
        """Return how it ended, as `subprocess` tells it; None while it runs."""
        return self.fork_server.tell("poll", self.pid)

    def kill(self) -> None:
        """End it, even in the midst of its work, and wait until it is gone."""
        self.fork_server.tell("kill", self.pid)


class ForkServer:
    """The process that children of a module are forked from; it ends with this one."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control = socket.socket(socket.AF_UNIX)
        os.register_at_fork(after_in_child=self._forget)

    def start(self, *arguments: object) -> ForkedChild:
        """Start a child that works in the current folder and environment."""
        ours, theirs = socket.socketpair()
        request = {"start": arguments, "environment": dict(os.environ)}
        with theirs, _current_folder() as folder, self._lock:
            files = theirs.fileno(), *folder
            try:
                pid = self._ask(request, *files)
            except (OSError, EOFError):  # it is not there yet, or was killed
                self._begin()
                pid = self._ask(request, *files)
        assert pid is not None
        return ForkedChild(self, pid, ours)

    def tell(self, command: str, pid: int) -> int | None:
        """Return how a child ended; None while it runs."""
        with self._lock:
            try:
                return self._ask({command: pid})
            except (OSError, EOFError):  # it was killed: nobody waits for its children any more
                return -signal.SIGKILL

    def end(self) -> None:
        """End the process, which ends its children."""
        self._control.close()
        if process := self._process:
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _begin(self) -> None:
        """Start the process, which Ctrl-C in the terminal does not reach."""
        self.end()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                # -P: nothing from the current folder
                [sys.executable, "-P", "-m", self.module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.unregister(self.end)
        atexit.register(self.end)

    def _ask(self, request: Mapping[str, Any], *files: int) -> int | None:
        data = packed(request)
        sent = socket.send_fds(self._control, [data], files) if files else 0
        self._control.sendall(data[sent:])
        with self._control.makefile("rb") as answers:
            answer = receive(answers)
        if answer is None:
            raise EOFError
        code: int | None = answer["answer"]
        return code

    def _forget(self) -> None:
        """In a fork of this process: what it has belongs to the one that it was forked from."""
        self._lock, self._process = threading.Lock(), None
        self._control.close()


@contextmanager
def _current_folder() -> Iterator[Sequence[int]]:
    """Open it; nothing where this process may not, as after `sudo -u` from root's own folder."""
    try:
        folder = os.open(".", os.O_RDONLY)
    except OSError:
        yield []
        return
    try:
        yield [folder]
    finally:
        os.close(folder)


def serve_forks(work: Callable[..., None]) -> None:
    """Be the process that is forked, until the one that started it is gone.

    Its children end with it: one that is amid a file would see only after it that it is alone.
    """
    children: list[int] = []
    try:
        with socket.socket(fileno=int(sys.argv[1])) as control:
            while request := _next_request(control):
                answer = _obey(*request, control, work)
                if "start" in request[0] and answer is not None:
                    children.append(answer)
                control.sendall(packed({"answer": answer}))
    finally:
        for pid in children:
            _wait(pid, is_killed=True)


def _next_request(control: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Wait for a request and the files that come with it; None at the end."""
    head, files, *_ = socket.recv_fds(control, MESSAGE_LENGTH.size, 2, socket.MSG_WAITALL)
    if not head:
        return None
    data = control.recv(MESSAGE_LENGTH.unpack(head)[0], socket.MSG_WAITALL)
    return json.loads(data), files


def _obey(
    request: Mapping[str, Any], files: list[int], control: socket.socket, work: Callable[..., None]
) -> int | None:
    if "start" not in request:
        ((command, pid),) = request.items()
        return _wait(pid, is_killed=command == "kill")
    if pid := os.fork():
        _lead_group(pid)
        for each in files:
            os.close(each)
        return pid
    code = 1
    try:
        _lead_group(0)
        control.close()
        connection, *folders = files
        for folder in folders:
            os.fchdir(folder)
            os.close(folder)
        os.environ.clear()
        os.environ.update(request["environment"])
        work(socket.socket(fileno=connection), *request["start"])
        code = 0
    finally:
        os._exit(code)


def _lead_group(pid: int) -> None:
    """Give a child a process group, of it and of the programs that it runs.

    Both processes do so, for either may come to need it first.
    """
    with suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, 0)


def _wait(pid: int, *, is_killed: bool) -> int | None:
    """Return how a child ended, after which none of its programs runs; None while it runs."""
    with suppress(ChildProcessError):  # one that was waited for had been killed
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended and not is_killed:
            return None
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        if not ended:
            _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)
    return -signal.SIGKILL


def packed(message: Mapping[str, Any]) -> bytes:
    """Return one message as it is sent."""
    data = json.dumps(message, separators=(",", ":")).encode()
    return MESSAGE_LENGTH.pack(len(data)) + data


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Wait for one message; None at the end."""
    head = stream.read(MESSAGE_LENGTH.size)
    if len(head) < MESSAGE_LENGTH.size:
        return None
    message: dict[str, Any] = json.loads(stream.read(MESSAGE_LENGTH.unpack(head)[0]))
    return message
