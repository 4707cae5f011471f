"""What a terminal would obey unseen is written out: in JSON, CSV, logs, lines of errors."""

import csv
import io
import json
import logging
from types import TracebackType

import pytest

from lexichord.cli import progress, render
from lexichord.cli.options import Invocation, LineFormatter, say_error
from lexichord.display.record_text import to_text
from lexichord.ingest.report import Report, remarks
from lexichord.serve.page.results import as_csv_text
from lexichord.types.base import escaped, short_uri

HOSTILE = "\x1b[2J \x7f \x9b31m \u202egpj.exe\u202c \u2066a\u2069 \u200e\u200f\u061c \u2028 \ud800"
WRITTEN = (
    r"\u001b[2J \u007f \u009b31m \u202egpj.exe\u202c \u2066a\u2069 \u200e\u200f\u061c \u2028 \ud800"
)
ORDINARY = "Zoë, naïve — 漢字 हिन्दी می‌خواهم שלום 👩‍👩‍👧 ﬁ ½ \\n"  # joiners among them


def test_only_what_is_obeyed_unseen_is_escaped() -> None:
    assert escaped(HOSTILE) == WRITTEN
    assert escaped(ORDINARY) == ORDINARY
    assert escaped("a\nb\tc\r\n") == r"a\nb\tc\r\n"


def test_a_line_end_in_a_files_name_begins_no_line() -> None:
    assert short_uri("/a/b\n[2] c.md\x1b") == r"/a/b\n[2] c.md\u001b"


def test_json_of_the_command_line_is_the_same_to_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    value = {HOSTILE: [f"{ORDINARY}\n{HOSTILE}"]}
    Invocation({}, as_json=True).show(value, print)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert ORDINARY.replace("\\", "\\\\") in printed
    assert WRITTEN in printed
    assert not any(sign in printed for sign in HOSTILE.replace(" ", "") if not sign.isprintable())


def test_errors_and_logs_stay_on_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    say_error(f"no {HOSTILE}\nlexichord: all is well")
    line = f"lexichord: no {WRITTEN}\\nlexichord: all is well\n"
    assert capsys.readouterr().err == line
    formatter = LineFormatter("lexichord: %(message)s")
    record = logging.LogRecord("lexichord", 40, "", 1, "no %s", (f"{HOSTILE}\nx",), None)
    assert formatter.format(record) == f"lexichord: no {WRITTEN}\\nx"
    record = logging.LogRecord("lexichord", 40, "", 1, "failed", (), raised())
    lines = formatter.format(record).splitlines()
    assert (lines[:2], lines[-1]) == (
        ["lexichord: failed", "Traceback (most recent call last):"],
        "ValueError: \\u001b[2J",
    )


def raised() -> tuple[type[BaseException], BaseException, TracebackType | None]:
    try:
        raise ValueError("\x1b[2J")
    except ValueError as error:
        return type(error), error, error.__traceback__


def test_csv_holds_it_written_out() -> None:
    text = io.StringIO()
    csv.writer(text).writerow([as_csv_text(f"{HOSTILE}\nb"), as_csv_text("=1\u202e")])
    assert [*csv.reader(io.StringIO(text.getvalue()))] == [[f"{WRITTEN}\nb", "'=1\\u202e"]]


def test_lines_of_an_ingest_hold_it_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(failed={f"/{HOSTILE}\nx.md": f"is {HOSTILE}"}, flagged={HOSTILE: [HOSTILE]})
    report.degraded = [HOSTILE]
    render.report(report, verbose=True)
    with progress.FileProgress() as bars:
        bars.start(1)
        bars.finish_file(f"{HOSTILE}\nstored /all.md", "failed", HOSTILE)
    shown = capsys.readouterr()
    for line in (
        f"  is {WRITTEN}: /{WRITTEN}\\nx.md",
        f"flagged {WRITTEN}: {WRITTEN}",
        f"degraded: {WRITTEN}",
        f"failed {WRITTEN}\\nstored /all.md: {WRITTEN}",
    ):
        assert line in shown.err.splitlines()
    assert "\x1b" not in to_text(report)


def test_many_failures_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    failed = {f"/{number}.md": "is encrypted" for number in range(5000)}
    with progress.FileProgress() as bars:
        bars.start(5000)
        for uri, reason in failed.items():
            bars.finish_file(uri, "failed", reason)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "failed /0.md: is encrypted"
    assert (len(lines), lines[-1]) == (21, "and 4,980 more failed")


def test_many_reasons_and_flags_are_summed_up() -> None:
    report = Report(
        failed={f"/{number}.md": f"is bad in {number}" for number in range(5000)},
        flagged={f"/{number}.md": ["odd"] for number in range(5000)},
    )
    lines = [*remarks(report)]
    assert len(lines) < 150
    assert "and 4,900 more flagged (--verbose names them)" in lines
    assert "  and 4,980 more for other reasons (--verbose names them)" in lines
    assert len([*remarks(report, verbose=True)]) > 10_000


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_of_a_table_begins_a_formula_however_cells_are_told_apart(separator: str) -> None:
    text = io.StringIO()
    csv.writer(text).writerow(["a", as_csv_text('=1+1\n=HYPERLINK("x") ends; =cmd|calc!A1;\t+2')])
    rows = csv.reader(io.StringIO(text.getvalue()), delimiter=separator)
    cells = [cell.strip() for row in rows for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
