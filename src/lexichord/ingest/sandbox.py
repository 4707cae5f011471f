"""Files are read in a child process within limits, so that none can harm or halt this one."""

import base64
import fcntl
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path
from queue import LifoQueue
from tempfile import TemporaryDirectory
from typing import Any, Self

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.fork_server import (
    MESSAGE_LENGTH,
    ForkedChild,
    ForkServer,
    packed,
    receive,
    serve_forks,
)
from lexichord.ingest.load import load
from lexichord.ingest.load.containers import ContainedFile, Unpacker, list_parts
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.text import held_in_place
from lexichord.types import Chunk, Heading, LoadedText, PageBox, PageSize, Table

FILE_SECONDS = 120.0  # for one file
OCR_FILE_SECONDS = 3600.0  # for one file, some pages of which are recognized
CHILD_MEMORY_BYTES = 2 * 2**30  # bytes
MAX_DEFAULT_WORKERS = 8  # each may need CHILD_MEMORY_BYTES
READ_BYTES = 1 << 20  # bytes of an answer taken at once
END_SECONDS = 5.0  # until a child whose socket is closed is gone

fork_server = ForkServer("lexichord.ingest.sandbox")


def default_workers() -> int:
    """Return how many files are read at once: one a processor that this process may use."""
    count = getattr(os, "process_cpu_count", os.cpu_count)()  # of Python 3.13 and later
    return min(count or 1, MAX_DEFAULT_WORKERS)


SCRATCH_PREFIX = "lexichord-scratch-"
LEFT_SECONDS = 60  # after which a folder that nobody holds is one that was left


class ScratchFolder(TemporaryDirectory[str]):
    """A folder for what is being read; whoever makes one removes those of processes that died."""

    def __init__(self) -> None:
        _remove_left(Path(tempfile.gettempdir()))
        super().__init__(prefix=SCRATCH_PREFIX)
        self._held: int | None = _hold(Path(self.name))

    def cleanup(self) -> None:
        """Remove it."""
        super().cleanup()
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _hold(folder: Path) -> int:
    """Lock a folder for as long as the descriptor is open. Raises OSError if another does."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise
    return held


def _remove_left(place: Path) -> None:
    for folder in place.glob(f"{SCRATCH_PREFIX}*"):
        with suppress(OSError):
            told = folder.lstat()
            is_own = stat.S_ISDIR(told.st_mode) and told.st_uid == os.getuid()
            if is_own and time.time() - told.st_mtime > LEFT_SECONDS:
                held = _hold(folder)
                shutil.rmtree(folder, ignore_errors=True)
                os.close(held)


class LateError(IngestError):
    """Reading a file took longer than it may."""


class Sandbox:
    """Loads and cuts files, each in a child process; as many at a time as there are `workers`.

    A child starts with the first file that finds the others busy, and goes on with what comes. One
    that takes too long, needs too much or crashes is ended; the next file gets a new one.
    """

    def __init__(
        self,
        options: LoadOptions = LoadOptions(),  # noqa: B008 - frozen
        *,
        seconds: float | None = None,
        memory: int = CHILD_MEMORY_BYTES,
        workers: int = 1,
    ) -> None:
        self.options = options
        self.seconds = seconds or (OCR_FILE_SECONDS if options.ocr else FILE_SECONDS)
        self.workers = workers
        self._children = [SandboxChild(self.seconds, memory) for _ in range(workers)]
        self._free = LifoQueue[SandboxChild]()  # the last one back is the first to go: it has begun
        for child in reversed(self._children):
            self._free.put(child)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the children, even in the midst of a file."""
        for child in self._children:
            child.close()

    def read(self, file: Path) -> tuple[LoadedText, list[Chunk]]:
        """Return a file's text and its chunks. Raises IngestError."""
        return self._read(self._request(file))

    def read_part(self, file: Path, part: ContainedFile) -> tuple[LoadedText, list[Chunk]]:
        """Return the text and the chunks of a file that another contains. Raises IngestError."""
        return self._read(self._request(file, part))

    def read_bytes(self, file: Path, part: ContainedFile) -> bytes:
        """Return a file that another contains as it is. Raises IngestError."""
        answer = self._checked(self._request(file, part) | {"bytes": True})
        return base64.b64decode(answer["bytes"])

    def picture(self, file: Path, part: ContainedFile | None, page: int, passage: str) -> bytes:
        """Return a page of a PDF, or of one that a file contains, as PNG, a passage marked.

        Raises IngestError.
        """
        asked = {"page": page, "passage": passage}
        answer = self._checked(self._request(file, part) | asked)
        return base64.b64decode(answer["picture"])

    def boxes(
        self, file: Path, part: ContainedFile | None, page: int, passage: str
    ) -> list[PageBox]:
        """Return where a passage stands on a PDF, from a page on. Raises IngestError."""
        asked = {"boxes_from": page, "passage": passage}
        answer = self._checked(self._request(file, part) | asked)
        return [PageBox(**fields) for fields in answer["boxes"]]

    def page_sizes(self, file: Path, part: ContainedFile | None) -> list[PageSize]:
        """Return how large the pages of a PDF are. Raises IngestError."""
        answer = self._checked(self._request(file, part) | {"sizes": True})
        return [PageSize(**fields) for fields in answer["sizes"]]

    def list_parts(self, file: Path) -> list[ContainedFile]:
        """Return the files that a file contains. Raises IngestError."""
        answer = self._checked({"container": str(file)})
        return [ContainedFile(**fields) for fields in answer["parts"]]

    def cut(self, text: str, media_type: str, title: str) -> list[Chunk]:
        """Return the chunks of a text. Raises IngestError."""
        fields = {"text": text, "media_type": media_type, "title": title}
        return self._read({"text": fields})[1]

    def _request(self, file: Path, part: ContainedFile | None = None) -> dict[str, Any]:
        request = {"file": str(file), "options": asdict(self.options)}
        return request | {"part": asdict(part)} if part else request

    def _read(self, request: Mapping[str, Any]) -> tuple[LoadedText, list[Chunk]]:
        answer = self._checked(request)
        loaded = _loaded(answer["loaded"])
        return loaded, [_chunk(loaded.text, fields) for fields in answer["chunks"]]

    def _checked(self, request: Mapping[str, Any]) -> dict[str, Any]:
        child = self._free.get()
        try:
            answer = child.ask(request)
        finally:
            self._free.put(child)
        if "error" in answer:
            raise IngestError(answer["error"])
        return answer


class SandboxChild:
    """One child process, which reads a file at a time, and starts with the first."""

    def __init__(self, seconds: float, memory: int) -> None:
        self.seconds, self.memory = seconds, memory
        self._process: ForkedChild | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the process, even in the midst of a file."""
        self._is_closed = True
        if process := self._process:
            process.kill()
        with self._lock:
            self._end()

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. Raises IngestError where there is none."""
        with self._lock:
            return self._ask(request)

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._is_closed:
            raise IngestError("was not read: the reader is closed")
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._start()
        try:
            answer = self._exchange(self._process, request)
        except BaseException:
            self._end()
            raise
        if "memory" in answer:
            self._end()
            raise IngestError(f"needed more than {self.memory // 2**20} MiB to read")
        return answer

    def _start(self) -> ForkedChild:
        self._scratch = ScratchFolder()  # a child that is killed leaves it
        return fork_server.start(self.seconds, self.memory, self._scratch.name)

    def _exchange(self, child: ForkedChild, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            child.connection.sendall(packed(request))
            return _receive(child.connection.fileno(), time.monotonic() + self.seconds)
        except TimeoutError:
            raise LateError(f"took longer than {self.seconds:g} s to read") from None
        except (ConnectionError, EOFError):
            raise IngestError(_ended(child)) from None

    def _end(self) -> None:
        """End the process, if there is one, and tidy up after it."""
        if process := self._process:
            process.kill()
            with process.connection, self._scratch:
                self._process = None


def _receive(connection: int, deadline: float) -> dict[str, Any]:
    """Wait for an answer. Raises TimeoutError, or EOFError where the child is gone."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        head = _bytes(selector, connection, MESSAGE_LENGTH.size, deadline)
        data = _bytes(selector, connection, MESSAGE_LENGTH.unpack(head)[0], deadline)
    answer: dict[str, Any] = json.loads(data)
    return answer


def _bytes(
    selector: selectors.BaseSelector, connection: int, amount: int, deadline: float
) -> bytearray:
    data = bytearray()
    while len(data) < amount:
        if not selector.select(max(deadline - time.monotonic(), 0)):
            raise TimeoutError
        piece = os.read(connection, min(amount - len(data), READ_BYTES))
        if not piece:
            raise EOFError
        data += piece
    return data


def _ended(child: ForkedChild) -> str:
    """Return how the child ended by itself."""
    deadline = time.monotonic() + END_SECONDS
    while (code := child.poll()) is None and time.monotonic() < deadline:
        time.sleep(0.01)  # its end of the socket closes before it is gone
    how = f"signal {-code}" if code and code < 0 else f"exit code {code}"
    return f"reading it crashed ({how}): open it and save it again"


def _loaded(fields: Mapping[str, Any]) -> LoadedText:
    marks = {
        "headings": tuple(Heading(**heading) for heading in fields["headings"]),
        "tables": tuple(Table(**table) for table in fields["tables"]),
        "pages": tuple(fields["pages"]),
    }
    return LoadedText(**{**fields, **marks})


def _chunk(text: str, fields: Mapping[str, Any]) -> Chunk:
    return Chunk(content=text[fields["start"] : fields["end"]], **fields)


# What follows runs in the child: what a broken file does, it does there.
GRACE_SECONDS = 2  # seconds after the time limit, by when the parent should have ended this process
MEMORY_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def answer_requests(connection: socket.socket, seconds: float, memory: int, scratch: str) -> None:
    """Answer until there are no more requests, as when the parent is gone."""
    unpacker = Unpacker(Path(scratch).resolve())
    _limit_memory(memory)
    requests = connection.makefile("rb")
    while request := receive(requests):
        # the kernel ends what is stuck, even in a library, and even if the parent is gone
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
        answer = _answer(request, unpacker)
        connection.sendall(packed(answer))
        signal.setitimer(signal.ITIMER_REAL, 0)
        if "memory" in answer:
            break  # what is left of it is in pieces


def _limit_memory(memory: int) -> None:
    """Allow so many bytes more than the process has by now, where the platform can."""
    with suppress(OSError, ValueError):
        used = (
            int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * MEMORY_PAGE_BYTES
        )
        resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))


def _answer(request: Mapping[str, Any], unpacker: Unpacker) -> dict[str, Any]:
    try:
        return _reply(request, unpacker)
    except IngestError as error:
        return {"error": str(error)}
    except OSError as error:
        return {"error": f"cannot be read: {error.strerror}"}
    except MemoryError:
        return {"memory": True}
    except Exception as error:  # a library's fault must not end the run
        return {"error": f"cannot be read: {type(error).__name__}: {error}".split("\n")[0]}


def _reply(request: Mapping[str, Any], unpacker: Unpacker) -> dict[str, Any]:
    if "container" in request:
        with held_in_place(Path(request["container"]), unpacker.scratch) as file:
            parts = list_parts(file, unpacker.scratch)
        return {"parts": [asdict(part) for part in parts]}
    if "page" in request:
        return {"picture": base64.b64encode(_picture(request, unpacker)).decode()}
    if "boxes_from" in request:
        return {"boxes": [asdict(box) for box in _boxes(request, unpacker)]}
    if "sizes" in request:
        return {"sizes": [asdict(size) for size in _sizes(request, unpacker)]}
    if "bytes" in request:
        with _file(request, unpacker) as file:
            return {"bytes": base64.b64encode(file.read_bytes()).decode()}
    loaded = _load(request, unpacker)
    chunks = [_slim(piece) for piece in split(loaded)]
    return {"loaded": asdict(loaded), "chunks": chunks}


def _load(request: Mapping[str, Any], unpacker: Unpacker) -> LoadedText:
    """Return the text that was sent, or that of a file, or of one that a file contains."""
    if "text" in request:
        return LoadedText(**request["text"])
    with _file(request, unpacker) as file:
        place = None if "part" in request else Path(request["file"])
        return load(file, LoadOptions(**request["options"]), place)


def _picture(request: Mapping[str, Any], unpacker: Unpacker) -> bytes:
    from lexichord.ingest.load.pdf.page import page_picture

    with _file(request, unpacker) as file:
        options = LoadOptions(**request["options"])
        return page_picture(file, request["page"], request["passage"], options)


def _boxes(request: Mapping[str, Any], unpacker: Unpacker) -> list[PageBox]:
    from lexichord.ingest.load.pdf.page import passage_boxes

    with _file(request, unpacker) as file:
        options = LoadOptions(**request["options"])
        return passage_boxes(file, request["boxes_from"], request["passage"], options)


def _sizes(request: Mapping[str, Any], unpacker: Unpacker) -> list[PageSize]:
    from lexichord.ingest.load.pdf.page import page_sizes

    with _file(request, unpacker) as file:
        return page_sizes(file, LoadOptions(**request["options"]))


def _file(request: Mapping[str, Any], unpacker: Unpacker) -> AbstractContextManager[Path]:
    """Yield the file that is asked for, or the one that it contains."""
    file = Path(request["file"])
    if "part" in request:
        return unpacker.unpacked(file, ContainedFile(**request["part"]))
    unpacker.close()  # another file may need the memory
    return held_in_place(file, unpacker.scratch)


def _slim(piece: Chunk) -> dict[str, Any]:
    """Leave out the content, which is in the text."""
    return {name: value for name, value in asdict(piece).items() if name != "content"}


if __name__ == "__main__":
    serve_forks(answer_requests)
