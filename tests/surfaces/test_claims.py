"""What is not sure to answer is shown without a claim, the same through every interface."""

import asyncio
import json
from html import unescape

import pytest

from lexichord.types.evidence import NEAREST_MARK, NEAREST_TO_IT
from tests.http.served import new_client
from tests.mcp.serving import over_http, read
from tests.surfaces.callers import House, run_cli

pytestmark = pytest.mark.slow

SURE = "who repairs the roof of the office"
DOUBTFUL = "how long is the warranty on the pumps"  # the sentence is found, and not surely the one
ABSTAINED = "What is the parking fee for visitors of the town hall?"  # of fees, not of that one
FOREIGN = "what colour is the lobby"

CLAIMED = {SURE: True, DOUBTFUL: False, ABSTAINED: False, FOREIGN: False}
HEADED = {True: "Answer", False: "No sure answer"}


@pytest.mark.parametrize("question", CLAIMED)
def test_all_interfaces_show_the_same_answer_and_claim(house: House, question: str) -> None:
    found = house.lexichord.query(question, answer=True)
    assert found.claimed == CLAIMED[question]
    assert found.heading == HEADED[found.claimed]
    with new_client(house.http, house.keys["all"]) as client:
        by_http = client.post("/v1/query", json={"query": question, "answer": True}).json()
        page = client.get("/", params={"q": question}).text
    assert by_http["abstained"] == found.abstained
    by_mcp = asyncio.run(ask_assistant(house, question))
    assert bool(by_mcp["suggestions"]) != found.claimed
    shown = json.loads(run_query(house, question, "--json"))
    for answer in (by_http, by_mcp, shown):
        assert (answer["answer"], answer["claimed"]) == (found.answer, found.claimed)
    printed = run_query(house, question)
    assert f"\n{found.heading}" in printed if found.answer else HEADED[True] not in printed
    assert " ".join(found.answer.split()) in " ".join(printed.split())
    assert (f'<h2 id="answer">{found.heading}</h2>' in page) == bool(found.answer)
    if not found.claimed and found.answer:
        nearest = found.answer.split(NEAREST_MARK)[1]
        assert f"<mark>{nearest}</mark>" in unescape(page)


def test_the_nearest_sentence_is_marked_in_its_passage(house: House) -> None:
    for question, abstained in ((DOUBTFUL, False), (ABSTAINED, True)):
        found = house.lexichord.query(question, answer=True)
        opening, _, shown = found.answer.partition("\n\n")
        assert (found.abstained, opening) == (abstained, f"Nothing that was found {NEAREST_TO_IT}")
        _, nearest, _ = shown.split(NEAREST_MARK)
        passage = next(quote for quote in found.quotes if nearest in " ".join(quote.text.split()))
        assert " ".join(passage.text.split()) in shown.replace(NEAREST_MARK, "")


async def ask_assistant(house: House, question: str) -> dict[str, object]:
    async with over_http(house.mcp, authorization=f"Bearer {house.keys['all']}") as client:
        return dict(read(await client.call_tool("assistant", {"query": question})))


def run_query(house: House, question: str, *options: str) -> str:
    dsn = house.lexichord.core.database.dsn
    done = run_cli(house, "query", "--answer", "--dsn", dsn, *options, "--", question)
    assert done.exit_code == 0, done.stderr
    return done.stdout
