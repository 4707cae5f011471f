"""Compare what readers of files find in small files with traps: python scripts/bench/readers.py

python scripts/bench/readers.py CASES [--python PYTHON] [--show]

CASES is a folder of files with an `expected.json`: a list of objects with `file`, texts that its
text `holds` and `lacks`, and patterns that it `matches`. Each of these is a check. Printed is, by
kind of file and by reader, how many checks are held; a file that a reader cannot read holds none,
not even those of what it lacks. lexichord reads with its defaults, in this environment; the others
with theirs, in that of PYTHON, those that can be imported there. `--show` names what was not held.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

READ_SECONDS = 600.0  # all files, by one reader


def lexichord_text(file: Path) -> str:
    return str(import_module("lexichord.ingest.load").load(file).text)


def kreuzberg_text(file: Path) -> str:
    return str(import_module("kreuzberg").extract_file_sync(str(file)).content)


def markitdown_text(file: Path) -> str:
    return str(import_module("markitdown").MarkItDown().convert(str(file)).text_content)


def docling_text(file: Path) -> str:
    converter = import_module("docling.document_converter").DocumentConverter()
    return str(converter.convert(str(file)).document.export_to_markdown())


READERS: Mapping[str, Callable[[Path], str]] = {
    "lexichord": lexichord_text,
    "kreuzberg": kreuzberg_text,
    "markitdown": markitdown_text,
    "docling": docling_text,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--read-by", choices=READERS, help=argparse.SUPPRESS)  # in a child
    options = parser.parse_args()
    cases = json.loads((options.cases / "expected.json").read_text())
    if options.read_by:
        read_all(options.read_by, [options.cases / case["file"] for case in cases])
        return
    texts = {}
    for reader in READERS:
        python = sys.executable if reader == "lexichord" else options.python
        if read := texts_by(reader, python, options.cases):
            texts[f"{reader} {read.pop('version')}"] = read
    show(cases, texts)
    if options.show:
        show_failures(cases, texts)


def read_all(reader: str, files: Sequence[Path]) -> None:
    """Print a reader's version and the text of each file, or null, as JSON."""
    answers: dict[str, str | None] = {"version": version(reader)}
    with redirect_stdout(sys.stderr):
        for file in files:
            try:
                answers[file.name] = READERS[reader](file)
            except Exception as error:
                print(f"{reader}, {file.name}: {error}", file=sys.stderr)
                answers[file.name] = None
    print(json.dumps(answers))


def texts_by(reader: str, python: str, cases: Path) -> dict[str, Any]:
    """Return what a reader finds, by files; nothing where it is not installed."""
    command = [python, __file__, str(cases), "--read-by", reader]
    done = subprocess.run(command, capture_output=True, text=True, timeout=READ_SECONDS)
    if done.returncode:
        print(f"{reader} is left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def checks(case: Mapping[str, Any], text: str | None) -> list[tuple[str, bool]]:
    """Return what is checked of a file, in words, with whether it is held."""
    found = text or ""
    held = [
        *((f"holds {words!r}", words in found) for words in case.get("holds", ())),
        *((f"lacks {words!r}", words not in found) for words in case.get("lacks", ())),
        *((f"matches {p!r}", bool(re.search(p, found))) for p in case.get("matches", ())),
    ]
    return [(told, is_held and text is not None) for told, is_held in held]


def show(cases: Sequence[Mapping[str, Any]], texts: Mapping[str, Mapping[str, str | None]]) -> None:
    """Print a table of the checks that are held, by kind of file and by reader."""
    counted = defaultdict[str, list[int]](lambda: [0] * (len(texts) + 1))
    for case in cases:
        for row in (Path(case["file"]).suffix, "all"):
            counted[row][0] += len(checks(case, ""))
            for column, read in enumerate(texts.values(), 1):
                counted[row][column] += sum(held for _, held in checks(case, read[case["file"]]))
    print(f"| | checks | {' | '.join(texts)} |\n|{'---|' * (len(texts) + 2)}")
    for row in [*sorted(counted.keys() - {"all"}), "all"]:
        print(f"| {row} | {' | '.join(map(str, counted[row]))} |")


def show_failures(
    cases: Sequence[Mapping[str, Any]], texts: Mapping[str, Mapping[str, str | None]]
) -> None:
    for reader, read in texts.items():
        for case in cases:
            failed = [told for told, held in checks(case, read[case["file"]]) if not held]
            print(
                "\n".join(f"{reader}, {case['file']}: {told}" for told in failed),
                end="\n" * bool(failed),
            )


if __name__ == "__main__":
    main()
