"""Answers are read as text: whole sentences, no markup, and the commands that they lead to."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.serve.page.results import show_results
from tests.conftest import new_database

PAGES = Path(__file__).parent / "pages"  # of a product that there is not
MARKUP = re.compile(r"\{\w+\}|\][(\[:]|\)=|:::|\{ ?#|</?[a-z]+>")
CODE = re.compile(r"^ *```.*?^ *```$", re.M | re.S)


@pytest.fixture(scope="module")
def stored(embedding_template: str, home: Path) -> Iterator[SyncLexichord]:
    with (
        new_database(embedding_template, copy_of=embedding_template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        lexichord.ingest([PAGES])
        yield lexichord


def ask(stored: SyncLexichord, question: str) -> str:
    response = stored.query(question, answer=True)
    for quote in response.quotes:
        assert stored.show(quote.document_id).text[quote.start : quote.end] == quote.text
    return response.answer


ANSWERS = {
    "How do I convert the Kaiplan register?": (
        "At the harbour office, in the same folder as the `kaiplan_rules.py` file, type: [1]\n"
        "```bash\nkaiplan convert-register\n```"
    ),
    "How do I get the next release of kaiplan with conda?": (
        "Where `kaiplan` came with `conda`, its next release comes with: [1]\n"
        "```bash\nconda install -c conda-forge kaiplan==<release>\n```"
    ),
    "How do I give skippers the right to lend berths?": (
        "add the `lend!own` right to the usual `skipper` badge: [1]\n"
        '```python\nk.Kaiplan.badges = [\n    {\n        "name": "skipper",\n'
        '        "rights": ["own", "lend!own"],\n    },\n]\n```'
    ),
    "How do I name the parent folder in a chart?": (
        "A chart that names the parent folder by three carets `^^^`, as in: [1]\n"
        "```Kaiplan\nuse ^^^shoals show depth_lines\n```"
    ),
    "How do I print the berth cards?": (
        "1. Choose a printer for the berth cards: [1]\n"
        "   ```bash\n   kaiplan printer --choose\n   ```\n   It is remembered.\n"
        "2. Print the berth cards of the week:\n   ```bash\n   kaiplan cards --week\n   ```"
    ),
    "How do I sound the fog horn?": (
        "It needs no rights: [1]\n**On Linux:**\n```bash\nkaiplan-horn --long\n```"
    ),
    "How do I pump the bilge?": (
        "To pump the bilge of a boat, name its berth: [1]\n"
        "```\n$ kaiplan-bilge pump --berth 12\n```"
    ),
    "How do I hoist the storm signal?": (
        "The storm signal is hoisted from the harbour office by: [1]\n"
        "```\n$ kaiplan-signal hoist storm\n```"
    ),
    "How do I empty the lock file?": "```bash\nkaiplan unlock --force\n```",
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_sentence_is_followed_by_the_code_that_it_leads_to(
    stored: SyncLexichord, question: str
) -> None:
    assert ANSWERS[question] in ask(stored, question)


QUESTIONS = [
    *ANSWERS,
    "How do I move a bundle of Kaiplan?",
    "Where are the rules of lending for the plan told?",
    "Where is shown how spoken passwords are drawn?",
    "What remains when a skipper's trust to lend berths is taken away?",
    "Who may lend berths to each other?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_has_no_markup_and_no_torn_sentence(stored: SyncLexichord, question: str) -> None:
    lines = [line for line in CODE.sub("", ask(stored, question)).splitlines() if line]
    assert lines
    for line in lines:
        assert not MARKUP.search(line)
        assert line.startswith("#") or re.search(r"(?:[.:!?]\**(?: \[\d\])?|^\[\d\])\Z", line)


def test_a_question_that_is_not_for_steps_has_the_words_of_roles_and_links(
    stored: SyncLexichord,
) -> None:
    shown = ask(stored, "Which harbours should ask their authority about a bundle of Kaiplan?")
    assert "Harbours that got a bundle of Kaiplan from their authority should ask" in shown


def test_the_page_shows_code_as_code_and_marks_what_it_leads_to(stored: SyncLexichord) -> None:
    view = show_results(stored.query("How do I convert the Kaiplan register?", answer=True), 10)
    shown = [str(block.parts[0][0]) for block in view.answer if block.kind == "code"]
    assert shown[0].startswith('<div class="code"')
    assert "kaiplan convert-register" in re.sub(r"<[^>]+>", "", shown[0])
    assert not any("```" in str(text) for block in view.answer for text, _ in block.parts)
    passage = str(view.passages[0].text)
    for line in (
        "With the new packages in place, it is time to convert the Kaiplan",
        "register. At the harbour office, in the same folder as the",
    ):
        assert f"<mark>{line}</mark>" in passage
