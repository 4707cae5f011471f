"""A question in; its intent, the documents meant and its parts out. Here: by its words alone.

The cues of each language are a file of `languages/`, all of one structure; a question is read by
those of the language that most of its words belong to. What stands in quotes is mentioned, not
said, and gives no cue. Only the ends of a long text are read, so that its length costs no more than
copying it.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from lexichord.retrieve.cache import cached_by_tenant
from lexichord.types.query_options import IntentKind

MAX_READ_CHARS = (
    2000  # characters at each end: a pasted text has its instruction before or after it
)

QUOTED_PHRASE = re.compile(
    r'"([^"\n]{2,300})"|“([^”\n]{2,300})”|„([^“”\n]{2,300})[“”]|«([^»\n]{2,300})»'
    r"|(?<!\w)['\u2018]([^'\u2018’\n]{2,300})['’](?!\w)"
)
# Where an instruction or a question may begin, once a sentence's opening is passed.
INSTRUCTION_BREAK = re.compile(r"[?!\n？！。；]+|[.;:]\s")
SENTENCE_JOINT = r"(?<=[?!;\n？！。；]) *|(?<=\.) "
WORD = re.compile(r"[^\W_]+")
CUE_WORD = re.compile(r"[^\W\d_]+")
NAMED_WORDS = re.compile(r"<<(\w+)>>")
TELLING_WORDS = 2  # of a language, more than of any other, from which on a text is surely in it
LANGUAGES = ("en", "de", "es", "fr", "zh")  # the first where a question's words tell nothing


@dataclass(frozen=True, slots=True)
class Cues:
    """One language's patterns: openings of a sentence, kinds in the order in which they are tried.

    A question in it is told by its `common` words and by `letters` that others have not.
    """

    common: frozenset[str]
    letters: re.Pattern[str] | None
    kinds: tuple[tuple[IntentKind, re.Pattern[str], re.Pattern[str] | None], ...]
    polite: re.Pattern[str]
    place: re.Pattern[str]
    joint: re.Pattern[str]
    question: re.Pattern[str]
    list_genus: re.Pattern[str]
    opening_word: re.Pattern[str]
    nouns_are_capitalised: bool
    document_words: frozenset[str]
    any_document: frozenset[str]  # of these what any document is called
    joint_words: frozenset[str]
    frame_words: frozenset[str]
    comparing_words: frozenset[str]  # of these what only a comparison of several things has
    parting: re.Pattern[str] | None  # of two things: "differs from"; its only group stands between
    cut: re.Pattern[str] | None  # what parts words that no blanks part
    comparative: re.Pattern[str]
    steps: re.Pattern[str]

    @property
    def list_opening(self) -> re.Pattern[str]:
        """What opens a list."""
        return next(opening for kind, opening, _ in self.kinds if kind == "list_all")

    def share(self, text: str, words: Iterable[str]) -> int:
        """Return how many of a text's words and letters tell that it is in this language.

        The words are those of the text without its capitals.
        """
        letters = len(self.letters.findall(text)) if self.letters else 0
        return letters + sum(map(self.common.__contains__, words))


KINDS_IN_ORDER: Sequence[IntentKind] = (
    *("comparison", "list_all", "summary", "general", "clause_lookup"),
)
OPENINGS_OF_PARTS = ("comparison", "list_all", "summary")  # what a part of a question may be, too


@cache
def language_file(language: str) -> Mapping[str, Any]:
    """Read a language's file, once."""
    file = Path(__file__).with_name("languages") / f"{language}.toml"
    return tomllib.loads(file.read_text("utf-8"))


@cache
def named_words(language: str) -> dict[str, str]:
    """Return a language's named patterns, each without others' names in it."""
    words: dict[str, str] = {}
    for name, pattern in language_file(language).get("words", {}).items():
        words[name] = NAMED_WORDS.sub(lambda match: words[match[1]], pattern)
    return words


def words_filled_in(language: str, pattern: str) -> str:
    """Return a pattern with a language's named patterns in place of their names."""
    words = named_words(language)
    return NAMED_WORDS.sub(lambda match: words[match[1]], pattern)


@cache
def load_cues(language: str) -> Cues:
    """Read a language's file, once."""
    data = language_file(language)

    def cue(*patterns: str) -> re.Pattern[str]:
        filled = (words_filled_in(language, each) for each in patterns)
        return re.compile("|".join(filled), re.I)

    kinds, parts, documents = data["kinds"], data["parts"], data.get("documents", {})
    openings = [each for kind in OPENINGS_OF_PARTS for each in kinds[kind]["opening"]]
    return Cues(
        common=frozenset(data.get("common", "").split()),
        letters=re.compile(data["letters"]) if "letters" in data else None,
        kinds=tuple(
            (kind, cue(*kinds[kind]["opening"]), cue(*within) if within else None)
            for kind in KINDS_IN_ORDER
            for within in [kinds[kind].get("within")]
        ),
        polite=cue(*data["begin"]["polite"]),
        place=cue(*data["begin"]["place"]),
        joint=cue(*parts["joint"], SENTENCE_JOINT),
        question=cue(*parts["question"], *openings),
        list_genus=cue(*parts["list_genus"]),
        opening_word=cue(*data["names"]["opening_word"]),
        nouns_are_capitalised=data["names"].get("nouns_are_capitalised", False),
        document_words=frozenset(documents.get("kinds", "").split()),
        any_document=frozenset(documents.get("any", "").split()),
        joint_words=frozenset(documents.get("joint", "").split()),
        frame_words=frozenset(documents.get("frame", "").split()),
        comparing_words=frozenset(documents.get("comparing", "").split()),
        parting=cue(documents["parting"]) if "parting" in documents else None,
        cut=re.compile(documents["cut"]) if "cut" in documents else None,
        comparative=cue("<<comparative>>"),
        steps=cue(*data["begin"]["steps"]),
    )


def find_cues(query: str) -> Cues:
    """Return the cues of the language that most of a query's words belong to."""
    return load_cues(find_language(query))


def asks_for_steps(question: str) -> bool:
    """Return whether a question asks how something is done."""
    return bool(find_cues(question).steps.search(question))


def says_something(question: str) -> bool:
    """Return whether a question has a word besides those that any has: "How do I?" has none."""
    cues = find_cues(question)
    words = re.findall(r"\w+", question.lower())
    return any(word not in cues.common | cues.frame_words for word in words)


def find_language(query: str) -> str:
    """Return the language, of those with cues, that most of a query's words belong to."""
    text = read_ends(query)
    words = CUE_WORD.findall(text.lower())
    return max(LANGUAGES, key=lambda language: load_cues(language).share(text, words))


@cached_by_tenant(4_000)  # sentences
def tell_language(text: str) -> str | None:
    """Return the language that a text is surely in; None without two words more of it."""
    words = CUE_WORD.findall(read_ends(text).lower())
    shares = {name: load_cues(name).share(text, words) for name in LANGUAGES}
    best, second = sorted(LANGUAGES, key=shares.__getitem__, reverse=True)[:2]
    return best if shares[best] >= shares[second] + TELLING_WORDS else None


QUESTION_WORD = named_words("en")["question"]
AUXILIARY_VERB = named_words("en")["auxiliary"]
COUNT_WORD = named_words("en")["count"]
DOCUMENT_WORD = named_words("en")["document"]
COMPARATIVE, SUPERLATIVE = named_words("en")["comparative"], named_words("en")["superlative"]
OPENING_WORD = load_cues("en").opening_word


def blank(match: re.Match[str]) -> str:
    """Return what stands in a match's place, of its length: neither a word nor a space."""
    return "\0" * len(match[0])


def between(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the spans of a text that stand between the matches of a pattern."""
    cuts = (place for match in pattern.finditer(text) for place in match.span())
    ends = [0, *cuts, len(text)]
    return list(zip(ends[::2], ends[1::2], strict=True))


def blank_quoted(query: str) -> str:
    """Return what of a query is read, of the same length, with what it quotes blanked out."""
    return QUOTED_PHRASE.sub(blank, query)


def read_ends(query: str) -> str:
    """Return both ends of a query that is longer than they are."""
    return (
        query
        if len(query) <= 2 * MAX_READ_CHARS
        else f"{query[:MAX_READ_CHARS]}\n{query[-MAX_READ_CHARS:]}"
    )


def find_kind(query: str) -> tuple[IntentKind, str]:
    """Return the kind of a query and the words that decided it."""
    text = blank_quoted(read_ends(query)).replace("’", "'")
    sentences = [
        sentence
        for part in INSTRUCTION_BREAK.split(text)
        if (sentence := part.strip(" \t.?!,？！。，、"))
    ]
    cues = find_cues(text)
    begun = [sentence[start:] for sentence in sentences for start in _starts(sentence, cues)]
    for kind, at, within in cues.kinds:
        for sentence in begun:
            if match := at.match(sentence) or (within and within.search(sentence)):
                return kind, f"'{_whole_words(match)[:60]}'"
    if re.search("[?？]", text) and re.search(r"\w", text):
        return "clause_lookup", "a question mark"
    return "general", "no cue"


def _whole_words(match: re.Match[str]) -> str:
    """Return what matched without the beginning of a word that a pattern only looks at."""
    is_torn = match[0][-1:].isalnum() and match.string[match.end() :][:1].isalnum()
    return (match[0].rpartition(" ")[0] if is_torn else "") or match[0]


def _starts(sentence: str, cues: Cues) -> list[int]:
    """Return where a sentence begins: after what is polite, and after where to look."""
    start = _after(cues.polite, sentence, 0)
    return [start, _after(cues.polite, sentence, _after(cues.place, sentence, start))]


def _after(opening: re.Pattern[str], sentence: str, start: int) -> int:
    match = opening.match(sentence, start)
    return match.end() if match else start


def find_sub_questions(query: str) -> tuple[str, ...]:
    """Return the questions that a query is made of, verbatim; none if it is one question."""
    text = blank_quoted(query[:MAX_READ_CHARS])
    cues = find_cues(text)
    parts = [(start, end) for start, end in between(cues.joint, text) if start < end]
    questions = [
        query[slice(*part)].strip() for part in parts if _asks(text[slice(*part)].strip(), cues)
    ]
    return tuple(questions) if len(questions) > 1 else ()


def _asks(part: str, cues: Cues) -> bool:
    start = _starts(part, cues)[-1]
    return bool(re.search(r"\w", part)) and (
        part.endswith(("?", "？")) or bool(cues.question.match(part, start))
    )


def find_listed(query: str) -> str:
    """Return what a list is to hold, without the order to list it: "List every X" is about X."""
    cues = find_cues(query)
    start = _starts(blank_quoted(query[:MAX_READ_CHARS]), cues)[-1]
    order = cues.list_opening.match(blank_quoted(query), start)
    if order is None:
        return query
    genus = cues.list_genus.match(query, order.end())
    listed = query[genus.end() if genus else order.end() :].strip(" \t\n.?!,:")
    return listed if re.search(r"\w", listed) else query


CODE_IDENTIFIER = re.compile(
    r"(?<![\w.-])(?:\w*_\w+(?:\(\))?|\w+\(\)|[A-Z]{1,8}-?\d[\w-]*|\d+(?:\.\d+)+)"
)
DAY_AND_MONTH = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)? [A-Z]\w+\b|\b[A-Z]\w+ \d{1,2}(?:, |,? )\d{4}\b"
)
UPPERCASE_LETTERS = "".join(filter(str.isupper, map(chr, range(0x530))))  # Latin, Greek, Cyrillic
CAPITALISED_WORD = rf"[{UPPERCASE_LETTERS}][\w&]+(?:-\w+)*"
ACRONYM_WORD = re.compile(rf"[{UPPERCASE_LETTERS}]{{2,}}s?")
PROPER_NAME = re.compile(
    rf"\b{CAPITALISED_WORD}(?:(?: | of | de | der | von | van | du | & ){CAPITALISED_WORD}){{0,7}}"
)


def find_entities(query: str) -> tuple[str, ...]:
    """Return the quoted phrases, identifiers and names of a query, in its order, each once."""
    text = read_ends(query)
    entities = {
        match.start(): next(filter(None, match.groups())) for match in QUOTED_PHRASE.finditer(text)
    }
    plain = blank_quoted(text)
    for match in CODE_IDENTIFIER.finditer(plain):
        if "_" not in match[0] or re.search(r"[^\W\d_]", match[0]):
            entities[match.start()] = match[0]
    plain = DAY_AND_MONTH.sub(blank, CODE_IDENTIFIER.sub(blank, plain))
    entities |= dict(_names(plain, find_cues(plain)))
    stripped = (entities[start].strip() for start in sorted(entities))
    return tuple(dict.fromkeys(filter(None, stripped)))


def _names(text: str, cues: Cues) -> Iterator[tuple[int, str]]:
    if not re.search(r"[a-z]", text):
        return  # capitals tell nothing where there are only capitals
    for match in PROPER_NAME.finditer(text):
        words = [(word.start(), word[0]) for word in re.finditer(r"\S+", match[0])]
        while words and cues.opening_word.fullmatch(words[0][1]):
            words.pop(0)
        for start, name in _parted(words):
            at = match.start() + start
            if cues.nouns_are_capitalised and not NAME_AMONG_NOUNS.match(name):
                continue
            if not (_opens(text, at) and _is_plain(text, at, name)):
                yield at, name


def _parted(words: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Part what is written in capitals only, as a kind of document, from the name before it."""
    cuts = [n for n, (_, word) in enumerate(words) if n and ACRONYM_WORD.fullmatch(word)]
    for first, last in pairwise([0, *cuts, len(words)]):
        while last > first and words[last - 1][1] in NAME_LINKS:
            last -= 1
        if first < last:
            yield words[first][0], " ".join(word for _, word in words[first:last])


# Where each noun has a capital, as in "Frist der Mieter": words side by side, or capitals inside.
NAME_AMONG_NOUNS = re.compile(r"(?!.* (?:der|von|du|de|of) )(?:.* |.*\w[A-Z])")
NAME_LINKS = ("of", "de", "der", "von", "van", "du", "&")


def _opens(text: str, at: int) -> bool:
    before = text[max(0, at - 3) : at].rstrip(" \t")
    return not before or before[-1] in ".?!;:\n•-("


def _is_plain(text: str, at: int, name: str) -> bool:
    """Return whether a capitalised word need not be a name: one alone that opens a sentence."""
    after = text[at + len(name) : at + len(name) + 12]
    if " " in name or re.search(r"\w[A-Z]", name):
        return False
    return not re.match(r"['’]s\b|:| (?:vs|versus)\b| (?:and|or) [A-Z]| [A-Z]{2}", after)
