"""What the trained reader makes of passages: which sentence answers, and whether any does."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log

from lexichord.errors import ProviderError
from lexichord.providers.base import Reader
from lexichord.retrieve.evidence.relevance import sentences_of, sub_quote
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.cues import tell_language
from lexichord.types.evidence import Quote, ReadPassage, ReadSentence
from lexichord.types.reading import Passage, Reading

READ_PASSAGES = 8
# Log odds of "the hits hold an answer" and of "the first sentence is right" by those of the reader.
HOLDS_SLOPE, HOLDS_CONSTANT = 1.0, 0.0
RIGHT_SLOPE, RIGHT_CONSTANT = 1.0, 0.0
LEAST = 1e-6  # of a probability whose logarithm is taken


@dataclass
class QueryReader:
    """Reads for one query: no passage is read twice for the same question."""

    reader: Reader
    trace: Trace
    _read: dict[tuple[str, str, str], Reading] = field(default_factory=dict)

    def knows(self, question: str) -> bool:
        """Return whether a question is in a language that the reader was trained on."""
        return tell_language(question) in (None, *self.reader.languages)

    async def read(self, question: str, quotes: Sequence[Quote]) -> list[ReadPassage] | None:
        """Return what is made of the first passages, in their order.

        None where the reader cannot: `degraded` then says that words and vectors judge.
        """
        if not self.knows(question):
            return None
        sentences = [[one.quote for one in sentences_of(quote)] for quote in quotes[:READ_PASSAGES]]
        passages = [
            Passage(
                quote.title,
                quote.text,
                tuple((one.start - quote.start, one.end - quote.start) for one in inside),
            )
            for quote, inside in zip(quotes, sentences, strict=False)
        ]
        try:
            readings = await self._ask(question, passages)
        except ProviderError as error:
            self.trace.degrade(f"no reader, words and vectors judge: {error}")
            return None
        return [
            ReadPassage(
                reading.here,
                [
                    ReadSentence(
                        one, reading.here * said.share, _phrase(quote, said.start, said.end)
                    )
                    for one, said in zip(inside, reading.sentences, strict=True)
                ],
            )
            for quote, inside, reading in zip(quotes, sentences, readings, strict=False)
        ]

    async def _ask(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        keys = [(question, passage.title, passage.text) for passage in passages]
        new = {key: one for key, one in zip(keys, passages, strict=True) if key not in self._read}
        if new:
            made = await asyncio.to_thread(self.reader.read, question, list(new.values()))
            self._read.update(zip(new, made, strict=True))
        return [self._read[key] for key in keys]


def _phrase(quote: Quote, start: int, end: int) -> Quote:
    return sub_quote(quote, start, end, quote.score)


def rank_read(passages: Sequence[ReadPassage]) -> list[ReadSentence]:
    """Return the sentences of what was read, likeliest first, each place once."""
    likeliest: dict[tuple[object, int, int], ReadSentence] = {}
    every = (one for passage in passages for one in passage.sentences)
    for one in sorted(every, key=lambda each: -each.score):
        place = one.quote.document_id, one.quote.start, one.quote.end
        likeliest.setdefault(place, one)
    return list(likeliest.values())


def holds_answer(passages: Sequence[ReadPassage]) -> float:
    """Return the probability that one of the passages holds an answer."""
    likeliest = max((passage.here for passage in passages), default=0.0)
    return _calibrated(likeliest, HOLDS_SLOPE, HOLDS_CONSTANT)


def right_first(score: float) -> float:
    """Return the probability that the likeliest sentence is right, by its score."""
    return _calibrated(score, RIGHT_SLOPE, RIGHT_CONSTANT)


def _calibrated(probability: float, slope: float, constant: float) -> float:
    """Return a probability by its log odds, as they were fitted on kinds that were left out."""
    kept = min(max(probability, LEAST), 1 - LEAST)
    return 1 / (1 + exp(-(constant + slope * log(kept / (1 - kept)))))
