"""What waits to be stored, in a file: a million chunks with vectors take gigabytes of memory."""

import os
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

from lexichord.errors import IngestError


class Spool:
    """Objects set down in a file without a name, which no other process can open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close
        self._lock = Lock()

    def close(self) -> None:
        """Give the room back."""
        self._file.close()

    def keep[T](self, kept: T) -> Callable[[], T]:
        """Return what reads an object again, in any thread, as often as is wanted.

        Raises IngestError where it cannot be written.
        """
        data = pickle.dumps(kept, pickle.HIGHEST_PROTOCOL)
        try:
            with self._lock:
                place = self._file.seek(0, os.SEEK_END)
                self._file.write(data)
                self._file.flush()
        except OSError as error:
            raise IngestError(
                f"{self._folder.parent} cannot hold what is to be stored: {error.strerror}; "
                "TMPDIR names another folder"
            ) from None
        return partial(self._read, place, len(data))

    def _read(self, place: int, size: int) -> Any:  # noqa: ANN401 - what was kept
        with self._lock:
            self._file.seek(place)
            data = self._file.read(size)
        return pickle.loads(data)  # noqa: S301 - written by this process
