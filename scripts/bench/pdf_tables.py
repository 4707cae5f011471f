"""Measure tables of PDFs whose cells are known, and pages that hold none.

python scripts/bench/pdf_tables.py FOLDER [--chromium PROGRAM] [--libreoffice PROGRAM]
    [--against SOURCES] [--half chosen|held]

Makes 200 tables of twenty styles, and 100 pages without any, into the folder, unless it holds
them. SOURCES is the `src` of another checkout, which is measured beside this one. Thresholds were
found on every other style as reportlab draws it (`--half chosen`).
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import pdf_plain_pages
import pdf_table_pages as pages
from lexichord.ingest.load import load
from lexichord.types import LoadedText

TABLES_PER_STYLE = 10  # of one producer four, of the others three each
PAGES_PER_KIND = 5
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic")
SOURCES = Path(__file__).parents[2] / "src"

type Rows = list[list[str]]


def plan() -> Iterator[tuple[str, pages.Style, int]]:
    """Yield who draws which table; the number is its seed."""
    for style in pages.STYLES:
        for number in range(TABLES_PER_STYLE):
            yield pages.PRODUCERS[number % len(pages.PRODUCERS)], style, number


def table_file(folder: Path, producer: str, style: pages.Style, number: int) -> Path:
    return folder / f"{producer}-{style.name.replace(' ', '-').replace(',', '')}-{number}.pdf"


def known(style: pages.Style, number: int) -> pages.Known:
    return pages.known_table(style, f"{style.name} {number}")


def make(folder: Path, chromium: str, libreoffice: str) -> None:
    """Draw what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = list[Path]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*QUIET])
        page = browser.new_page()
        for producer, style, number in plan():
            file, table = table_file(folder, producer, style, number), known(style, number)
            if file.exists():
                continue
            if producer == "reportlab":
                pages.by_reportlab(table, file)
            elif producer == "chromium":
                pages.by_chromium(page, pages.as_html(table), file)
            else:
                texts.append(file.with_suffix(".fodt"))
                texts[-1].write_text(pages.as_fodt(table))
        make_plain(folder, page)
        browser.close()
    if texts:
        pages.by_libreoffice(libreoffice, texts, folder)


def make_plain(folder: Path, page: Page) -> None:
    """Print the pages without tables that are not there yet."""
    for kind, number in product(pdf_plain_pages.KINDS, range(PAGES_PER_KIND)):
        file = folder / f"plain-{kind.replace(' ', '-')}-{number}.pdf"
        if not file.exists():
            pages.by_chromium(page, pdf_plain_pages.plain_page(kind, f"{kind} {number}"), file)


def found_rows(loaded: LoadedText) -> Iterator[Rows]:
    """Yield the rows of each table, without the line below its head."""
    for table in loaded.tables:
        lines = loaded.text[table.start : table.end].split("\n")
        rows = [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines
        ]
        yield [rows[0], *rows[2:]]


def right_cells(wanted: Rows, found: Rows) -> int:
    """Count the cells that stand in their column, in one row with most of their neighbours."""
    right, start = 0, 0
    for row in wanted:
        matches = [
            (sum(map(_same, row, other)), -place)
            for place, other in enumerate(found[start:], start)
            if any(cell and _same(cell, there) for cell, there in zip(row, other, strict=False))
        ]
        best, place = max(matches, default=(0, 0))
        if best:
            right, start = right + best, 1 - place
    return right


def _same(cell: str, other: str) -> bool:
    return "".join(cell.split()) == "".join(other.split())


def names_found(names: Sequence[str], head: Sequence[str]) -> int:
    """Count the columns that the head names, word by word; above a span in any order of lines."""
    return sum(
        set(name.split()) <= set(cell.split()) for name, cell in zip(names, head, strict=False)
    )


def outside(loaded: LoadedText) -> str:
    """Return the words that stand in no table."""
    parts, place = [], 0
    for table in loaded.tables:
        parts.append(loaded.text[place : table.start])
        place = table.end
    return "".join("".join([*parts, loaded.text[place:]]).split())


def score_table(folder: Path, producer: str, style: pages.Style, number: int) -> dict[str, Any]:
    table = known(style, number)
    loaded = load(table_file(folder, producer, style, number))
    found = list(found_rows(loaded))
    rows = [row for each in found for row in each]
    return {
        "producer": producer,
        "style": style.name,
        "number": number,
        "cells": sum(map(len, table.rows)),
        "right": right_cells(table.rows, rows),
        "rows": len(rows) - len(table.rows) - 1 if found else None,
        "tables": len(found),
        "columns": len(table.names),
        "named": names_found(table.names, found[0][0]) if found else 0,
        "outside": outside(loaded) == "".join("".join([*table.above, *table.below]).split()),
    }


def score(folder: Path) -> None:
    """Print as JSON what is read right."""
    tables = [score_table(folder, *each) for each in plan()]
    plain = {}
    for file in sorted(folder.glob("plain-*.pdf")):
        loaded = load(file)
        plain[file.stem] = [len(loaded.tables), "".join(re.sub(r"[|\s]|---", "", loaded.text))]
    print(json.dumps({"tables": tables, "plain": plain}))


def scored(folder: Path, sources: Path) -> dict[str, Any]:
    """Score in a process of its own, with the code of a folder."""
    command = [sys.executable, __file__, str(folder), "--score"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(sources)}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    scores: dict[str, Any] = json.loads(done.stdout)
    return scores


def is_chosen(row: dict[str, Any]) -> bool:
    """Return whether thresholds were found on this table."""
    names = [style.name for style in pages.STYLES]
    return row["producer"] == "reportlab" and names.index(row["style"]) % 2 == 0


def summed(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    right, cells = (sum(row[key] for row in rows) for key in ("right", "cells"))
    named, columns = (sum(row[key] for row in rows) for key in ("named", "columns"))
    whole = sum(row["right"] == row["cells"] and row["rows"] == 0 for row in rows)
    one = sum(row["tables"] == 1 for row in rows)
    kept = sum(row["outside"] for row in rows)
    return (
        f"{right / cells:.3f} cells, {named / columns:.3f} names, "
        f"{whole}/{one}/{kept} of {len(rows)} whole/one table/text kept"
    )


def report(measured: dict[str, dict[str, Any]], half: str | None) -> None:
    """Print each kind of table, what was read before on the left."""
    tables: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for name, scores in measured.items():
        for row in scores["tables"]:
            if half and is_chosen(row) != (half == "chosen"):
                continue
            for group in (row["style"], f"by {row['producer']}", "all"):
                tables[group][name].append(row)
    for group, sides in tables.items():
        print(f"{group:16}", " | ".join(f"{name}: {summed(rows)}" for name, rows in sides.items()))
    for name, scores in measured.items():
        false = [page for page, (amount, _) in scores["plain"].items() if amount]
        print(f"{name}: tables on {len(false)} of {len(scores['plain'])} pages without: {false}")
    texts = [{p: text for p, (_, text) in scores["plain"].items()} for scores in measured.values()]
    if len(texts) > 1:
        other = [page for page, text in texts[0].items() if text != texts[-1][page]]
        print(f"pages without tables whose words come in another order: {other}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--libreoffice", default="soffice")
    parser.add_argument("--against", type=Path, help="src of another checkout")
    parser.add_argument("--half", choices=["chosen", "held"])
    parser.add_argument("--score", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.score:
        score(arguments.folder)
        return
    make(arguments.folder, arguments.chromium, arguments.libreoffice)
    sources = {"before": arguments.against} if arguments.against else {}
    measured = {
        name: scored(arguments.folder, place) for name, place in {**sources, "now": SOURCES}.items()
    }
    report(measured, arguments.half)


if __name__ == "__main__":
    main()
