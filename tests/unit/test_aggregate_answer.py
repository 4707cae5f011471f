"""Answers in the evidence's own words, each with its source."""

from dataclasses import replace

from lexichord.evaluate.answers import first_sentence
from lexichord.retrieve.evidence.answer import (
    cite_source,
    write_denial,
    write_list,
    write_nearest,
    write_row,
    write_table,
    write_unit,
)
from lexichord.retrieve.evidence.relevance import sentences_of
from lexichord.retrieve.evidence.units import whole_unit
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
    nothing = (Cell("doc_3", "rent"), Cell("doc_4", "rent"))
    assert write_table(Comparison(("rent",), FILES, nothing), []) == ""


def test_code_stands_in_a_cell_on_one_line() -> None:
    code = replace(QUOTE, text="```sh\nmake all\n  make x\n```")
    table = write_table(Comparison(("use",), FILES[:1], (Cell("doc_3", "use", (code,)),)), [SOURCE])
    assert table.splitlines()[-1] == "| Lease | “`make all make x`” [2] |"


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


def passage_of(text: str) -> Quote:
    return replace(QUOTE, text=text, start=0, end=len(text))


def unit_with(text: str, part: str, with_steps: bool = False) -> str:
    """Give the unit of the sentence that holds a part."""
    passage = passage_of(text)
    sentence = next(one.quote for one in sentences_of(passage) if part in one.quote.text)
    return whole_unit(sentence, [passage], with_steps).text


def test_a_sentence_brings_the_one_that_it_leans_on() -> None:
    text = "Nobody smokes here. The rent is 200 a month. It is due in advance on the first day."
    assert unit_with(text, "first day") == text[len("Nobody smokes here. ") :]
    assert unit_with(text, "200 a month") == "The rent is 200 a month."
    apart = text.replace("month. It", "month.\n\nIt")
    assert unit_with(apart, "first day") == "It is due in advance on the first day."


STEPS = "To start the pump:\n\n1. Close the valve.\n2. Press the key.\n\nThe pump is loud."


def test_of_a_step_the_whole_list_is_shown_where_steps_are_wanted() -> None:
    assert unit_with(STEPS, "Press", with_steps=True) == STEPS[: STEPS.index("\n\nThe pump")]
    assert unit_with(STEPS, "Press") == "2. Press the key."
    assert unit_with(STEPS, "loud", with_steps=True) == "The pump is loud."


def test_code_that_a_sentence_announces_comes_with_it() -> None:
    text = "Call the function:\n\n```python\nprint(1)\n```\n\nThat is all."
    whole = unit_with(text, "Call")
    assert whole == text[: text.index("\n\nThat")]
    shown = write_unit(passage_of(whole), [replace(SOURCE, end=90)])
    assert shown == "Call the function: [2]\n```python\nprint(1)\n```"
    assert unit_with(text, "print") == whole


def test_code_that_nothing_announces_stands_before_its_source() -> None:
    text = "This works.\n\n```python\nif x:\n    print(1)\n```\n"
    code = unit_with(text, "print")
    assert code == text[text.index("```") :].strip()
    shown = write_unit(passage_of(code), [replace(SOURCE, end=90)])
    assert shown == f"{code}\n[2]"
    assert first_sentence(shown) == code


def test_a_row_is_written_with_the_names_of_its_columns() -> None:
    passage = passage_of("| Record | Kept |\n|---|---|\n| Invoices | 7 years |\n")
    row = next(one for one in sentences_of(passage) if "Invoices" in one.quote.text)
    assert row.before == "| Record | Kept |"
    shown = write_row(row.before, row.quote, [replace(SOURCE, end=90)])
    assert shown == "Record: Invoices; Kept: 7 years [2]"


def test_a_named_document_that_does_not_say_is_told_apart_from_what_others_say() -> None:
    assert write_denial(["Lease"], []) == "“Lease” does not say."
    assert write_denial(["Lease", "Deed"], [QUOTE]) == (
        "“Lease”, “Deed” do not say.\n\nOther documents:\n- Rent is due | now. (Lease › Rent)"
    )


PASSAGE = replace(QUOTE, text="A. Rent is due | now. B.", start=7, end=31)


def test_what_is_nearest_is_marked_in_its_passage_and_not_claimed_to_answer() -> None:
    shown = write_nearest(["Lease"], QUOTE, [PASSAGE], [])
    assert shown == (
        "Nothing in “Lease” surely answers this. Nearest to it:\n\n"
        "A. **Rent is due | now.** B. (Lease › Rent)"
    )
    assert first_sentence(shown) == "Rent is due | now."
    alone = write_nearest([], QUOTE, [], [SOURCE])
    assert alone == (
        "Nothing that was found surely answers this. Nearest to it:\n\n**Rent is due | now.** [2]"
    )


def test_a_short_clause_or_item_is_shown_whole() -> None:
    text = "5.2 The Building is heated. Other hours cost EUR 48.\n5.3 Bins are emptied."
    clause = "5.2 The Building is heated. Other hours cost EUR 48."
    assert unit_with(text, "EUR 48") == unit_with(text, "heated") == clause
    items = "* `size` - Smallest size in bytes. Defaults to `500`.\n* `level` - From 1 to 9."
    assert unit_with(items, "500") == items.partition("\n")[0]
    long = f"5.2 The Building is heated. {'Others pay. ' * 40}Other hours cost EUR 48."
    assert unit_with(long, "EUR 48") == "Other hours cost EUR 48."
    assert unit_with("The Building is heated. Other hours cost EUR 48.", "EUR") == (
        "Other hours cost EUR 48."
    )
