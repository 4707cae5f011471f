"""The DSPy retriever, alone and inside a program."""

import asyncio
import copy

import dspy
import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.dspy import LexichordRetriever
from lexichord.errors import ConfigError

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"


class Program(dspy.Module):  # type: ignore[misc]
    """A program of one retriever, as an optimizer would copy it."""

    def __init__(self, retriever: LexichordRetriever) -> None:
        super().__init__()
        self.retrieve = retriever

    def forward(self, question: str) -> dspy.Prediction:
        return dspy.Prediction(context=self.retrieve(question, k=2).passages)


@pytest.mark.client("DSPy", "search", "k", "filters")
def test_passages_by_k_and_options(samples: SyncLexichord) -> None:
    retriever = LexichordRetriever(samples, k=3)
    found = retriever(QUESTION)
    assert len(found.passages) == len(found.metadata) == 3
    assert "ten (10) years" in found.passages[0]
    assert 0.5 < found.metadata[0]["score"] <= 1
    assert len(retriever(QUESTION, k=1).passages) == 1
    filter = {"title": "Data Retention Policy"}
    for narrowed in (
        LexichordRetriever(samples, filter=filter)(QUESTION),
        retriever(QUESTION, filter=filter),
    ):
        assert {each["title"] for each in narrowed.metadata} == {"Data Retention Policy"}
    for wrong in ({"k": 0}, {"top_k": 3}):
        with pytest.raises(ConfigError):
            retriever(QUESTION, **wrong)


def test_inside_a_program_that_is_copied(samples: SyncLexichord) -> None:
    program = Program(LexichordRetriever(samples))
    there = program(question=QUESTION).context
    assert len(there) == 2
    assert program.deepcopy()(question=QUESTION).context == there
    assert copy.copy(program)(question=QUESTION).context == there


@pytest.mark.client("DSPy", "async")
async def test_inside_a_running_loop(samples: SyncLexichord) -> None:
    retriever = LexichordRetriever(samples)
    here = await retriever.acall(QUESTION)
    assert here.passages == (await asyncio.to_thread(retriever, QUESTION)).passages
    async with Lexichord(samples.core.settings) as core:
        assert (await LexichordRetriever(core).acall(QUESTION)).passages == here.passages
        with pytest.raises(ConfigError, match="asynchronous"):
            LexichordRetriever(core)(QUESTION)
