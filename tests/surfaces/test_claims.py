"""What is not sure to answer is shown without a claim, the same through every interface."""

import asyncio
import json
from html import unescape

import httpx
import pytest

from lexichord.types.evidence import NEAREST_MARK, NEAREST_TO_IT
from tests.end_to_end.processes import run_cli
from tests.mcp.serving import over_http, read
from tests.surfaces.callers import House

SURE = "who repairs the roof of the office"
DOUBTFUL = "what happens when the rent is late"  # the lease speaks of rent, and not of that
ABSTAINED = "how long is the warranty on the forklifts"  # on software and pumps, not on them
FOREIGN = "who won the football match"

CLAIMED = {SURE: True, DOUBTFUL: False, ABSTAINED: False, FOREIGN: False}
HEADED = {True: "Answer", False: "No sure answer"}


def header(house: House) -> dict[str, str]:
    return {"authorization": f"Bearer {house.keys['all']}"}


@pytest.mark.parametrize("question", CLAIMED)
def test_all_interfaces_show_the_same_answer_and_claim(house: House, question: str) -> None:
    found = house.lexichord.query(question, answer=True)
    assert found.claimed == CLAIMED[question]
    assert found.heading == HEADED[found.claimed]
    body = {"query": question, "answer": True}
    by_http = httpx.post(
        f"{house.http}/v1/query", json=body, headers=header(house), timeout=60
    ).json()
    assert (by_http["answer"], by_http["claimed"]) == (found.answer, found.claimed)
    assert by_http["abstained"] == found.abstained
    by_mcp = asyncio.run(ask_assistant(house, question))
    assert (by_mcp["answer"], by_mcp["claimed"]) == (found.answer, found.claimed)
    assert bool(by_mcp["suggestions"]) != found.claimed
    printed = run_query(house, question)
    assert f"\n{found.heading}" in printed if found.answer else HEADED[True] not in printed
    assert " ".join(found.answer.split()) in " ".join(printed.split())
    shown = json.loads(run_query(house, question, "--json"))
    assert (shown["answer"], shown["claimed"]) == (found.answer, found.claimed)


def test_the_nearest_sentence_is_marked_in_its_passage(house: House) -> None:
    for question, abstained in ((DOUBTFUL, False), (ABSTAINED, True)):
        found = house.lexichord.query(question, answer=True)
        opening, _, shown = found.answer.partition("\n\n")
        begun = "Nothing that was found" if abstained else "An answer seems to be in what was found"
        assert found.abstained == abstained
        assert opening.startswith(begun)
        assert opening.endswith(NEAREST_TO_IT)
        _, nearest, _ = shown.split(NEAREST_MARK)
        passage = next(quote for quote in found.quotes if nearest in " ".join(quote.text.split()))
        shown = " ".join(shown.replace(NEAREST_MARK, "").split())
        assert " ".join(passage.text.split()) in shown


def test_the_page_marks_it_and_calls_it_no_answer(house: House) -> None:
    for question, claimed in CLAIMED.items():
        page = httpx.get(house.http, params={"q": question}, headers=header(house), timeout=60).text
        found = house.lexichord.query(question, answer=True)
        assert (f'<h2 id="answer">{HEADED[claimed]}</h2>' in page) == bool(found.answer)
        if not claimed and found.answer:
            nearest = found.answer.split(NEAREST_MARK)[1]
            assert f"<mark>{nearest}</mark>" in unescape(page)


async def ask_assistant(house: House, question: str) -> dict[str, object]:
    async with over_http(house.mcp, **header(house)) as client:
        return dict(read(await client.call_tool("assistant", {"query": question})))


def run_query(house: House, question: str, *options: str) -> str:
    settings = house.lexichord.core.settings
    asked = ("query", "--answer", *options, "--", question)
    done = run_cli(settings.dsn, settings.home, *asked)
    assert done.exit_code == 0, done.stderr
    return done.stdout
