"""Progress of long commands on stderr: bars on a terminal, elsewhere lines."""

import sys
from collections.abc import Mapping
from datetime import timedelta
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from lexichord.cli.render import err
from lexichord.display.record_text import file_progress, usage_text
from lexichord.types.base import counted, escaped, short_uri

if TYPE_CHECKING:
    from lexichord.ingest.report import ProgressCallbacks, Reading
    from lexichord.types.questions import Usage
    from lexichord.types.state import FileProgress as Progressed

MAX_FAILED_LINES = 20  # of files that fail; the report has them by reason
MAX_FILES_SHOWN = 2  # beside the bar, of those in progress
PROGRESS_LINES = 10  # printed of a run over chunks where there is no terminal


class ProgressBars:
    """Bars, one a task, that are drawn on a terminal only."""

    def __init__(self, *columns: ProgressColumn) -> None:
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            *columns,
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def _print(self, line: str) -> None:
        """Print a line above the bars."""
        self._bars.console.print(Text(escaped(line)), soft_wrap=True)


class FileProgress(ProgressBars):
    """Progress over files: a bar with the speed and what it costs, elsewhere a line a file.

    Where it is told how many chunks there will be, the bar and the time left are about these.
    """

    def __init__(self, name: str = "ingest") -> None:
        self._name, self._files, self._by_chunks, self._failed = name, 0, False, 0
        self._in_progress: Mapping[str, Progressed] = {}
        super().__init__(
            TextColumn("{task.fields[unit]}"),
            TextColumn("{task.fields[speed]} chunks/s, left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[spent]}"),
            TextColumn("{task.fields[files]}", markup=False),
        )

    def __exit__(self, *_: object) -> None:
        self._sum_up()
        super().__exit__()

    def callbacks(self) -> "ProgressCallbacks":
        """Return the options of a run that report its progress here."""
        return {
            "on_start": self.start,
            "on_chunks": self.add_chunks,
            "listener": self.finish_file,
        }

    def start(self, total: int) -> None:
        """Show how many files there are."""
        self._sum_up()
        for task in self._bars.task_ids:  # of the ingest before, in a watched folder
            self._bars.remove_task(task)
        self._chunks = self._done = 0
        self._files, self._by_chunks = total, False
        self._task = self._bars.add_task(
            self._name, total=total, unit="files", speed="-", spent="", files=""
        )

    def add_chunks(self, chunks: int) -> None:
        """Show the speed after that many more chunks."""
        self._chunks += chunks
        if self._by_chunks:
            self._bars.update(self._task, advance=chunks)
        elapsed = self._bars.tasks[0].elapsed
        if elapsed:
            self._bars.update(self._task, speed=f"{self._chunks / elapsed:.0f}")

    def estimate(self, chunks: int) -> None:
        """Count chunks from now on, of which there will be about so many."""
        self._by_chunks = True
        total, done = max(chunks, self._chunks), self._chunks
        self._bars.update(self._task, total=total, completed=done, unit=self._unit())

    def show_files(self, reading: "Reading") -> None:
        """Show how far the files are that are in progress."""
        self._in_progress = reading.files
        lines = (file_progress(short_uri(uri), each) for uri, each in reading.files.items())
        self._bars.update(self._task, files="; ".join(islice(lines, MAX_FILES_SHOWN)))

    def name_slow(self, uri: str, seconds: float) -> None:
        """Print how far a file is that takes long, where there is no bar that shows it."""
        if self._bars.disable and (progress := self._in_progress.get(uri)):
            self._print(f"{file_progress(short_uri(uri), progress)}, {seconds:.0f} s")

    def _unit(self) -> str:
        return f"chunks, {self._done} of {counted(self._files, 'file')}"

    def show_usage(self, used: "Usage") -> None:
        """Show what a service was asked."""
        self._bars.update(self._task, spent=usage_text(used))

    def finish_file(self, uri: str, status: str, reason: str) -> None:
        """Advance by a file; print a failed one, without a bar all that were not skipped."""
        self._done += 1
        if self._by_chunks:
            self._bars.update(self._task, unit=self._unit())
        else:
            self._bars.advance(self._task)
        is_failed = status == "failed"
        self._failed += is_failed
        if self._failed <= MAX_FAILED_LINES if is_failed else self._is_told(status):
            self._print(f"{status} {short_uri(uri)}{reason and ': '}{reason}")

    def _is_told(self, status: str) -> bool:
        """Return whether a file that did not fail gets a line."""
        return self._bars.disable and status != "skipped"

    def _sum_up(self) -> None:
        """Print how many files failed beyond those that were named."""
        if (more := self._failed - MAX_FAILED_LINES) > 0:
            self._print(f"and {more:,} more failed")
        self._failed = 0


class ChunkProgress(ProgressBars):
    """Progress over chunks: a bar, elsewhere ten lines; both with the time left."""

    def __init__(self, name: str) -> None:
        self._name = name
        super().__init__(TextColumn("chunks, left"), TimeRemainingColumn())

    def start(self, total: int) -> None:
        """Show how many chunks there are."""
        self._done, self._total, self._started = 0, total, monotonic()
        self._task = self._bars.add_task(self._name, total=total)

    def add_chunks(self, chunks: int) -> None:
        """Advance by that many chunks."""
        before, self._done = self._done, self._done + chunks
        self._bars.advance(self._task, chunks)
        step = max(self._total // PROGRESS_LINES, 1)
        if self._bars.disable and before // step < self._done // step:
            self._print(f"{self._done} of {counted(self._total, 'chunk')}, {self._left()} left")

    def _left(self) -> timedelta:
        """Return how long the rest takes, if it goes on as it has gone since the start."""
        rest = max(self._total - self._done, 0)
        return timedelta(seconds=round(rest * (monotonic() - self._started) / self._done))


class TaskProgress(ProgressBars):
    """Progress of several tasks by name: a bar each, elsewhere a line each."""

    def __init__(self) -> None:
        self._tasks: dict[str, TaskID] = {}
        super().__init__()

    def update(self, name: str, done: int, total: int) -> None:
        """Show how far a task is."""
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
            if self._bars.disable:
                err.print(Text(escaped(name)))
        self._bars.update(self._tasks[name], completed=done)

    def warn(self, line: str) -> None:
        """Print what could not be done."""
        err.print(Text(f"lexichord: {escaped(line)}"))
