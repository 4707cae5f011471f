"""Commands as forks of one process that has imported what they need, which takes each 1 to 3 s.

Run as a program it is that process. What `write_command` writes passes it the arguments, the
current folder, the environment and the standard files of who calls; a fork takes them and runs
the command as its interpreter would, to that one's end.
"""

import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

IMPORTED = (
    *("lexichord.cli.commands", "lexichord.client.sync", "lexichord.serve.http.app"),
    *("lexichord.serve.mcp.server", "tokenizers", "uvicorn"),
)
REQUEST_BYTES = 1 << 17  # what one packet of a socket may hold
PATIENCE = 120  # seconds
# A bare interpreter, up in 20 ms: it hands signals on, and ends as the fork does.
COMMAND = """#!{python} -IS
import _socket, array, json, os, signal, sys
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
server.connect({address!r})
request = json.dumps([{program!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
files = array.array("i", [0, 1, 2])
server.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
pid = int(server.recv(16))
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, lambda number, _: os.kill(pid, number))
code = int(server.recv(16))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@contextmanager
def command_server(folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Put `lexichord` and `python`, which takes `-W error -c CODE`, into a folder."""
    address = folder / "server"
    folder.mkdir()
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, address], env=variables, stdin=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not address.exists():
            assert server.poll() is None, "the server of commands ended"
            assert time.monotonic() < deadline, "the server of commands never listened"
            time.sleep(0.02)
        for program in ("lexichord", "python"):
            write_command(folder / program, str(address))
        yield
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder)


def write_command(file: Path, address: str) -> None:
    """Write an executable file that has its namesake run by the server."""
    file.write_text(COMMAND.format(python=sys.executable, address=address, program=file.name))
    file.chmod(0o755)


def main() -> None:
    """Serve; in each fork, run what was asked for, with the interpreter's usual end after it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as for what Python's blocks import themselves
        for each in IMPORTED:
            import_module(each)
    gc.freeze()
    program, arguments, folder, variables = serve(Path(sys.argv[1]))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    if program == "python":
        run_code(arguments)
    else:
        run_lexichord(arguments)


def serve(address: Path) -> tuple[str, list[str], str, dict[str, str]]:
    """Fork once a request, until the process is killed; return the request in the fork."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for commands
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        new = address.with_suffix(".new")
        listener.bind(str(new))
        listener.listen()
        new.rename(address)  # it is there when it can be connected to
        while True:
            connection, _ = listener.accept()
            with connection:
                request, files, *_ = socket.recv_fds(connection, REQUEST_BYTES, 3)
                if is_fork(connection, files):
                    program, arguments, folder, variables = json.loads(request)
                    return program, arguments, folder, variables


def is_fork(connection: socket.socket, files: list[int]) -> bool:
    """Fork a process that tells the end of its own fork; return whether this is the latter."""
    if not os.fork():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if pid := os.fork():
            for file in files:
                os.close(file)
            connection.send(str(pid).encode())
            _, status = os.waitpid(pid, 0)
            connection.send(str(os.waitstatus_to_exitcode(status)).encode())
            os._exit(0)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        return True
    for file in files:
        os.close(file)
    return False


def run_lexichord(arguments: list[str]) -> None:
    from lexichord.cli import main

    sys.argv = [str(Path(sys.executable).with_name("lexichord")), *arguments]
    main()


def run_code(arguments: list[str]) -> None:
    """Do as `python -W error -c CODE`."""
    *options, code = arguments
    assert options == ["-W", "error", "-c"], options
    warnings.simplefilter("error")
    sys.argv = ["-c"]
    sys.path.insert(0, "")
    module = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), vars(module))


if __name__ == "__main__":
    main()
