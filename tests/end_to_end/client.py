"""A client in a process of its own, and the documents that it ingests.

Run as `python -m tests.end_to_end.client HOME ingest FIRST LAST` it prints a line per document once
that is reported, then "done"; as `... HOME hold` it keeps the server until its input ends, and as
`... HOME exit` it ends without leaving.
"""

import sys
from pathlib import Path
from random import Random

from lexichord import SyncLexichord
from lexichord.types import Json

SPACE = "test/tiny/4"
CHUNKS = 2  # of each document


def uri(number: int) -> str:
    return f"doc/{number:04d}"


def word(number: int) -> str:
    """Give the word that no other document has."""
    return f"wq{number:04d}x"


def vectors(number: int) -> list[list[float]]:
    """Give each chunk's vector. Scattered: a chain of neighbours would part an HNSW graph."""
    random = Random(number)
    return [[random.gauss(0, 1) for _ in range(4)] for _ in range(CHUNKS)]


def document(number: int) -> Json:
    contents = [f"Part {part} of clause {word(number)} in all words." for part in range(CHUNKS)]
    chunks = [
        {"content": content, "vector": vector}
        for content, vector in zip(contents, vectors(number), strict=True)
    ]
    return {"uri": uri(number), "chunks": chunks, "space": SPACE}


def documents(first: int, last: int) -> list[Json]:
    return [document(number) for number in range(first, last)]


def main(home: str, what: str, *arguments: str) -> None:
    lexichord = SyncLexichord(home=Path(home), embedding=SPACE)
    if what == "exit":
        lexichord.__enter__()
        _say("open")
        return
    with lexichord:
        _say("open")
        if what == "hold":
            sys.stdin.read()
        else:
            first, last = map(int, arguments)
            lexichord.ingest(documents=documents(first, last), listener=_tell)
            _say("done")


def _tell(uri: str, status: str, reason: str) -> None:
    _say(f"{uri} {status}{reason}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
