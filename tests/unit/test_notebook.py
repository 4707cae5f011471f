"""Results as notebooks show them: whatever stands in a document is shown, never obeyed."""

from dataclasses import replace
from typing import Any

import lxml.html
import pytest

from lexichord.display.record_html import escaped
from lexichord.ingest.report import Report, outcome
from lexichord.types import (
    Comparison,
    Documents,
    Excerpt,
    Explanation,
    FilesResult,
    SearchResult,
    ShownDocument,
    Status,
    Step,
)
from tests.builders import CELL, CHUNK, DOCUMENT, FILE, HIT, QUOTE, RESPONSE, RESULTS, RUN, STATUS

HOSTILE = (
    "</td></table></blockquote><script>alert(1)</script><img src=x onerror='alert(2)'>"
    '"\' style="color:red" <!-- & &lt;b&gt; \x1b[31m\0\u202e ]]> {{7*7}}'
)
SEEN = HOSTILE.translate({0x1B: "\ufffd", 0: "\ufffd", 0x202E: "\ufffd"})
TAGS = {
    *("div", "p", "b", "span", "blockquote", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
NAMES: dict[str, Any] = {"uri": HOSTILE, "title": HOSTILE}
HIT_ = replace(HIT, **NAMES, heading=HOSTILE, content=HOSTILE)
FILE_ = replace(FILE, **NAMES, scores={HOSTILE: 1.0})
QUOTE_ = replace(QUOTE, **NAMES, heading=HOSTILE, text=HOSTILE)
TABLE = Comparison((HOSTILE,), (FILE_,), (replace(CELL, aspect=HOSTILE, quotes=(QUOTE_,)),))
RESPONSE_ = replace(
    RESPONSE,
    query=HOSTILE,
    intent=replace(RESPONSE.intent, reason=HOSTILE),
    files=[FILE_],
    hits=[replace(HIT_, ranks={**HIT.ranks, HOSTILE: 1})],
    quotes=(QUOTE_,),
    answer=HOSTILE,
    unverified=(HOSTILE,),
    comparison=None,
    degraded=[HOSTILE],
    trace=[Step(HOSTILE, {HOSTILE: HOSTILE}, dropped=[HOSTILE], ms=1.0)],
)
DOCUMENT_ = replace(DOCUMENT, **NAMES, dataset=HOSTILE, metadata={HOSTILE: HOSTILE})
SHOWN = [
    HIT_,
    SearchResult(HOSTILE, [HIT_], [HOSTILE]),
    FilesResult(HOSTILE, [FILE_], [HOSTILE]),
    RESPONSE_,
    replace(RESPONSE_, comparison=TABLE),
    Explanation(RESPONSE_),
    TABLE,
    Documents([DOCUMENT_]),
    ShownDocument(DOCUMENT_, HOSTILE, [replace(CHUNK, heading=HOSTILE, content=HOSTILE)]),
    Excerpt("chunk_1", "doc_2", HOSTILE, HOSTILE, HOSTILE, 0, 4, HOSTILE),
]


def read(html: str) -> Any:
    return lxml.html.fragment_fromstring(html)


def texts(html: str) -> list[str]:
    return [text for text in read(html).itertext() if text.strip()]


@pytest.mark.parametrize("record", SHOWN, ids=lambda record: type(record).__name__)
def test_hostile_text_is_shown_as_it_is(record: Any) -> None:
    tree = read(record._repr_html_())
    assert {each.tag for each in tree.iter()} <= TAGS
    assert {name for each in tree.iter() for name in each.attrib} <= {"style", "class"}
    assert not {"color", "background"} & {
        rule.partition(":")[0] for each in tree.iter() for rule in each.get("style", "").split(";")
    }
    assert SEEN in "".join(tree.itertext())
    assert not set("\x1b\0\u202e").intersection(record._repr_html_())


def test_the_parser_would_notice() -> None:
    """Else the test above could not fail."""
    assert {each.tag for each in read(f"<div>{HOSTILE.replace(chr(0), '')}</div>").iter()} - TAGS


def test_spaces_stay_and_what_is_not_seen_does_not() -> None:
    assert escaped("a\u00a0b\r\nc\td\ufeff") == "a\u00a0b\nc\td"
    assert escaped("\u200b\u202e\x07") == "\ufffd" * 3


def test_what_could_not_be_done_comes_first() -> None:
    assert texts(SearchResult("q", [HIT], ["by words"])._repr_html_())[0] == "by words"
    assert texts(SearchResult("q", [], [])._repr_html_()) == ["nothing found"]


def test_a_hit_stands_with_its_place_and_scores() -> None:
    cells = texts(SearchResult("q", [replace(HIT, page=3)], [])._repr_html_())
    assert cells[:3] == ["Lease › Rent ", "0.5  a/lease.md:10-14 page 3", "text"]
    assert cells[-8:] == ["1", "chunk_1", "0.5", "0.5", "0.9", "1", "–", "–"]


def test_an_answer_that_is_a_table_is_drawn_once() -> None:
    written = replace(RESPONSE, answer="| File | rent |")
    assert "| File | rent |" not in texts(written._repr_html_())
    assert "| File | rent |" in texts(replace(written, comparison=None)._repr_html_())


def test_notebooks_set_no_formulas_of_amounts() -> None:
    assert "tex2jax_ignore" in read(SearchResult("q", [HIT], [])._repr_html_()).get("class")


@pytest.mark.parametrize("record", RESULTS, ids=lambda record: type(record).__name__)
def test_whatever_the_client_returns_is_shown_to_people(record: Any) -> None:
    assert f"{type(record).__name__}(" not in str(record)
    if hasattr(record, "_repr_html_"):
        assert {each.tag for each in read(record._repr_html_()).iter()} <= TAGS


def test_a_report_and_a_status_are_printed_as_the_command_line_shows_them() -> None:
    report = Report(1, inserted=2, failed={"/a.txt": "holds no text"}, chunks=9, embedded=9)
    report.flagged["/b.xsd"] = ["9 chunks"]
    assert str(report) == (
        "2 inserted, 0 replaced, 0 skipped, 1 failed; 9 chunks stored, 9 embedded\n"
        "flagged /b.xsd: 9 chunks\n"
        "not read, failed: 1 file\n"
        "  holds no text: /a.txt"
    )
    assert str(report).startswith("".join(outcome(report)))
    assert str(RUN).splitlines() == [
        "run 1 of 2026-11-21 12:00: finished, 1 of 1 file: 1 inserted",
        "  b: 3 of 9 chunks embedded",
        "  a: no text",
        "  not read, of no kind that can be: 2 .png",
    ]
    assert str(RUN) in str(Status(**STATUS))
