"""The words of a query that name a document, and what is left of the query without them.

A mention is a run of words that one document's title, file name or card holds, over small words
between them. It names the document if it is definite and nothing names another one as well.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from lexichord.retrieve.understand import WORD, Cues
from lexichord.types.questions import Link

QUERY_WORD = re.compile(r"\w+(?:[-.]\d\w*)*")
MENTION_CONJUNCTION = re.compile(  # between two mentions
    r"[\s,]*(?:and|or|vs\.?|versus|with|to|und|oder|sowie|mit|y|e|o|con|et|ou|avec)?\s*", re.I
)
POSSESSIVE_ENDING = re.compile(r"['’]s?\b|['’](?= )")
INNER_CAPITAL = re.compile(r"\w(?:[A-Z]|_\w)")  # capitals inside, as in names, and underscores
CODE_SIGN = re.compile(r"_|[a-z][A-Z]")
PARTING_SIGN = re.compile(r"[,;:?!\n()\"“”]|\. ")
BRIDGE_WORDS = frozenset(
    ["of", "for", "the", "a", "an", "and", "between", "with", "by", "s", "no", "nr"]
).union(["de", "du", "la", "von", "van", "der", "die", "das", "und", "für", "zwischen"])
DEFINITE_WORDS = frozenset(["the", "our", "this", "that", "my", "their", "its", "your", "s"])
INDEFINITE_WORDS = frozenset(["a", "an", "any", "every", "each", "some", "no", "another"])
# Before what is asked for, which is a kind of thing: "which environment variable".
ASKING_WORDS = frozenset(["which", "what", "many", "welche", "welcher", "welches"]).union(
    ["welchen", "welchem", "viele", "quel", "quelle", "quels", "quelles", "qué", "cuál"],
    ["cuáles", "cuántos", "cuántas"],
)
OWNING_WORDS = frozenset(["my", "our", "your", "their", "a", "an"])  # before a name: its user
TYING_WORDS = frozenset(["with", "of", "from", "between", "by", "mit", "von", "avec", "de", "con"])
MENTION_COUNTS = {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
PLACE_PREPOSITIONS = frozenset(
    ["in", "under", "for", "from", "of", "to", "with", "within", "per", "on", "by", "at", "as"]
)
MIN_STEM_CHARS = 3
MAX_FORM_CHARS = 3  # at a word's end, that make another word of it: "Indian", "Southern"
SAME_NAME_ENDINGS = frozenset(["s", "es", "co", "com", "inc", "llc", "llp", "ltd", "plc", "ag"])
CLAUSE_OPENINGS = PLACE_PREPOSITIONS | {"according"}
CLAUSE_SIGNS = ";:,.?!\n—–"
CLAUSE_SIGN = re.compile(r"[;:,\n]\s*|[.?!]+\s+|\s[-—–]\s")  # ends what introduces a document
OWNERSHIP_WORDS = frozenset(["of", "de", "du", "des", "von", "del", "di", "van", "da", "do"])
SMALL_WORDS = BRIDGE_WORDS | DEFINITE_WORDS | PLACE_PREPOSITIONS | OWNERSHIP_WORDS
# "Consider Acme's privacy policy": a verb before it, the sort of document after it.
MAX_LEADING_WORDS, MAX_FOLLOWING_WORDS, MAX_TIED_WORDS = 1, 3, 2


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query; `name` where it is written as one, `apart` after a sign that parts.

    `parts` is what was cut out between others because it parts a list: see `cut_words`.
    """

    text: str
    start: int
    end: int
    name: bool
    apart: bool
    parts: bool = False

    @property
    def code(self) -> bool:
        """Return whether it may be an identifier, which is asked about, not only looked in."""
        return bool(CODE_SIGN.search(self.text))

    @property
    def lower(self) -> str:
        """Return it without its capitals."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Mention:
    """Words `first` to `last` of a query, as the words `held` name a document."""

    document_id: str
    title: str
    domain: str
    first: int
    last: int
    held: frozenset[int]
    rare: frozenset[int]  # of those held, what names few documents
    by_initials: bool = False
    is_whole: bool = False  # a title of several words in full, in capitals or at the query's end
    is_listed: bool = False  # among what is compared, so that it is not asked about as well
    is_found: bool = False  # for what the words say; the document is not called so


def split_words(query: str, entities: Iterable[str]) -> list[QueryWord]:
    """Return the words of a query; those of its entities are names."""
    names = {
        word for entity in entities for word in QUERY_WORD.findall(entity) if word[0].isupper()
    }
    words: list[QueryWord] = []
    for match in QUERY_WORD.finditer(query):
        before = query[words[-1].end : match.start()] if words else ""
        name = match[0] in names or bool(INNER_CAPITAL.search(match[0]))
        words.append(QueryWord(match[0], *match.span(), name, bool(PARTING_SIGN.search(before))))
    return words


def find_mentions(words: Sequence[QueryWord], links: Sequence[Link]) -> list[Mention]:
    """Return the mentions of documents, in the order of the words."""
    by_document: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if not _is_other_form(words[link.word], link):
            by_document[link.document_id].append(link)
    own = [link for each in by_document.values() for link in each]
    known = {name: {link.word for link in each} for name, each in by_document.items()}
    sorts = {link.word for link in links if link.named and not link.rare}
    runs = [
        (run, _mention(words, run, sorts))
        for document_links in by_document.values()
        for run in _runs(words, sorted(document_links, key=lambda link: link.word))
    ]
    widest = [
        (run, mention)
        for run, mention in runs
        if not any(_outdoes(other, mention) for _, other in runs)
    ]
    chosen = [
        mention
        for run, mention in widest
        if not _is_cut_off(words, run, known[mention.document_id])
        and not is_of_another(words, mention, own)
        and _names(words, run, mention)
        and _is_certain(words, mention, [m for _, m in widest if m.held & mention.held])
    ]
    return sorted(chosen, key=lambda mention: mention.first)


def _runs(words: Sequence[QueryWord], links: Sequence[Link]) -> list[list[Link]]:
    """Part a document's words where more than bridges stands between them."""
    runs: list[list[Link]] = []
    for link in links:
        if not (link.named or (link.rare and words[link.word].name)):
            continue
        if runs and _are_near(words, runs[-1][-1].word, link.word):
            runs[-1].append(link)
        else:
            runs.append([link])
    parts = [part for run in runs for part in _parted(words, run)]
    return [part for part in parts if any(link.named for link in part)]


def _parted(words: Sequence[QueryWord], run: list[Link]) -> list[list[Link]]:
    """Part "the Acme NDA and the Beta NDA" at the "and", not "between Acme Ltd and Beta Ltd"."""
    texts = [words[link.word].lower for link in run]
    for number in range(1, len(run)):
        start = max(run[0].word - 2, 0)
        before = [word.lower for word in words[start : run[number].word]]
        gap = before[run[number - 1].word + 1 - start :]
        again = {*texts[:number]} & {*texts[number:]}
        if "and" in gap and again and "between" not in before:
            return [run[:number], *_parted(words, run[number:])]
    return [run]


def _continues(words: Sequence[QueryWord], first: int, last: int, word: int) -> bool:
    """Return whether a word before or after a run belongs to it: near, not "NDA and NDA"."""
    one, other = (last, word) if word > last else (word, first)
    run_words = {each.lower for each in words[first : last + 1]}
    again = words[other - 1].lower == "and" and words[word].lower in run_words
    return _are_near(words, one, other) and not again


def _are_near(words: Sequence[QueryWord], first: int, last: int) -> bool:
    """Return whether only bridges stand between two words, and nothing parts them."""
    if any(word.apart for word in words[first + 1 : last + 1]):
        return False
    between = [word.lower for word in words[first + 1 : last]]
    # "the lease and the licence" are two.
    return BRIDGE_WORDS.issuperset(between) and not (between[:1] == ["and"] and len(between) > 1)


def _mention(words: Sequence[QueryWord], run: Sequence[Link], sorts: set[int]) -> Mention:
    """Return a run and, beside it, what says the sort of document: words of many titles."""
    first, last = run[0].word, run[-1].word
    for word in sorted(sorts):
        if word > last and _continues(words, first, last, word):
            last = word
    is_whole = _is_whole(words, run)
    # "configure Response Headers": before a whole title stands what is done with it.
    for word in () if is_whole else sorted(sorts, reverse=True):
        if word < first and _continues(words, first, last, word):
            first = word
    held = frozenset(link.word for link in run)
    initials = any(link.initials for link in run)
    rare = frozenset(link.word for link in run if link.named and link.rare)
    head = run[0]
    return Mention(
        head.document_id, head.title, head.domain, first, last, held, rare, initials, is_whole
    )


def _outdoes(other: Mention, mention: Mention) -> bool:
    if not mention.held & other.held:
        return False
    if other.is_whole and not mention.is_whole and not other.held < mention.held:
        return mention.rare <= other.rare
    return mention.rare < other.rare or (mention.rare <= other.rare and mention.held < other.held)


def _is_other_form(word: QueryWord, link: Link) -> bool:
    """Return whether a name has only its stem in common with a title's words.

    "India" is not the French and Indian War, "South America" not in Southern California, and
    Fielding, a person, is no page on fields.
    """
    if not (word.name and link.in_title):
        return False
    rests = [_rests(word.lower, other.lower()) for other in WORD.findall(link.title)]
    return any(rests) and all(_make_other_words(*rest) for rest in rests if rest)


def _rests(one: str, other: str) -> tuple[str, str] | None:
    """Return what follows in two words after a beginning that is long enough to be their stem."""
    stem = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return (one[stem:], other[stem:]) if stem >= MIN_STEM_CHARS else None


def _make_other_words(one: str, other: str) -> bool:
    """Return whether these endings make two words, and not two forms of one name."""
    short, long = sorted((one, other), key=len)
    if short:  # "Europa" and "Europe" are one, as are cases of a name
        return len(long) == MAX_FORM_CHARS
    return 0 < len(long) <= MAX_FORM_CHARS and long not in SAME_NAME_ENDINGS


def _is_cut_off(words: Sequence[QueryWord], run: Sequence[Link], known: set[int]) -> bool:
    """Return whether a word is a part of a name whose rest the document does not know.

    "State Route 180" is not what a page on routes is called, nor "Cloud Run" one on a cloud, and
    "the shelter's price" is not a list of prices. The first word of a sentence is no name for its
    capital: "Summarize Kerber's agreement".
    """
    if len(run) > 1:
        return False
    number = run[0].word
    before, after = number - 1, number + 1
    if before > 0 and words[before].lower == "s" and before - 1 not in known:
        return True
    if not words[number].name:
        return False
    is_behind = before > 0 and words[before].name and not words[before].apart
    if is_behind and not words[number].apart and before not in known:
        return True
    is_ahead = after < len(words) and words[after].name and not words[after].apart
    return is_ahead and after not in known


def is_of_another(words: Sequence[QueryWord], mention: Mention, links: Iterable[Link]) -> bool:
    """Return whether a name behind it is that of another document: "the mutual NDA with Acme"."""
    tie, name = mention.last + 1, mention.last + 2
    if name >= len(words) or words[tie].lower not in TYING_WORDS or not words[name].name:
        return False
    is_apart = words[tie].apart or words[name].apart
    holders = {link.document_id for link in links if link.word == name}
    return not is_apart and bool(holders) and mention.document_id not in holders


def _names(words: Sequence[QueryWord], run: Sequence[Link], mention: Mention) -> bool:
    """Return whether a run names its document: by a rare name, initials, or most of its title."""
    before = words[mention.first - 1].lower if mention.first else ""
    if before in INDEFINITE_WORDS:
        return False
    if before in MENTION_COUNTS or any(link.initials for link in run):
        return True
    if before in ASKING_WORDS and not any(words[link.word].name for link in run):
        return False
    definite = before in DEFINITE_WORDS and not _is_relative(words, mention.first - 1)
    several = sum(link.named for link in run) > 1
    if any(link.named and link.rare and words[link.word].name for link in run):
        # "the Researcher" is a role and no name, "the Seeed agreement" has one.
        return mention.last > mention.first or not definite
    covered = _covered(run)
    is_rare = any(link.rare for link in run)
    if definite and several:
        return covered >= 0.5 or is_rare
    # "the registry" of which many documents speak is a topic, whatever a page is called, and
    # "run Fenner" is not Fenner Running.
    return covered == 1 and (is_rare if definite else several and _is_written_out(words, run))


def _is_relative(words: Sequence[QueryWord], number: int) -> bool:
    """Return whether a "that" follows what it stands for: "scripts that npm install runs"."""
    if words[number].lower != "that" or number < 2 or words[number].apart:
        return False
    return words[number - 1].lower not in PLACE_PREPOSITIONS | {"and", "or"}


def _is_whole(words: Sequence[QueryWord], run: Sequence[Link]) -> bool:
    """Return whether a run is a title in full, and no topic amid a question on something else."""
    is_title = len(run) > 1 and _covered(run) == 1
    in_capitals = all(words[link.word].text[0].isupper() for link in run)
    return is_title and (in_capitals or run[-1].word == len(words) - 1)


def _is_written_out(words: Sequence[QueryWord], run: Sequence[Link]) -> bool:
    """Return whether a run has a title's words in their order, or those of a file's name."""
    title = iter(QUERY_WORD.findall(run[0].title.lower()))
    if all(any(_are_one(words[link.word].lower, other) for other in title) for link in run):
        return True
    return run[0].file_terms > 1 and all(link.in_file for link in run)


def _are_one(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (long.startswith(short) and long[len(short) :] in SAME_NAME_ENDINGS)


def _covered(run: Sequence[Link]) -> float:
    link = run[0]
    in_title = sum(link.in_title for link in run) / max(link.title_terms, 1)
    in_file = sum(link.in_file for link in run) / max(link.file_terms, 1)
    return min(max(in_title, in_file), 1)  # a file may write two words as one


def _is_certain(words: Sequence[QueryWord], mention: Mention, rivals: Sequence[Mention]) -> bool:
    """Return whether only this document is named so, or as many as the query says there are."""
    alike = {rival.document_id for rival in rivals}
    number = words[mention.first - 1].lower if mention.first else ""
    return len(alike) == MENTION_COUNTS.get(number, 1)


def says_which(words: Sequence[QueryWord], mention: Mention, cues: Cues) -> bool:
    """Return whether a mention says more than that there is a document.

    "The document" may be any, whatever a page is called; "the Document page" is one.
    """
    return any(
        words[number].name or words[number].lower not in cues.any_document
        for number in mention.held
    )


def keep_certain(
    words: Sequence[QueryWord], mentions: Sequence[Mention], cues: Cues
) -> list[Mention]:
    """Return the mentions that can be nothing else, where several documents seem to be named.

    Of titles in one sentence, "launch a worker from the command line", none is what the others are
    said of: they are what is asked.
    """
    if len({mention.document_id for mention in mentions}) < 2:
        return list(mentions)
    return [mention for mention in mentions if _is_nothing_else(words, mention, cues)]


def _is_nothing_else(words: Sequence[QueryWord], mention: Mention, cues: Cues) -> bool:
    """Return whether a mention is written as a name, or says its sort as "the travel policy"."""
    before = words[mention.first - 1].lower if mention.first else ""
    if mention.by_initials or before in MENTION_COUNTS:
        return True
    if any(words[number].name for number in mention.held):
        return True
    last = words[mention.first : mention.last + 2][-2:]
    return before in DEFINITE_WORDS and any(word.lower in cues.document_words for word in last)


def make_hint(query: str, words: Sequence[QueryWord], mentions: Sequence[Mention]) -> str:
    """Return the words that name documents; where these are initials, the title as well."""
    parts = []
    for mention in mentions:
        parts.append(query[words[mention.first].start : words[mention.last].end])
        if mention.by_initials:
            parts.append(mention.title)
    return ", ".join(dict.fromkeys(parts))


def remove_mentions(query: str, words: Sequence[QueryWord], mentions: Sequence[Mention]) -> str:
    """Return a query without the words that name documents and the small words that led to them."""
    kept: list[str] = []
    position = 0
    for mention in mentions:
        if not mention.is_listed and all(words[word].code for word in mention.held):
            continue
        start = words[_led(words, mention.first)].start
        if start >= position and not (
            position and MENTION_CONJUNCTION.fullmatch(query[position:start])
        ):
            kept.append(query[position:start])
        end = words[mention.last].end
        possessive = POSSESSIVE_ENDING.match(query, end)
        position = max(position, possessive.end() if possessive else end)
    return _tidy("".join([*kept, query[position:]])) if position else query


def remove_naming_clauses(
    query: str, words: Sequence[QueryWord], mentions: Sequence[Mention]
) -> str:
    """Return a query without the clauses that only say which document is meant.

    "under the lease", "Acme's", the Acme of "my Acme account": a clause goes whole or stays whole,
    so that verbs keep their subjects and objects.
    """
    kept: list[str] = []
    position = 0
    for mention in mentions:
        clause = _introduction(query, words, mention) or _naming_clause(query, words, mention)
        start, end = clause or (position, position)
        if position <= start < end:
            kept.append(query[position:start])
            position = end
    return _tidy("".join([*kept, query[position:]])) if position else query


def _introduction(
    query: str, words: Sequence[QueryWord], mention: Mention
) -> tuple[int, int] | None:
    """Return where what introduces a document begins and ends: "Consider Acme's lease; …".

    A sign parts it from the question, and but for the name it has hardly a word of its own. What
    begins with the name and says more of it is no such clause: "Acme pays late; …".
    """
    first, last = mention.first, mention.last
    before = takewhile(lambda sign: sign not in CLAUSE_SIGNS, reversed(query[: words[first].start]))
    start = words[first].start - len("".join(before))
    sign = CLAUSE_SIGN.search(query, words[last].end)
    if sign is None or "?" in sign[0]:
        return None
    leading = [word for word in words[:first] if word.start >= start]
    following = [word for word in words[last + 1 :] if word.end <= sign.start()]
    if _own_words(leading) > MAX_LEADING_WORDS or _own_words(following) > MAX_FOLLOWING_WORDS:
        return None
    is_owner = bool(POSSESSIVE_ENDING.match(query, words[last].end))
    return (start, sign.end()) if leading or is_owner or not following else None


def _own_words(words: Sequence[QueryWord]) -> int:
    """Count the words that are not small ones, without a noun that "of" ties to the name."""
    lowered = [word.lower for word in words]
    while len(lowered) > 1 and lowered[-1] in DEFINITE_WORDS:
        lowered.pop()
    if len(lowered) > 1 and lowered[-1] in OWNERSHIP_WORDS:
        lowered = lowered[: -1 - MAX_TIED_WORDS]
    return sum(word not in SMALL_WORDS for word in lowered)


def _naming_clause(
    query: str, words: Sequence[QueryWord], mention: Mention
) -> tuple[int, int] | None:
    """Return where a clause begins and ends; None where the words are also what is asked about."""
    start, end = words[mention.first].start, words[mention.last].end
    if possessive := POSSESSIVE_ENDING.match(query, end):
        return start, possessive.end()
    led = _led(words, mention.first)
    if led and words[led - 1].lower == "according":
        led -= 1
    opens, closes = led == 0, not re.match(r"\s*[\w(]", query[end:])
    if led < mention.first and words[led].lower in CLAUSE_OPENINGS and (opens or closes):
        return words[led].start, end
    owned = mention.first and words[mention.first - 1].lower in OWNING_WORDS
    # A word may be missing although something follows: "my Acme (".
    if owned and not closes and any(word.text.islower() for word in words[mention.last + 1 :][:1]):
        return start, end + 1
    return None


def _led(words: Sequence[QueryWord], first: int) -> int:
    """Return where the article and the preposition before a mention begin."""
    for small in (MENTION_COUNTS.keys(), DEFINITE_WORDS, PLACE_PREPOSITIONS):
        if first and words[first - 1].lower in small:
            first -= 1
    return first


LOOSE_WORD = re.compile(
    r" (?:and|or|vs|versus|between|in|of|under|for|from|to|with|by|the)(?= ?(?:[?.!,;:]|$))", re.I
)


def _tidy(text: str) -> str:
    text = " ".join(text.split())
    for _ in range(3):
        text = LOOSE_WORD.sub("", text)
    text = re.sub(r"(?<![ ,;:])[ ,;:]+(?=[?.!]*$)| (?=[?.!,;:](?!\w))", "", text)
    return text.lstrip(" ,;:.?!").strip()
