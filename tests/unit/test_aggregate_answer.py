"""Answers in the evidence's own words, each with its source."""

from dataclasses import replace

import pytest

from lexichord.display.plain_text import CUT, MAX_CODE_LINES
from lexichord.evaluate.metrics import first_sentence
from lexichord.retrieve.evidence.answer import (
    citation,
    cite_source,
    once_said,
    write_denial,
    write_list,
    write_nearest,
    write_row,
    write_table,
    write_unit,
)
from lexichord.retrieve.evidence.relevance import sentences_of
from lexichord.retrieve.evidence.sentences import ReadText, in_words
from lexichord.retrieve.evidence.units import Needs, whole_unit
from lexichord.types import FileHit
from lexichord.types.evidence import NOT_FOUND, Cell, Comparison, ContextSource, Quote
from lexichord.types.questions import SentenceReading

QUOTE = Quote("Rent is due | now.", "doc_3", "a.md", "Lease", "Rent", 10, 28, None, "chunk_7", 0.5)
SOURCE = ContextSource(2, "", "a.md", 0, 40, None, "chunk_7", "doc_3", 0.5)
FILES = (
    FileHit("doc_3", "d", "a.md", "Lease", 1, {}, 1),
    FileHit("doc_4", "d", "b.md", "", 1, {}, 1),
)


def test_a_quote_is_cited_by_the_source_that_holds_it() -> None:
    assert cite_source(QUOTE, [SOURCE]) == "[2]"
    assert cite_source(QUOTE, [replace(SOURCE, end=QUOTE.start)]) == "(Lease › Rent)"
    assert cite_source(QUOTE, [replace(SOURCE, document_id="doc_4")]) == "(Lease › Rent)"
    assert cite_source(replace(QUOTE, title="", heading=""), []) == "(a.md)"


def test_what_is_said_in_several_places_is_given_once() -> None:
    again = replace(QUOTE, document_id="doc_4", text="rent is\n due | now.")
    other = replace(QUOTE, text="It is late.")
    assert once_said([QUOTE, other, again, other]) == [QUOTE, other]


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


def test_a_sentence_before_lines_that_are_set_in_brings_them() -> None:
    listed = "EXIT status:\n       124  if it is late\n\n       125  if it fails"
    text = f"It runs.\n   {listed}\nBUGS\n       It has none."
    passage = replace(QUOTE, text=text, start=0, end=len(text))
    start, end = text.index("EXIT"), text.index(":") + 1
    whole = whole_unit(replace(passage, text=text[start:end], start=start, end=end), [passage])
    assert whole.text == listed
    flat = passage_of("Note this:\nIt is late.")
    alone = replace(flat, text=flat.text[:10], end=10)
    assert whole_unit(alone, [flat]) == alone


def passage_of(text: str) -> Quote:
    return replace(QUOTE, text=text, start=0, end=len(text))


def unit_with(text: str, part: str, with_steps: bool = False) -> str:
    """Give the unit of the sentence that holds a part."""
    passage = passage_of(text)
    sentence = next(one.quote for one in sentences_of(passage) if part in one.quote.text)
    return whole_unit(sentence, [passage], Needs(lists=with_steps, code=with_steps)).text


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


def test_a_sentence_that_announces_another_brings_what_that_announces() -> None:
    text = "Install it with pip:\n\n**On Linux:**\n\n```sh\npip install a\n```"
    assert unit_with(text, "Install") == text
    assert unit_with(text, "pip install") == text[text.index("**On") :]
    tab = text.replace("**On Linux:**", "`linux`")
    assert unit_with(tab, "Install", with_steps=True) == tab
    name = text.replace("**On Linux:**", "Linux")
    assert unit_with(name, "Install") == name
    heading = text.replace("**On Linux:**", "# Linux")
    assert unit_with(heading, "Install", with_steps=True) == "Install it with pip:"
    sentence = text.replace("**On Linux:**", "It is ready.")
    assert unit_with(sentence, "Install", with_steps=True) == "Install it with pip:"


PARAGRAPH = (
    "Open a shell. Go to the folder.\n\n```sh\ncd a\n```\n\nText.\n\n## Next\n\n```\nls\n```"
)


def test_where_steps_are_wanted_a_paragraph_brings_the_code_behind_it() -> None:
    whole = PARAGRAPH[: PARAGRAPH.index("\n\nText")]
    assert unit_with(PARAGRAPH, "Open", with_steps=True) == whole
    assert unit_with(PARAGRAPH, "Open") == "Open a shell."
    assert unit_with(PARAGRAPH, "Text", with_steps=True) == "Text."
    assert unit_with(PARAGRAPH, "cd a", with_steps=True) == whole[whole.index("Go to") :]
    assert unit_with(PARAGRAPH, "ls", with_steps=True) == "```\nls\n```"


def test_of_long_code_the_beginning_is_shown() -> None:
    lines = [f"    wait_for_the_tide_of_day({number})" for number in range(99)]
    text = "\n".join(["It is so. Call it:", "", "```py", "def wait():", *lines, "```", "", "Done."])
    for needs_steps in (False, True):
        unit = unit_with(text, "Call", needs_steps)
        shown = write_unit(passage_of(unit), [replace(SOURCE, end=90)]).splitlines()
        assert shown[:3] == ["Call it: [2]", "```py", "def wait():"]
        assert shown[3:] == [*lines[: MAX_CODE_LINES - 1], CUT, "```"]


def test_a_list_ends_before_a_heading() -> None:
    text = "- One.\n- Two.\n\n### Next\n\n- Three.\n- Four."
    assert unit_with(text, "Two", with_steps=True) == "- One.\n- Two."
    assert unit_with(text, "Three", with_steps=True) == "- Three.\n- Four."


@pytest.mark.parametrize(
    "lead", ["Run it as follows.", "Use a shell, e.g.", "Los pasos, como sigue"]
)
def test_other_ends_than_a_colon_announce_code(lead: str) -> None:
    assert unit_with(f"{lead}\n\n```\nls\n```", lead) == f"{lead}\n\n```\nls\n```"


LONG_LIST = "Do so:\n\n1. Get it:\n   ```\n   get\n   ```\n   This takes long.\n2. Use it.\n\nEnd."


def test_a_list_goes_on_behind_code_in_an_item() -> None:
    whole = LONG_LIST[: LONG_LIST.index("\n\nEnd")]
    for part in ("Do so", "Get", "takes long", "Use"):
        assert unit_with(LONG_LIST, part, with_steps=True) == whole


def test_a_sentence_that_goes_on_behind_code_brings_its_beginning() -> None:
    text = "Three carets, as in:\n\n```\nuse ^^^shoals\n```\n\nlead:\n\n* up\n* in"
    assert unit_with(text, "lead", with_steps=True) == text


def test_code_that_nothing_announces_stands_before_its_source() -> None:
    text = "This works.\n\n```python\nif x:\n    print(1)\n```\n"
    code = unit_with(text, "print")
    assert code == text[text.index("```") :].strip()
    shown = write_unit(passage_of(code), [replace(SOURCE, end=90)])
    assert shown == f"{code}\n[2]"
    assert first_sentence(shown) == code


def test_a_line_that_is_the_heading_or_the_title_is_no_sentence() -> None:
    passage = passage_of("Lease\n\nRent\n\nIt is due now. Rent is paid by letter.")
    assert [one.quote.text for one in sentences_of(passage)] == [
        "It is due now.",
        "Rent is paid by letter.",
    ]
    alone = replace(passage_of("Rent: 200"), title="Rent: 200")
    assert [one.quote.text for one in sentences_of(alone)] == ["Rent: 200"]
    titled = replace(passage_of("Rent is due.\n\nPay it."), title="Rent is due.")
    assert [one.quote.text for one in sentences_of(titled)] == ["Rent is due.", "Pay it."]


def test_a_row_is_written_with_the_names_of_its_columns() -> None:
    passage = passage_of("| Record | Kept |\n|---|---|\n| Invoices | 7 years |\n")
    row = next(one for one in sentences_of(passage) if "Invoices" in one.quote.text)
    assert row.before == "| Record | Kept |"
    shown = write_row(row.before, row.quote, [replace(SOURCE, end=90)])
    assert shown == "Record: Invoices; Kept: 7 years [2]"


def test_a_table_that_began_in_another_chunk_has_no_head() -> None:
    rows = sentences_of(passage_of("| Invoices | 7 years |\n| Letters | 2 years |\n"))
    assert [(one.before, one.is_head) for one in rows] == [("", False), ("", False)]
    whole = sentences_of(passage_of("| Record | Kept |\n|---|---|\n| Invoices | 7 years |\n"))
    assert [one.is_head for one in whole] == [True, False]


def test_a_named_document_that_does_not_say_is_told_apart_from_what_others_say() -> None:
    assert write_denial(["Lease"], []) == "“Lease” does not say."
    assert write_denial(["Lease", "Deed"], [QUOTE]) == (
        "“Lease”, “Deed” do not say.\n\nOther documents:\n- Rent is due | now. (Lease › Rent)"
    )


PASSAGE = replace(QUOTE, text="A. Rent is due | now. B.", start=7, end=31)


def test_what_is_nearest_is_marked_in_its_passage_and_not_claimed_to_answer() -> None:
    shown = write_nearest(["Lease"], QUOTE, [PASSAGE], [], holds=False)
    assert shown == (
        "Nothing in “Lease” surely answers this. Nearest to it:\n\n"
        "A. **Rent is due | now.** B. (Lease › Rent)"
    )
    assert first_sentence(shown) == "Rent is due | now."
    alone = write_nearest([], QUOTE, [], [SOURCE], holds=False)
    assert alone == (
        "Nothing that was found surely answers this. Nearest to it:\n\n**Rent is due | now.** [2]"
    )
    likely = write_nearest([], QUOTE, [], [SOURCE], holds=True).partition("\n")[0]
    assert likely == (
        "An answer seems to be in what was found, but no sentence surely is it. Nearest to it:"
    )


def test_a_mark_leaves_items_and_rows_on_lines_of_their_own() -> None:
    items = passage_of("Errors:\n\n- **E1**: It is blocked.\n- **E2**: It is hot.")
    second = next(one.quote for one in sentences_of(items) if "E2" in one.quote.text)
    shown = write_nearest([], second, [items], [], holds=True).splitlines()[2:]
    assert shown[-2:] == ["- **E1**: It is blocked.", f"- **E2: It is hot.** ({citation(items)})"]
    table = passage_of("| Record | Kept |\n|---|---|\n| Invoices | 7 years |\n| Letters | - |")
    row = next(one.quote for one in sentences_of(table) if "Invoices" in one.quote.text)
    shown = write_nearest([], row, [table], [], holds=True).splitlines()[2:]
    assert "**Invoices: Kept 7 years.**" in shown


def test_a_reader_takes_rows_in_words_and_phrases_stay_cells() -> None:
    table = passage_of(
        "All are kept.\n\n| Record | Kept | Where |\n|---|---|---|\n| Invoices | 7 years | safe |\n"
    )
    read = ReadText(table, sentences_of(table))
    row = "Invoices: Kept 7 years; Where safe."
    assert read.text == f"All are kept.\n\n{row}\n"
    passage = read.passage()
    assert [passage.text[slice(*place)] for place in passage.sentences] == ["All are kept.", row]
    start = read.text.index("Kept 7")
    for end, wanted in [
        (start + len("Kept 7 years"), "7 years"),
        (len(read.text), "| Invoices | 7 years | safe |"),
    ]:
        phrase = read.phrase(1, SentenceReading(1.0, start, end))
        assert phrase.text == wanted
        assert table.text[phrase.start - table.start : phrase.end - table.start] == wanted
    whole = read.phrase(0, SentenceReading(1.0, 0, 3))
    assert whole.text == "All"


def test_rows_without_a_head_are_in_words_as_well() -> None:
    assert in_words("", "| Invoices | 7 years |") == "Invoices: 7 years."
    assert in_words("| a | b |", "| Invoices | 7 years | |") == "Invoices: 7 years."
    assert in_words("| | Kept |", "| Invoices | |") == "Invoices."
    assert in_words("| Record |", "|") == in_words("", "||") == "."
    assert in_words("| Sign | Means |", r"| `a\|b` | one of both |") == "`a|b`: Means one of both."


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
