"""What a trained reader makes of passages: which sentence answers, and whether any does."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import exp, log

from lexichord.errors import ProviderError
from lexichord.providers.base import Reader
from lexichord.providers.models import is_latin
from lexichord.retrieve.evidence.relevance import sentences_of, sub_quote
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.cues import CUE_WORD, LANGUAGES, load_cues, tell_language
from lexichord.types.evidence import Evidence, Place, Quote, ReadPassage, ReadPassages, ReadSentence
from lexichord.types.reading import MANY_LANGUAGES, Passage, Reading
from lexichord.work import in_thread

READ_PASSAGES = 8  # of a query, the best
# Of them, those that are read first; the others where none of these is likelier than not to hold
# the answer. 460 questions of seven kinds: as many first sentences are right as where all eight are
# read (.683), by 4.0 passages a question and not 7.1; with one first .675, with two .677.
FIRST_PASSAGES, FOUND = 3, 0.5
MAX_TOLD_TEXTS, MAX_TOLD_CHARS = 3, 500  # by which the passages' language is told
MIN_TOLD_WORDS, MIN_SMALL_WORDS = 40, 0.1  # English prose has .3 to .5 of them, Italian .05
LEAST = 1e-4  # of a probability whose logarithm is taken

TABLE_ROW = re.compile(r"^[ \t]*\|.*", re.M)  # names and figures, which tell no language


@dataclass
class QueryReader:
    """Reads for one query: no passage is read twice for the same question.

    `passages` are those that hits made, by the hits' chunks and scores.
    """

    reader: Reader
    trace: Trace
    passages: dict[tuple[tuple[str, float], ...], Evidence] = field(default_factory=dict)
    _read: dict[tuple[str, Place], ReadPassage] = field(default_factory=dict)

    async def read(self, question: str, quotes: Sequence[Quote]) -> ReadPassages | None:
        """Return what is made of the first passages; of those read before, what was made then.

        None where the reader does not know their language, or cannot read: `degraded` then says
        that words and vectors judge.
        """
        places = [(question, quote.place) for quote in quotes[:READ_PASSAGES]]
        try:
            fit = self.reader.fit
            if not is_known(fit.languages, question, [quote.text for quote in quotes]):
                return None
            for first, last in ((0, FIRST_PASSAGES), (FIRST_PASSAGES, READ_PASSAGES)):
                await self._ask(question, list(enumerate(quotes))[first:last])
                read = [self._read[place] for place in places if place in self._read]
                if any(passage.here >= FOUND for passage in read):
                    break
        except ProviderError as error:
            self.trace.degrade(f"no reader, words and vectors judge: {error}")
            return None
        return ReadPassages(read, fit)

    async def _ask(self, question: str, numbered: Sequence[tuple[int, Quote]]) -> None:
        """Read the passages that were not read for this question yet."""
        new = [(n, one) for n, one in numbered if (question, one.place) not in self._read]
        if not new:
            return
        split = [
            (quote, [one.quote for one in sentences_of(quote) if not one.is_head])
            for _, quote in new
        ]
        passages = [passage_of(*pair) for pair in split]
        with self.trace.stage("read", question=question, passages=len(new)) as step:
            readings = await in_thread(self.reader.read, question, passages)
            step["made"] = [round(reading.here, 3) for reading in readings]
        for (number, _), (quote, parts), made in zip(new, split, readings, strict=True):
            self._read[question, quote.place] = _located(number, quote, parts, made)


def passage_of(quote: Quote, sentences: Sequence[Quote]) -> Passage:
    """Return a quote as a reader takes it: named, and with the places of its sentences."""
    heading = quote.heading.rpartition(" › ")[2]
    title = ". ".join(dict.fromkeys(filter(None, (quote.title, heading))))
    places = ((one.start - quote.start, one.end - quote.start) for one in sentences)
    return Passage(title, quote.text, tuple(places))


def _located(
    number: int, quote: Quote, sentences: Sequence[Quote], reading: Reading
) -> ReadPassage:
    """Return a reading with its sentences and phrases as quotes."""
    read = [
        ReadSentence(sentence, said.share, sub_quote(quote, said.start, said.end, quote.score))
        for sentence, said in zip(sentences, reading.sentences, strict=True)
    ]
    return ReadPassage(number, quote, reading.here, read)


def is_known(languages: Collection[str], question: str, texts: Sequence[str]) -> bool:
    """Return whether the texts are in one of these languages, and the question in no other.

    What is too short to tell, a table or code, is taken for one; another language has some small
    words in common with each. A reader of many languages knows all.
    """
    if MANY_LANGUAGES in languages:
        return True
    prose = (TABLE_ROW.sub("", text) for text in texts[:MAX_TOLD_TEXTS])
    beginning = " ".join(text[:MAX_TOLD_CHARS] for text in prose)
    told = {tell_language(question), tell_language(beginning)}
    if not told <= {None, *languages} or not is_latin(question + beginning):
        return False
    words = CUE_WORD.findall(beginning.lower())
    shares = (load_cues(one).share(beginning, words) for one in LANGUAGES if one in languages)
    return len(words) < MIN_TOLD_WORDS or max(shares, default=0) >= MIN_SMALL_WORDS * len(words)


def holds_answer(read: ReadPassages, confidence: float) -> float:
    """Return the probability, 0 to 1, that one of the passages holds an answer.

    `confidence` is what words and vectors make of them.
    """
    weights = read.fit.confidence
    likeliest = max((passage.here for passage in read.passages), default=0.0)
    by_vectors = weights.vectors * log_odds(confidence)
    return probability_of(weights.constant + weights.here * log_odds(likeliest) + by_vectors)


def log_odds(probability: float) -> float:
    """Return the logarithm of a probability's odds, as far from either end as is told apart."""
    kept = min(max(probability, LEAST), 1 - LEAST)
    return log(kept / (1 - kept))


def probability_of(log_odds: float) -> float:
    """Return the probability whose odds have this logarithm."""
    return 1 / (1 + exp(-log_odds))
