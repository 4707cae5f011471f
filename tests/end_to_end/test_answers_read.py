"""What a reader makes of a query: small ONNX graphs that the tests build, in a real onnxruntime."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.retrieve.judged_hits import READ_WEIGHT
from lexichord.types import Response
from lexichord.types.response import Coverage, Reflection
from tests.conftest import new_database
from tests.end_to_end.processes import run_cli
from tests.providers.test_read_folder import build, build_package

PAGES = {
    "notice.md": "# Ending\n\nThe notice is sent by letter.\n\nIt is fourteen days before the end.",
    "rent.md": "# Rent\n\nThe rent is due on the first working day.",
    "pets.md": "# Pets\n\nA dog needs the consent of the landlord.",
}
QUESTION = "how long is the notice"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def stored(embedding_template: str, home: Path, folder: Path) -> Iterator[SyncLexichord]:
    with (
        new_database(embedding_template, copy_of=embedding_template) as dsn,
        SyncLexichord(dsn=dsn, home=home, reader=f"local/{folder}", record="on") as lexichord,
    ):
        lexichord.ingest(documents=[{"uri": uri, "text": text} for uri, text in PAGES.items()])
        yield lexichord


def test_the_phrase_is_marked_in_the_sentence_that_is_first(stored: SyncLexichord) -> None:
    response = stored.query(QUESTION, answer=True)
    assert response.claimed
    assert response.answer.startswith("It is fourteen days before the end.")
    assert response.phrase is not None
    assert response.phrase.text == "fourteen days"
    text = PAGES["notice.md"]
    assert text[response.phrase.start : response.phrase.end] == "fourteen days"
    assert response.to_dict()["phrase"]["text"] == "fourteen days"
    assert response.confidence > 0.9
    assert "read" in response.timings_ms


def test_the_phrase_is_recorded_by_its_place(stored: SyncLexichord) -> None:
    response = stored.query(QUESTION, answer=True)
    assert response.phrase is not None
    with psycopg.connect(stored.core.database.dsn) as connection:
        row = connection.execute("select phrase from lexichord.list_queries(1)").fetchone()
    phrase = response.phrase
    assert row is not None
    assert row[0] == {"uri": "notice.md", "char_start": phrase.start, "char_end": phrase.end}


def test_what_no_passage_answers_is_not_claimed(stored: SyncLexichord) -> None:
    response = stored.query("who consents to the dog", documents=["pets.md"], answer=True)
    assert not response.claimed
    assert response.phrase is None
    assert response.confidence < 0.5


def test_a_question_in_another_language_is_judged_without_it(stored: SyncLexichord) -> None:
    response = stored.query("Wie lange ist die Frist für die Kündigung?", answer=True)
    assert "read" not in response.timings_ms
    assert response.phrase is None


def test_a_reader_of_many_languages_reads_it(folder: Path, stored: SyncLexichord) -> None:
    (folder / "reader.json").write_text(json.dumps({"languages": ["mul"]}))
    response = stored.query("Wie lange ist die Frist für die Kündigung?", answer=True)
    assert "read" in response.timings_ms


def test_a_reader_that_fails_is_said_and_the_rest_answers(
    home: Path, folder: Path, stored: SyncLexichord
) -> None:
    with SyncLexichord(dsn=stored.core.settings.dsn, home=home, reader="none") as plain:
        expected = plain.query(QUESTION, answer=True)
    (folder / "model.onnx").write_bytes(b"no graph")
    response = stored.query(QUESTION, answer=True)
    (reason,) = response.degraded
    assert reason.startswith("no reader, words and vectors judge: onnxruntime cannot load")
    assert response.answer == expected.answer
    assert response.confidence == expected.confidence


def test_a_half_installed_reader_is_said_with_what_it_lacks(
    home: Path, tmp_path: Path, stored: SyncLexichord, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = build_package(tmp_path / "packages")
    (package / "model.onnx").unlink()
    monkeypatch.syspath_prepend(package.parent)
    with SyncLexichord(dsn=stored.core.settings.dsn, home=home) as lexichord:
        (reason,) = lexichord.query(QUESTION).degraded
        other = lexichord.run(
            lexichord.core.with_models(lexichord.core.settings, None).query(QUESTION)
        )
    assert f"lexichord-reader in '{package}' lacks model.onnx" in reason
    assert other.degraded == [reason]


def test_the_command_line_gives_the_phrase(home: Path, folder: Path, stored: SyncLexichord) -> None:
    arguments = ("query", QUESTION, "--answer", "--json")
    named = {"LEXICHORD_READER": f"local/{folder}"}
    done = run_cli(stored.core.settings.dsn, home, *arguments, **named)
    assert json.loads(done.stdout)["phrase"]["text"] == "fourteen days"


MORE_PAGES = {
    f"notice-{name}.md": f"# Notice {name}\n\nHow long the notice {name} is, the notice says."
    for name in ("one", "two", "three", "four")
}


@pytest.fixture
def many(stored: SyncLexichord) -> SyncLexichord:
    stored.ingest(documents=[{"uri": uri, "text": text} for uri, text in MORE_PAGES.items()])
    return stored


def passages_read(response: Response) -> list[int]:
    return [step.given["passages"] for step in response.trace if step.stage == "read"]


def test_no_passage_is_read_twice(stored: SyncLexichord) -> None:
    assert passages_read(stored.query("how long before it stops", answer=True)) == [len(PAGES)]


def test_further_passages_are_read_where_the_first_do_not_answer(many: SyncLexichord) -> None:
    hits = many.search(QUESTION).hits
    uris = [hit.uri for hit in hits]
    first = [hit.document_id for hit in hits[: uris.index("notice.md") + 1]][-3:]
    assert passages_read(many.query(QUESTION, documents=first)) == [3]
    others = [hit.document_id for hit in hits if hit.uri != "notice.md"]
    assert passages_read(many.query(QUESTION, documents=others)) == [3, len(others) - 3]


def test_what_answers_rises_among_hits_and_quotes(home: Path, many: SyncLexichord) -> None:
    with SyncLexichord(dsn=many.core.settings.dsn, home=home, reader="none") as plain:
        before = [hit.uri for hit in plain.query(QUESTION).hits]
    response = many.query(QUESTION)
    after = [hit.uri for hit in response.hits]
    assert after.index("notice.md") < before.index("notice.md")
    assert [quote.uri for quote in response.quotes] == after
    assert [quote.score for quote in response.quotes] == [hit.score for hit in response.hits]
    assert response.quotes == tuple(sorted(response.quotes, key=lambda quote: -quote.score))
    for hit in response.hits:
        read = READ_WEIGHT * (hit.scores.read or 0)
        assert hit.score == pytest.approx((hit.scores.variants or 0) + read)
    (found,) = (hit for hit in response.hits if hit.uri == "notice.md")
    assert found.to_dict()["scores"]["read"] > 0.9


def test_a_client_that_asks_other_models_has_the_same_reader(stored: SyncLexichord) -> None:
    assert stored.core.reader is not None
    other = stored.core.with_models(stored.core.settings, None)
    assert other.reader is stored.core.reader


GERMAN = """Die Kündigung der Wohnung ist an den Vermieter zu richten, und der Mieter hat sie bei
der Verwaltung in der Straße nebenan abzugeben. Sie ist nicht vor dem Ende des Monats wirksam, wenn
sie nach dem dritten Werktag bei dem Vermieter eingeht."""


def test_a_risk_is_kept_by_what_judged(folder: Path, stored: SyncLexichord) -> None:
    stored.ingest(
        documents=[{"uri": f"{number}.md", "text": f"{number}\n\n{GERMAN}"} for number in range(3)]
    )
    (folder / "reader.json").write_text('{"holds": [0.5], "lacks": [0.9, 0.9]}')
    ask = partial(stored.query, "who consents to the dog", mode="keyword", risk=0.2)
    assert ask().degraded == []
    (reason,) = ask(fallbacks=["Kündigung Wohnung Vermieter Mieter"]).degraded
    assert reason.startswith("risk is not heeded")


def reflected(client: SyncLexichord, query: str, document: str | None = None) -> Reflection:
    found = client.query(query, reflect=True, documents=document and [document]).reflection
    assert found is not None
    return found


def test_no_round_is_needed_where_an_answer_was_read(stored: SyncLexichord) -> None:
    found = reflected(stored, "how many weeks until somebody may move out")
    assert found.coverage is not None
    assert found.coverage.missing_terms
    assert found.stopped == "the evidence covers 100%"
    assert found.passed


def test_words_without_an_answer_are_no_coverage(stored: SyncLexichord) -> None:
    found = reflected(stored, "who consents to the dog", "pets.md")
    assert found.coverage == Coverage(0.0)
    assert not found.passed


def test_what_no_answer_is_claimed_of_is_not_passed(stored: SyncLexichord) -> None:
    for document, passed in (("pets.md", False), ("notice.md", True)):
        response = stored.query(
            QUESTION, documents=[document], reflect={"min_coverage": 0}, answer=True
        )
        assert response.reflection is not None
        assert (response.claimed, response.reflection.passed) == (passed, passed)


def test_passages_of_the_same_hits_are_found_once(stored: SyncLexichord) -> None:
    response = stored.query(QUESTION, reflect=True)
    found = [step for step in response.trace if step.stage == "aggregate"]
    assert len(found) == 1


def test_a_sub_question_that_nothing_answers_is_asked_alone(stored: SyncLexichord) -> None:
    query = "when does a dog need consent? who is the landlord?"
    found = reflected(stored, query, "pets.md")
    assert found.coverage is not None
    assert found.coverage.uncovered_sub_questions == tuple(done.query for done in found.rounds)
    assert len(found.rounds) == 2
    assert reflected(stored, query).rounds == ()


def test_coverage_in_another_language_is_told_by_words(stored: SyncLexichord) -> None:
    found = reflected(stored, "Wo steht das Wort landlord?")
    assert found.coverage is not None
    assert 0 < found.coverage.score < 1
