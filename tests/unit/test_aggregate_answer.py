"""Answers in the evidence's own words, each with its source."""

from dataclasses import replace

from lexichord.retrieve.evidence.answer import cite_source, whole_unit, write_list, write_table
from lexichord.types import FileHit
from lexichord.types.evidence import NOT_FOUND, Cell, Comparison, ContextSource, Quote

QUOTE = Quote("Rent is due | now.", "doc_3", "a.md", "Lease", "Rent", 10, 28, None, "chunk_7", 0.5)
SOURCE = ContextSource(2, "", "a.md", 0, 40, None, "chunk_7", "doc_3", 0.5)
FILES = (
    FileHit("doc_3", "d", "a.md", "Lease", 1, {}, 1),
    FileHit("doc_4", "d", "b.md", "", 1, {}, 1),
)


def test_a_quote_is_cited_by_the_source_that_holds_it() -> None:
    assert cite_source(QUOTE, [SOURCE]) == "[2]"
    assert cite_source(QUOTE, [replace(SOURCE, end=20)]) == "(Lease › Rent)"
    assert cite_source(QUOTE, [replace(SOURCE, document_id="doc_4")]) == "(Lease › Rent)"
    assert cite_source(replace(QUOTE, title="", heading=""), []) == "(a.md)"


def test_a_table_says_what_was_not_found() -> None:
    cells = (Cell("doc_3", "rent", (QUOTE,)), Cell("doc_4", "rent"))
    assert write_table(Comparison(("rent",), FILES, cells), [SOURCE]) == (
        "| File | rent |\n| --- | --- |\n"
        "| Lease | “Rent is due \\| now.” [2] |\n"
        f"| b.md | {NOT_FOUND} |"
    )


def test_without_any_evidence_there_is_no_table() -> None:
    cells = (Cell("doc_3", "rent"), Cell("doc_4", "rent"))
    assert write_table(Comparison(("rent",), FILES, cells), []) == ""


def test_a_list_is_grouped_by_file() -> None:
    other = replace(QUOTE, document_id="doc_4", title="", text="No\n rent.")
    assert write_list([QUOTE, QUOTE, other], [SOURCE]) == (
        "Lease:\n- Rent is due | now. [2]\n- Rent is due | now. [2]\n\na.md:\n- No rent. (Rent)"
    )
    assert write_list([], [SOURCE]) == ""


def test_a_sentence_before_items_brings_them() -> None:
    text = "5. Either may end it if the other:\n(a) is late; or\n(b) fails.\n\n6. Rent is due."
    passage = replace(QUOTE, text=text, start=100, end=100 + len(text))
    lead = replace(passage, text=text[:34], end=134, score=0.9)
    whole = whole_unit(lead, [passage])
    assert whole.text == text[: text.index("\n\n")]
    assert (whole.start, whole.end, whole.score) == (100, 100 + len(whole.text), 0.9)
    last = replace(passage, text=text[-15:], start=passage.end - 15)
    assert whole_unit(last, [passage]) == last
    assert whole_unit(lead, [QUOTE]) == lead
