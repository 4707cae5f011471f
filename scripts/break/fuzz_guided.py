"""Let atheris, which sees the branches that an input takes, mutate what fuzz.py feeds to readers.

texts      a kind of text and its bytes, to the reader and to the cutter of chunks
questions  to what understands a question without a database

pip install atheris; python scripts/break/fuzz_guided.py texts [-runs=10000 -seed=1 CORPUS …]

What follows the target is libFuzzer's. An input breaks something as in fuzz.py; it is then kept in
a file whose name is printed, and that file in the place of CORPUS repeats it.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

import atheris

with atheris.instrument_imports(include=["lexichord"]):
    import fuzz
    from lexichord.errors import LexichordError


def main() -> None:
    target = TARGETS[sys.argv.pop(1)]

    def run(data: bytes) -> None:
        with suppress(LexichordError):
            target(data)

    atheris.Setup(sys.argv, run)
    atheris.Fuzz()


def read_text(data: bytes) -> None:
    """Read a text; its first byte says of which kind it is."""
    suffix = fuzz.SUFFIXES[data[0] % len(fuzz.SUFFIXES)] if data else ".txt"
    file = Path(gettempdir(), f"fuzz_guided{suffix}")
    file.write_bytes(data[1:])
    fuzz.read(file)


def read_question(data: bytes) -> None:
    fuzz.understand(data.decode(errors="replace"))


TARGETS: dict[str, Callable[[bytes], None]] = {"texts": read_text, "questions": read_question}

if __name__ == "__main__":
    main()
