"""The command line: arguments in, calls of the application, results out. No logic."""

import atexit
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

EXIT_BY_SIGNAL = 128  # and the signal's number


def main() -> None:
    """Run the command line; `--version` alone is answered before all commands are imported."""
    signal.signal(signal.SIGTERM, _interrupt)
    if sys.argv[1:] == ["--version"]:
        show_version()
    else:
        # Else pydantic looks for plugins in the metadata of all packages that are installed.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        try:
            from lexichord.cli.commands import app

            app()
        except SystemExit as end:
            if isinstance(end.code, int) and end.code > EXIT_BY_SIGNAL:
                _leave(end.code)
            raise
        except KeyboardInterrupt as interrupt:  # before a command had begun
            _leave(exit_code(interrupt))


def _interrupt(number: int, _: FrameType | None) -> None:
    """End a command as Ctrl-C does: what it has begun is left in order."""
    raise KeyboardInterrupt(number)


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code of a command that a signal ended."""
    return EXIT_BY_SIGNAL + next(iter(interrupt.args), signal.SIGINT)


def _leave(code: int) -> NoReturn:
    """End the process without its threads, which may go on for long at what nobody waits for."""
    atexit._run_exitfuncs()  # one of them stops an embedded server that is still up
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def show_version() -> None:
    """Print the name and the version."""
    from importlib.metadata import version

    sys.stdout.write(f"lexichord {version('lexichord')}\n")
