"""The command line: arguments in, calls of the application, results out. No logic."""

from lexichord.cli.commands import main

__all__ = ["main"]
