"""The child process that reads files for `reader`: what a broken file does, it does here.

Each request and each answer is four bytes of length, then JSON.
"""

import base64
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, BinaryIO

from lexichord.errors import IngestError
from lexichord.ingest import chunk
from lexichord.ingest.load import load
from lexichord.ingest.load.containers import ContainedFile, Unpacker, list_parts
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.text import held_in_place
from lexichord.types import Chunk, LoadedText, PageBox, PageSize

MESSAGE_LENGTH = struct.Struct("!I")
GRACE_SECONDS = 2  # seconds after the time limit, by when the parent should have ended this process
MEMORY_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Answer requests until there are no more, as when the parent is gone."""
    seconds, memory, unpacker = (
        float(sys.argv[1]),
        int(sys.argv[2]),
        Unpacker(Path(sys.argv[3]).resolve()),
    )
    answers = _own_output()
    _limit_memory(memory)
    while request := receive(sys.stdin.buffer):
        # the kernel ends what is stuck, even in a library, and even if the parent is gone
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
        answer = _answer(request, unpacker)
        send(answers, answer)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if "memory" in answer:
            break  # what is left of it is in pieces


def _own_output() -> BinaryIO:
    """Keep standard output for answers: what libraries print goes elsewhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _limit_memory(memory: int) -> None:
    """Allow so many bytes more than the process has by now, where the platform can."""
    with suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * MEMORY_PAGE_BYTES
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
    chunks = [_slim(piece) for piece in chunk.split(loaded)]
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


def send(stream: IO[bytes], message: Mapping[str, Any]) -> None:
    """Write one message."""
    data = json.dumps(message, separators=(",", ":")).encode()
    stream.write(MESSAGE_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Wait for one message; None at the end."""
    head = stream.read(MESSAGE_LENGTH.size)
    if len(head) < MESSAGE_LENGTH.size:
        return None
    message: dict[str, Any] = json.loads(stream.read(MESSAGE_LENGTH.unpack(head)[0]))
    return message


if __name__ == "__main__":
    main()
