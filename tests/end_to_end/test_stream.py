"""A query's events in Python and on the command line, through the real thing."""

import json
from pathlib import Path
from typing import Any

from lexichord import SyncLexichord
from lexichord.client.lexichord import Lexichord
from lexichord.types import Response
from lexichord.types.response import AnswerEvent, DraftEvent, EvidenceEvent, FilesEvent
from tests.alike import differences
from tests.end_to_end.llm_replies import grades, replying, shown
from tests.end_to_end.processes import reopened
from tests.end_to_end.test_llm_cli import query, to_server
from tests.providers.chat_servers import chat_server

QUERY = "In the lease for Saltpan House, who insures the building?"
BETTER = "The Landlord shall insure the Building"


async def test_python_gets_each_as_it_comes(samples: SyncLexichord, home: Path) -> None:
    async with Lexichord(dsn=samples.core.database.dsn, home=home) as lexichord:
        events = [event async for event in lexichord.stream(QUERY, answer=True)]
        response = await lexichord.query(QUERY, answer=True)
    files, evidence, answer, last = events
    assert isinstance(files, FilesEvent)
    assert isinstance(evidence, EvidenceEvent)
    assert isinstance(answer, AnswerEvent)
    assert isinstance(last, Response)
    assert differences(last.to_dict(), response.to_dict()) == []
    assert (files.files, files.intent) == (last.files, last.intent)
    assert (evidence.context, evidence.sources) == (last.context, last.sources)
    assert answer.answer == last.answer != ""


def test_the_synchronous_application_streams_as_well(samples: SyncLexichord) -> None:
    events = list(samples.stream(QUERY, k=3))
    assert [event.kind for event in events] == ["files", "evidence", "response"]
    for event in samples.stream(QUERY):  # who leaves early leaves all in order
        assert event.kind == "files"
        break
    assert samples.status().documents


def clauses(inputs: Any) -> dict[str, Any]:
    """Quote what a reader who missed something asked for, at first something else."""
    quote = BETTER if "fell short" in inputs["question"] else "Nothing of the kind."
    first = shown(inputs["sources"])[0]
    quotes = [first.text.rpartition("\n\n")[2], quote]
    return {"clauses": [{"quote": each, "source": 1} for each in quotes], "answer": "x"}


def grade(inputs: Any) -> Any:
    return grades(1.0 if BETTER in inputs["answer"] else 0.1, "who insures the building")


def test_an_answer_that_is_written_again_has_two_drafts(samples: SyncLexichord) -> None:
    with (
        chat_server(replying(clauses=clauses, grade=grade)) as server,
        reopened(samples, llm="openai/any", llm_base_url=server.url) as lexichord,
    ):
        options: Any = {"answer": True, "reflect": True, "intent": "clause_lookup"}
        events = list(lexichord.stream(QUERY, **options))
        expected = lexichord.query(QUERY, **options)
    kinds = [event.kind for event in events]
    assert kinds.count("evidence") == kinds.count("answer") == 2
    drafts = [event for event in events if isinstance(event, DraftEvent)]
    assert [draft.start for draft in drafts].count(0) == 2
    last = events[-1]
    assert isinstance(last, Response)
    assert BETTER in last.answer
    assert differences(last.to_dict(), expected.to_dict()) == []


def test_the_command_shows_them_on_stderr_and_prints_what_it_always_prints(
    samples: SyncLexichord,
) -> None:
    quotes = [{"quote": text, "source": 1} for text in (BETTER, "An invention.")]
    with chat_server(replying(clauses={"clauses": quotes, "answer": "x"})) as server:
        options = ("--answer", "--intent", "clause_lookup", "--llm", "openai/any")
        streamed = query(samples, *options, "--stream", **to_server(server))
        ordinary = query(samples, *options, **to_server(server))
    assert (streamed.exit_code, streamed.stdout) == (0, ordinary.stdout)
    files, evidence, head, *draft = streamed.stderr.splitlines()
    assert files.startswith("Files: Lease of Office Space")
    assert evidence.startswith("Evidence: ")
    assert (head, draft) == ("Draft, not checked:", [BETTER, "An invention."])


def test_the_command_writes_events_as_json_a_line_each(samples: SyncLexichord) -> None:
    done = query(samples, "--stream", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events] == ["files", "evidence", "response"]
    assert differences(events[-1]["data"], samples.query(QUERY).to_dict()) == []
    assert (done.exit_code, done.stderr) == (0, "")


def test_the_command_tells_errors_in_one_line(samples: SyncLexichord) -> None:
    done = query(samples, "--stream", "--dataset", "nowhere")
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
