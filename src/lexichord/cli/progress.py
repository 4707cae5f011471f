"""What goes on in a run over many files, while it lasts."""

import sys
from typing import TYPE_CHECKING, Self

from rich import progress
from rich.console import Console
from rich.text import Text

from lexichord.cli.render import short, usage

if TYPE_CHECKING:
    from lexichord.ingest.report import Hearing
    from lexichord.types.generation import Usage


class Progress:
    """What becomes of each file: a bar on a terminal, elsewhere lines; both on stderr."""

    def __init__(self, what: str = "ingest") -> None:
        self._what = what
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("files"),
            progress.TextColumn("{task.fields[speed]} chunks/s, left"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[spent]}"),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def listening(self) -> "Hearing":
        """Give the options of a run that is heard here."""
        return {"on_start": self.start, "on_chunks": self.count, "listener": self.advance}

    def start(self, total: int) -> None:
        """Hear how many files there are."""
        for task in self._bar.task_ids:  # of the ingest before, in a watched folder
            self._bar.remove_task(task)
        self._chunks = 0
        self._task = self._bar.add_task(self._what, total=total, speed="-", spent="")

    def count(self, chunks: int) -> None:
        """Hear how many more chunks are done."""
        self._chunks += chunks
        elapsed = self._bar.tasks[0].elapsed
        if elapsed:
            self._bar.update(self._task, speed=f"{self._chunks / elapsed:.0f}")

    def spend(self, used: "Usage") -> None:
        """Hear what a service was asked."""
        self._bar.update(self._task, spent=usage(used.to_dict()))

    def advance(self, uri: str, status: str, reason: str) -> None:
        """Hear what became of a file."""
        self._bar.advance(self._task)
        if status == "failed" or (self._bar.disable and status != "skipped"):
            self._bar.console.print(
                Text(f"{status} {short(uri)}{reason and ': '}{reason}"), soft_wrap=True
            )
