"""The command line: arguments in, calls of the application, results out. No logic."""

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; `--version` alone is answered before all commands are imported."""
    signal.signal(signal.SIGTERM, _interrupt)
    if sys.argv[1:] == ["--version"]:
        show_version()
    else:
        # Else pydantic looks for plugins in the metadata of all packages that are installed.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from lexichord.cli.commands import app

        app()


def _interrupt(number: int, _: FrameType | None) -> None:
    """End a command as Ctrl-C does: what it has begun is left in order."""
    raise KeyboardInterrupt(number)


def show_version() -> None:
    """Print the name and the version."""
    from importlib.metadata import version

    sys.stdout.write(f"lexichord {version('lexichord')}\n")
