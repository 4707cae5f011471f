"""The command line: arguments in, calls of the application, results out. No logic."""

import atexit
import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import NoReturn

EXIT_BY_SIGNAL = 128  # and the signal's number
GRACE_SECONDS = 10  # for what has begun to end in order; a signal after them ends it at once

type Handler = Callable[[int, FrameType | None], object]


def main() -> None:
    """Run the command line; `--version` alone is answered before all commands are imported."""
    _heed(_end_at_once, _end_at_once)
    # Else pydantic looks for plugins in the metadata of all packages that are installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        if sys.argv[1:] == ["--version"]:
            show_version()
        else:
            from lexichord.cli.commands import app

            app()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code > EXIT_BY_SIGNAL:
            _leave(end.code)
        raise
    except OSError as error:
        from lexichord.cli.options import explain_os_error

        if (code := explain_os_error(error)) is None:
            raise
        raise SystemExit(code) from error


@contextmanager
def interruptible() -> Iterator[None]:
    """Have signals raise KeyboardInterrupt in the block, where `main` runs: it ends in order.

    Before the block nothing is begun that would have to, and after it all of it is about to end.
    """
    if signal.getsignal(signal.SIGTERM) is not _end_at_once:
        yield
        return
    _heed(signal.default_int_handler, _interrupt)  # asyncio looks for the first one
    try:
        yield
    finally:
        end_when_late = partial(_end_when_late, time.monotonic() + GRACE_SECONDS)
        _heed(end_when_late, end_when_late)


def _heed(on_interrupt: Handler, on_termination: Handler) -> None:
    """Set what is done at SIGINT, unless a shell has it ignored in the background, and SIGTERM."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, on_interrupt)
    signal.signal(signal.SIGTERM, on_termination)


def _end_at_once(number: int, _: FrameType | None) -> None:
    os._exit(EXIT_BY_SIGNAL + number)


def _interrupt(number: int, _: FrameType | None) -> None:
    """End a command as Ctrl-C does: what it has begun is left in order."""
    raise KeyboardInterrupt(number)


def _end_when_late(late: float, number: int, frame: FrameType | None) -> None:
    if time.monotonic() > late:
        _end_at_once(number, frame)


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code of a command that a signal ended."""
    return EXIT_BY_SIGNAL + next(iter(interrupt.args), signal.SIGINT)


def _leave(code: int) -> NoReturn:
    """End the process without its threads, which may go on for long at what nobody waits for."""
    atexit._run_exitfuncs()  # one of them stops an embedded server that is still up
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None is one that is closed
        stream.flush()
    os._exit(code)


def check_output() -> None:
    """Raise OSError where standard output is closed: Python prints nowhere then, without a word."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")


def show_version() -> None:
    """Print the name and the version."""
    from importlib.metadata import version

    check_output()
    sys.stdout.write(f"lexichord {version('lexichord')}\n")
    sys.stdout.flush()
