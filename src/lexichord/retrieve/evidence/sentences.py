"""Sentences of passages, by how likely each is the one that answers a question.

As a trained reader tells, or else by a listwise linear model over words, vectors and the passage's
rank (ListNet; Cao et al., 2007).

A reader learnt from prose, and takes "| Team | €49 |" for signs: rows of tables are in words,
"Team: Price €49; Users 10.", each value behind its column's name. Of 34 questions of six tables the
reader finds the row of 20 between bars and of 28 in this form; of 16 without the full stop, of 22
as "Plan: Team; Price: €49.", of 24 as "Plan Team: …", of 26 with "is" or commas.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from typing import NamedTuple

from lexichord.db.pool import Database
from lexichord.db.search import read_spans
from lexichord.errors import ProviderError
from lexichord.providers import Reader
from lexichord.providers.models import is_latin
from lexichord.retrieve.cache import Readings
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    QuotedSentence,
    coverage,
    embed_all,
    sentences_of,
    sub_quote,
    weigh_texts,
)
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand import (
    CUE_WORD,
    LANGUAGES,
    PROPER_NAME,
    find_cues,
    load_cues,
    tell_language,
)
from lexichord.types.evidence import (
    AnswerRequest,
    Evidence,
    Place,
    Quote,
    ReadPassage,
    ReadPassages,
    ReadSentence,
)
from lexichord.types.questions import (
    MANY_LANGUAGES,
    Passage,
    Reading,
    RightWeights,
    SentenceReading,
)
from lexichord.work import in_thread

READ_PASSAGES = 8  # of a query, the best
# Of them, those that are read first; the others where none of these is likelier than not to hold
# the answer. 460 questions of seven kinds: as many first sentences are right as where all eight are
# read (.683), by 4.0 passages a question and not 7.1; with one first .675, with two .677.
FIRST_PASSAGES, FOUND = 3, 0.5
MAX_TOLD_TEXTS, MAX_TOLD_CHARS = 3, 500  # by which the passages' language is told
MIN_TOLD_WORDS, MIN_SMALL_WORDS = 40, 0.1  # English prose has .3 to .5 of them, Italian .05
TABLE_ROW = re.compile(r"^[ \t]*\|.*", re.M)  # names and figures, which tell no language
HEAD_CHARS = 500  # where a document says whose it is
MAX_NAMES, MAX_NAME_CHARS = 2, 40  # which leaves some of the title that is read
MIN_NAME_CHARS = 3
WORD = re.compile(r"\w+")

BAR = re.compile(r"(?<!\\)\|")

type NamingWords = Mapping[str, bool]  # whether it is written in small letters somewhere


def words_of(text: str) -> set[str]:
    """Return the words of a text without their capitals."""
    return {word.casefold() for word in WORD.findall(text)}


def cells_of(line: str) -> list[str]:
    """Return the cells of a row of Markdown, a bar behind a backslash in its cell."""
    cells = BAR.split(line.strip().removeprefix("|"))
    return [cell.strip() for cell in (cells if cells[-1] else cells[:-1])]


def in_words(head: str, row: str) -> str:
    """Return a row in words: its first cell, then each of the others behind its column's name.

    Where the head is not known, or has other columns, the values stand alone.
    """
    first, *values = cells_of(row) or [""]
    names = cells_of(head)[1:]
    if len(names) != len(values):
        names = [""] * len(values)
    pairs = zip(names, values, strict=True)
    said = "; ".join(f"{name} {value}".strip() for name, value in pairs if value)
    return ": ".join(filter(None, (first, said))).replace(r"\|", "|") + "."


class ReadText:
    """The text of a passage as a reader takes it, and where its places stand in the passage.

    Heads of tables are left out, for each row says its columns' names.
    """

    def __init__(self, quote: Quote, sentences: Sequence[QuotedSentence]) -> None:
        self.quote = quote
        self.sentences = [one for one in sentences if not one.is_head]
        self.text, self.places = "", list[tuple[int, int]]()
        end = 0
        for one in sentences:
            start = one.quote.start - quote.start
            self.text += "\n" if one.is_row else quote.text[end:start]
            end = one.quote.end - quote.start
            if not one.is_head:
                said = in_words(one.before, one.quote.text) if one.is_row else one.quote.text
                self.places.append((len(self.text), len(self.text) + len(said)))
                self.text += said
        self.text += quote.text[end:]

    @property
    def title(self) -> str:
        """What it stands under: its document's title and its heading."""
        heading = self.quote.heading.rpartition(" › ")[2]
        return ". ".join(dict.fromkeys(filter(None, (self.quote.title, heading))))

    def lacking(self, naming: NamingWords) -> NamingWords:
        """Return the words that neither it nor what it stands under says."""
        own = words_of(f"{self.title} {self.text}")
        return {word: is_small for word, is_small in naming.items() if word not in own}

    def passage(self, names: Sequence[str] = ()) -> Passage:
        """Return it with the places of its sentences, its title behind these names."""
        title = ": ".join(filter(None, (", ".join(names), self.title)))
        return Passage(title, self.text, tuple(self.places))

    def phrase(self, number: int, said: SentenceReading) -> Quote:
        """Return the phrase of a sentence as it stands in the passage.

        Of a row it is the only cell that the phrase holds, else the row.
        """
        read = self.sentences[number]
        sentence = read.quote
        start, _ = self.places[number]
        first, last = said.start - start, said.end - start
        if read.is_row:
            found = self.text[said.start : said.end].strip(" ;:.")
            whole = [cell for cell in cells_of(sentence.text) if cell and cell in found]
            wanted = found if found in sentence.text else whole[0] if len(whole) == 1 else ""
            first = sentence.text.find(wanted) if wanted else 0
            last = first + len(wanted) if wanted else len(sentence.text)
        return sub_quote(sentence, first, last, sentence.score)


@dataclass
class QueryReader:
    """Reads for one query: no passage is read twice for the same question.

    `passages` are those that hits made, by the hits' chunks and scores; `readings` has what earlier
    queries read.
    """

    reader: Reader
    trace: Trace
    database: Database
    readings: Readings = field(default_factory=Readings)
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
                await self._ask(question, list(enumerate(quotes))[first:last], quotes)
                read = [self._read[place] for place in places if place in self._read]
                if any(passage.here >= FOUND for passage in read):
                    break
        except ProviderError as error:
            self.trace.degrade(f"no reader, words and vectors judge: {error}")
            return None
        return ReadPassages(read, fit)

    async def _ask(
        self, question: str, numbered: Sequence[tuple[int, Quote]], found: Sequence[Quote]
    ) -> None:
        """Read the passages, of those found, that were not read for this question yet."""
        new = [(n, one) for n, one in numbered if (question, one.place) not in self._read]
        if not new:
            return
        texts = [ReadText(quote, sentences_of(quote)) for _, quote in new]
        with self.trace.stage("read", question=question, passages=len(new)) as step:
            names = await self._names(texts, naming_words(question, found))
            passages = [one.passage(said) for one, said in zip(texts, names, strict=True)]
            readings = await in_thread(self.readings.read, self.reader, question, passages)
            step["made"] = [round(reading.here, 3) for reading in readings]
        for (number, quote), text, made in zip(new, texts, readings, strict=True):
            self._read[question, quote.place] = _located(number, text, made)

    async def _names(self, texts: Sequence[ReadText], naming: NamingWords) -> list[list[str]]:
        """Return for each text the names of its document that it does not say, as the head does."""
        lacking = [text.lacking(naming) for text in texts]
        asked = [n for n, words in enumerate(lacking) if words and texts[n].quote.start]
        quotes = [texts[n].quote for n in asked]
        spans = [(one.document_id, 0, min(one.start, HEAD_CHARS)) for one in quotes]
        heads = await read_spans(self.database, spans) if spans else []
        said = dict(zip(asked, heads, strict=True))
        return [said_names(lacking[n], said.get(n) or "") for n in range(len(texts))]


def naming_words(question: str, found: Sequence[Quote]) -> NamingWords:
    """Return the words of a question that may name a document, and which are written as no name.

    What a heading of a passage found says is a topic. What a passage writes in small letters may
    be a part of a name, as of Skarnbro Pumps AB, but what none does comes first.
    """
    cues = find_cues(question)
    said = {word for word in words_of(question) if len(word) >= MIN_NAME_CHARS}
    topics = {word for one in found for word in words_of(one.heading)}
    small = {word for one in found for word in WORD.findall(one.text)}
    return {word: word in small for word in said - cues.common - cues.frame_words - topics}


def said_names(lacking: NamingWords, head: str) -> list[str]:
    """Return the names in a document's head that have words which a question says and a text lacks.

    "How long are logs kept at Acme?" is answered by a policy whose head alone says that it is
    Acme's: a reader that is not told so finds no answer there. 171 questions of five kinds without
    and with them: first sentence right .608, .620, refused .082, .076, wrong at .7 .064, .058.
    """
    whole = head.rpartition(" ")[0] if len(head) == HEAD_CHARS else head
    names = {name: words_of(name) for name in PROPER_NAME.findall(whole)}
    own = [
        name
        for name, words in names.items()
        if words & lacking.keys() and len(name) <= MAX_NAME_CHARS
    ]
    own.sort(key=lambda name: all(lacking.get(word, True) for word in names[name]))
    return own[:MAX_NAMES]


def _located(number: int, text: ReadText, reading: Reading) -> ReadPassage:
    """Return a reading with its sentences and phrases as quotes."""
    read = []
    for place, (one, said) in enumerate(zip(text.sentences, reading.sentences, strict=True)):
        head = one.before if one.is_row else ""
        read.append(ReadSentence(one.quote, said.share, text.phrase(place, said), head))
    return ReadPassage(number, text.quote, reading.here, read)


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


LEAST = 1e-4  # of a probability whose logarithm is taken


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


CANDIDATE_SENTENCES = 60  # of the best passages
EMBEDDED_SENTENCES = 16  # of these, the best by words; 12, 24, 60: the same first sentences
# 668 questions of nine kinds (bench/fit_reader.py), first sentence right where the weights were
# fitted to the other eight, by words, rank and cosines / without cosines: encyclopaedia .81, .78,
# Natural Questions .53, .55, contracts .55, .57, agreements .61, .61 and .53, .47, documentation
# .34, .28, articles .66, .69, papers .18, .19, policies .15.
COSINE_WEIGHT = 6.2
COVERAGE_WEIGHT = 3.4
RANK_WEIGHT = 1.9  # of 1 / (1 + the passage's number)
# Whether the first sentence is right: AUROC .79 on kinds left out, .77 by the margin to the second.
RIGHT = RightWeights(constant=1.1, evidence=0.1, share=2.0)

FITTED_SPACE = "local/all-MiniLM-L6-v2/384"
# Below it a first sentence is shown in its passage, and not claimed to answer. Of eight kinds left
# out, of right first sentences, wrong ones and those of what nothing answers, claimed are at .25
# 92, 50 and 42 %, at .3 91, 46 and 38, at .35 88, 40 and 34, at .5 79, 23 and 22.
MIN_CLAIMED_CONFIDENCE = 0.3


class Candidate(NamedTuple):
    """A sentence, and the number of its passage, the best 0."""

    sentence: QuotedSentence
    passage: int


class Signals(NamedTuple):
    """What is measured of a candidate.

    `cosine`, as one of the space of the constants, is 0 without vectors.
    """

    passage: int
    coverage: float
    cosine: float = 0.0

    @property
    def strength(self) -> float:
        """How likely it answers; differences are logarithms of odds."""
        by_rank = RANK_WEIGHT / (1 + self.passage)
        return COSINE_WEIGHT * self.cosine + COVERAGE_WEIGHT * self.coverage + by_rank


class RankedSentences(NamedTuple):
    """Sentences, best first, and how likely the first is right, 0 to 1; None if that is unknown.

    `phrase` is what of the first one answers, where a reader tells.
    """

    quotes: list[Quote]
    confidence: float | None
    phrase: Quote | None = None


async def rank_sentences(
    database: Database,
    brief: AnswerRequest,
    passages: Sequence[Quote],
    embed: EmbedSentences | None,
) -> RankedSentences:
    """Return the sentences of checked passages that may answer a brief's question.

    A quote's score is how likely it answers, as a share of the best one's: 1 for the best. What
    its reader makes of them decides, where there is one; else `embed`, which gives unit vectors of
    texts, and without it words.
    """
    question, evidence = brief.question, brief.confidence
    made = await brief.read(question, passages)
    if made is not None:
        return await _by_reading(database, question, made, evidence)
    candidates = find_candidates(passages)
    sentences = [one.sentence for one in candidates]
    texts = (f"{one.before} {one.quote.text}".strip() for one in sentences)  # with what it leans on
    asked, *terms = await weigh_texts(database, [question, *texts], sought=1)
    signals = word_signals(asked, candidates, terms)
    likely = sorted(range(len(candidates)), key=lambda n: -signals[n].strength)[:EMBEDDED_SENTENCES]
    cosines = await _cosines(question, [sentences[n] for n in likely], embed)
    measured = [
        signals[n]._replace(cosine=brief.align(cosine) if embed else 0.0)
        for n, cosine in zip(likely, cosines, strict=True)
    ]
    quotes = [sentences[n].quote for n in likely]
    ranked = _ranked(quotes, [one.strength for one in measured], evidence, RIGHT)
    return ranked if embed else ranked._replace(confidence=None)


def _ranked(
    quotes: Sequence[Quote],
    strengths: Sequence[float],
    evidence: float | None,
    right: RightWeights,
) -> RankedSentences:
    """Return sentences by strength, the first one's likelihood by its share of all sentences'."""
    if not quotes:
        return RankedSentences([], None)
    best = max(strengths)
    shares = [exp(strength - best) for strength in strengths]
    scored = [replace(one, score=share) for one, share in zip(quotes, shares, strict=True)]
    scored.sort(key=lambda quote: -quote.score)
    if evidence is None:
        return RankedSentences(scored, None)
    by_evidence = right.evidence * log_odds(evidence)
    odds = right.constant + by_evidence - right.share * log(sum(shares))
    return RankedSentences(scored, probability_of(odds))


async def _by_reading(
    database: Database, question: str, read: ReadPassages, evidence: float | None
) -> RankedSentences:
    """Rank by what was read, by the question's words and by the passage's own rank."""
    listed = _once(
        (one.quote, (passage, one)) for passage in read.passages for one in passage.sentences
    )
    texts = (f"{one.head}\n{one.quote.text}".strip() for _, one in listed)
    asked, *terms = await weigh_texts(database, [question, *texts], sought=1)
    weights = read.fit.sentence
    strengths = [
        weights.here * log_odds(passage.here)
        + weights.share * log(max(one.share, LEAST))
        + weights.coverage * coverage(asked, words)
        + weights.rank / (1 + passage.number)
        for (passage, one), words in zip(listed, terms, strict=True)
    ]
    ranked = _ranked([one.quote for _, one in listed], strengths, evidence, read.fit.right)
    if not listed:
        return ranked
    best = max(range(len(listed)), key=lambda n: strengths[n])
    return ranked._replace(phrase=listed[best][1].phrase)


def find_candidates(passages: Sequence[Quote]) -> list[Candidate]:
    """Return the sentences of passages, best passage first, each place once."""
    found = (
        (one.quote, Candidate(one, number))
        for number, passage in enumerate(passages)
        for one in sentences_of(passage)
        if not one.is_head
    )
    return _once(found)[:CANDIDATE_SENTENCES]


def _once[T](listed: Iterable[tuple[Quote, T]]) -> list[T]:
    """Return the first that stands at each sentence's place; signs alone are no sentence."""
    places: dict[Place, T] = {}
    for quote, one in listed:
        if any(map(str.isalnum, quote.text)):
            places.setdefault(quote.place, one)
    return list(places.values())


def word_signals(
    question: Mapping[str, float],
    candidates: Sequence[Candidate],
    terms: Sequence[Iterable[str]],
) -> list[Signals]:
    """Return what words say of candidates, whose terms are given, without cosines."""
    return [
        Signals(one.passage, coverage(question, words))
        for one, words in zip(candidates, terms, strict=True)
    ]


async def _cosines(
    question: str, sentences: Sequence[QuotedSentence], embed: EmbedSentences | None
) -> list[float]:
    """Compare each sentence, its heading before it, with the question; 0 without vectors."""
    if embed is None:
        return [0.0] * len(sentences)
    rows = await embed_all(embed, [question, *(one.headed for one in sentences)])
    return [float(row @ rows[0]) for row in rows[1:]]
