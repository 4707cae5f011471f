"""What a trained reader makes of passages: which sentence answers, and whether any does."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

from lexichord.errors import ProviderError
from lexichord.providers.base import Reader
from lexichord.retrieve.evidence.relevance import sentences_of, sub_quote
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.cues import tell_language
from lexichord.types.evidence import Quote, ReadPassage, ReadSentence
from lexichord.types.reading import Passage, Reading

READ_PASSAGES = 8  # of a query, the best
LEAST = 1e-6  # of a probability whose logarithm is taken


@dataclass
class QueryReader:
    """Reads for one query: no passage is read twice for the same question."""

    reader: Reader
    trace: Trace
    _read: dict[tuple[str, Passage], Reading] = field(default_factory=dict)

    async def read(self, question: str, quotes: Sequence[Quote]) -> list[ReadPassage] | None:
        """Return what is made of the first passages, in their order.

        None where the reader does not know the question's language, or cannot read: `degraded` then
        says that words and vectors judge.
        """
        if tell_language(question) not in (None, *self.reader.languages):
            return None
        sentences = [[one.quote for one in sentences_of(quote)] for quote in quotes[:READ_PASSAGES]]
        pairs = list(zip(quotes, sentences, strict=False))
        try:
            readings = await self._ask(question, [passage_of(*pair) for pair in pairs])
        except ProviderError as error:
            self.trace.degrade(f"no reader, words and vectors judge: {error}")
            return None
        return [_located(*pair, made) for pair, made in zip(pairs, readings, strict=True)]

    async def _ask(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        new = [one for one in passages if (question, one) not in self._read]
        with self.trace.stage("read", question=question, passages=len(new)) as step:
            if new:
                made = await asyncio.to_thread(self.reader.read, question, new)
                self._read.update(zip(((question, one) for one in new), made, strict=True))
            readings = [self._read[question, one] for one in passages]
            step["made"] = [round(reading.here, 3) for reading in readings]
        return readings


def passage_of(quote: Quote, sentences: Sequence[Quote]) -> Passage:
    """Return a quote as a reader takes it, with the places of its sentences."""
    places = ((one.start - quote.start, one.end - quote.start) for one in sentences)
    return Passage(quote.title, quote.text, tuple(places))


def _located(quote: Quote, sentences: Sequence[Quote], reading: Reading) -> ReadPassage:
    """Return a reading with its sentences and phrases as quotes."""
    read = [
        ReadSentence(
            sentence, reading.here * said.share, sub_quote(quote, said.start, said.end, quote.score)
        )
        for sentence, said in zip(sentences, reading.sentences, strict=True)
    ]
    return ReadPassage(reading.here, read)


def holds_answer(passages: Sequence[ReadPassage]) -> float:
    """Return the probability, 0 to 1, that one of the passages holds an answer."""
    return max((passage.here for passage in passages), default=0.0)


def log_odds(probability: float) -> float:
    """Return the logarithm of a probability's odds, as far from either end as is told apart."""
    kept = min(max(probability, LEAST), 1 - LEAST)
    return log(kept / (1 - kept))
