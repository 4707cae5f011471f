"""The command line: arguments in, calls of the application, results out. No logic."""

import os
import sys


def main() -> None:
    """Run the command line; `--version` alone is answered before all commands are imported."""
    if sys.argv[1:] == ["--version"]:
        show_version()
    else:
        # Else pydantic looks for plugins in the metadata of all packages that are installed.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from lexichord.cli.commands import app

        app()


def show_version() -> None:
    """Print the name and the version."""
    from importlib.metadata import version

    sys.stdout.write(f"lexichord {version('lexichord')}\n")
