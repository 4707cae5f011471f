"""Archives and mails that were fetched, kept for their parts as long as there is room."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

KEPT_BYTES = 1_000_000_000  # of archives between the look into them and the reading of their parts


@dataclass
class ArchiveRoom:
    """How many bytes of archives may be kept at once."""

    left: int = KEPT_BYTES
    _lock: Lock = field(default_factory=Lock)

    def take(self, size: int) -> bool:
        """Return whether there is room for so many bytes, which are then taken."""
        with self._lock:
            if size > self.left:
                return False
            self.left -= size
            return True

    def give_back(self, size: int) -> None:
        """Give so many bytes back."""
        with self._lock:
            self.left += size


@dataclass
class FetchedArchive:
    """An archive's file. `fetch` brings it, again where there was no room to keep it.

    It goes when all looks at it that are `left`, the first one included, were had.
    """

    file: Path
    fetch: Callable[[Path], None]
    room: ArchiveRoom
    left: int = 1
    _users: int = field(init=False, default=0)
    _kept: int = field(init=False, default=0)  # bytes
    _lock: Lock = field(init=False, default_factory=Lock)

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Yield the file. Raises IngestError where it cannot be fetched."""
        with self._lock:
            if not self.file.exists():
                self._bring()
            self._users += 1
        try:
            yield self.file
        finally:
            with self._lock:
                self._users -= 1
                self.left -= 1
                if not self._users and not self._stays():
                    self.file.unlink(missing_ok=True)

    def _bring(self) -> None:
        self.file.parent.mkdir(exist_ok=True)
        try:
            self.fetch(self.file)
        except BaseException:
            self.file.unlink(missing_ok=True)  # what came of it is not taken for all
            raise

    def _stays(self) -> bool:
        if self.left > 0 and not self._kept and self.room.take(size := self.file.stat().st_size):
            self._kept = size
        if self.left <= 0:
            self.room.give_back(self._kept)
            self._kept = 0
        return self._kept > 0
