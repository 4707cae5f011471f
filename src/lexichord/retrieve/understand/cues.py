"""The kind, names and parts of a query, by its words alone.

English cues, whole words only; what stands in quotes is mentioned, not said, and gives no cue.
Only the ends of a long text are read, so that its length costs no more than copying it.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from lexichord.types.options import IntentKind

MAX_READ_CHARS = (
    2000  # characters at each end: a pasted text has its instruction before or after it
)

QUOTED_PHRASE = re.compile(
    r'"([^"\n]{2,300})"|“([^”\n]{2,300})”|„([^“”\n]{2,300})[“”]|«([^»\n]{2,300})»'
    r"|(?<!\w)['\u2018]([^'\u2018’\n]{2,300})['’](?!\w)"
)
# Where an instruction or a question may begin, once a sentence's opening is passed.
INSTRUCTION_BREAK = re.compile(r"[?!\n]+|[.;:]\s")
POLITE_OPENING = re.compile(
    r"(?:(?:please|kindly|now|then|and|also|ok|okay|hi|hello|just|briefly|quickly|so|but"
    r"|(?:can|could|would|will) you|(?:i|we) (?:want|need|would like)(?: you)? to"
    r"|(?:i'd|we'd) like(?: you)? to|let us|let's|help me|go and|try to|know"
    r"|find out|see)\b[ ,]*)+",
    re.I,
)
PLACE_OPENING = re.compile(
    r"(?:in|under|for|from|within|across|per|of|on|as|with|by|according to|based on|looking at)\b"
    r"[^,]{1,200}, *",
    re.I,
)

QUESTION_WORD = r"(?:who|whom|whose|what|when|where|which|why|how)"
AUXILIARY_VERB = (
    r"(?:is|are|was|were|am|do|does|did|may|must|can|could|shall|will|would|should|has|have|had"
    r"|might|need)"
)
INDIRECT_OBJECT = r"(?:(?:me|us|i|we) )?"
REQUEST_VERB = (
    r"(?:give|send|get|show|write|provide|draft|make|prepare|need|want|tell|produce|create"
    r"|(?:i'd|we'd|would) like)"
)
REQUEST = rf"{INDIRECT_OBJECT}{REQUEST_VERB} {INDIRECT_OBJECT}"
COMPARATIVE = (
    r"(?:longer|shorter|higher|lower|larger|smaller|bigger|greater|better|worse|stricter|looser"
    r"|broader|narrower|stronger|weaker|earlier|later|sooner|faster|slower|cheaper|fewer|more"
    r"|less)"
)
SUPERLATIVE = (
    r"(?:longest|shortest|highest|lowest|largest|smallest|biggest|greatest|best|worst|strictest"
    r"|broadest|narrowest|strongest|weakest|earliest|latest|fastest|slowest|cheapest|fewest"
    r"|most|least)"
)
COUNT_WORD = r"(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,3})"


def _cue(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


# Tried in this order, at the beginning of each sentence (AT) or anywhere in it (IN).
COMPARISON_OPENING = _cue(
    r"(?:compare|contrast|distinguish|differentiate)\b",
    r"(?:what (?:is|are) )?(?:the )?(?:main |key )?(?:comparison|differences?|similarities)\b"
    r".{0,200}\b(?:between|of|among|across)\b",
    rf"{REQUEST}(?:an? |the )?(?:\w+ )?comparison\b|side[ -]by[ -]side\b",
    r"what (?:distinguishes|sets)\b",
    r"(?:is|are|do|does)\b.{0,200}\b(?:the same(?= (?:in|as|for|across|way|under)\b|$)"
    r"|different|differently|alike|similar|identical)\b(?! to\b)",
    rf"(?:which|who|whose)\b.{{0,200}}\b(?:{COMPARATIVE}|{SUPERLATIVE})\b(?! than)",
    rf"(?:what|how) (?:do|does|about) (?:the |these |those |our )?(?:both|all|{COUNT_WORD})\b"
    r".{0,80}\b(?:say|says|state|provide|treat|handle|regulate|deal|define|require|put)\b",
    r"how (?:do|does|did)\b.{0,200}\bcompare\b",
)
COMPARISON_WITHIN = _cue(
    r"\b(?:vs|versus)\b",
    r"\b(?:differs?|differences?|differ)\b.{0,200}\b(?:between|from|among|across)\b",
    r"^(?:how|where|do|does|in what)\b.{0,200}\bdiffer\b",
    r"\bcompare and contrast\b|\b(?:compared|in comparison) (?:to|with)\b",
    rf"(?<!how much )(?<!how many )\b{COMPARATIVE}(?: \w+){{0,3}} than"
    r" (?:that|those|in|under|the|what|its|our)\b",
)
LIST_OPENING = _cue(
    r"(?:list|enumerate|itemi[sz]e)\b(?! price)",
    r"(?:show|find|give|name|get|extract|display|collect|identify|tell|return|pull out|look up)"
    r"(?: me| us)? (?:\w+ )?(?:all|every|each)\b",
    r"extract (?:the|any)\b",
    rf"{REQUEST}(?:an? |the )?(?:complete |full |exhaustive |whole )?(?:list|table)"
    r" (?:of|with)\b",
    r"(?:an? |the )?(?:complete|full|exhaustive|whole|entire) list\b",
    r"(?:everything|all|every)\b(?! (?:in all|else|things considered|right|good))",
    r"(?:what|which|who|where) (?:are|is) (?:all|every|each)\b",
    r"(?:what|which) all\b|(?:what|which) (?:\w+ )?are there\b",
    r"(?:which|what) of (?:the|our|my|these|those|their) \w+s\b",
    r"which \w+[^\Wsiu]s (?!the\b|an?\b|to\b|in\b|it\b|of\b|for\b|on\b|first\b)\w*[^\Ws]\b",
)
SUMMARY_OPENING = _cue(
    r"(?:summari[sz]e|sum up|recap|condense|outline|describe|brief (?:me|us)|abridge)\b",
    r"(?:an? |the )?(?:short |brief |quick |concise |executive |high-level |one-page )?"
    r"(?:summary|overview|outline|synopsis|gist|digest|abstract)(?: (?:of|for|on|about)\b|:|$)",
    r"(?:what (?:is|are) )?(?:the )?(?:key|main|most important|essential)"
    r" (?:points|terms|takeaways|facts|ideas)\b",
    rf"{REQUEST}(?:an? |the )?(?:\w+ )?"
    r"(?:summary|overview|outline|synopsis|gist|digest|rundown)\b",
    rf"{REQUEST}(?:the )?(?:key|main) (?:points|takeaways)\b",
    r"(?:what is|what's|what are|what was)\b.{1,200}\b(?:all )?about$",
    r"tl;? ?dr\b",
)
SUMMARY_WITHIN = _cue(
    r"\bin a nutshell\b|\bin (?:a few|two|three|five) (?:sentences|bullets|words)\b"
)
GENERAL_OPENING = _cue(
    r"why\b|explain\b|how come\b|tell me (?:more )?about\b|what if\b|discuss\b",
    r"how to\b|how (?:do|can|should|would|could|might) (?:i|we|you|one|somebody|someone)\b",
    r"how (?:do|does)\b.{1,200}\bworks?$",
    r"(?:what|when|where|who|which)? ?(?:should|would) (?:i|we|you)\b",
    r"(?:is|are|was|would) (?:it|this|that|there) (?:be )?(?:a )?"
    r"(?:good|bad|wise|better|best|worth|worthwhile|sensible|advisable|smart|normal|common|usual)\b",
    r"what do you (?:think|recommend|suggest|advise)\b|(?:do|can) you (?:think|recommend|help)\b",
)
LOOKUP_OPENING = _cue(
    rf"{QUESTION_WORD}\b|{AUXILIARY_VERB} [\w\0]",
    r"(?:find|quote|cite|locate|show|give|tell|look up|look for|search)\b",
    r"(?:section|clause|article|paragraph|schedule|annex|§)",
)


def blank_quoted(query: str) -> str:
    """Return what of a query is read, of the same length, with what it quotes blanked out."""
    return QUOTED_PHRASE.sub(_blank, query)


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
        sentence for part in INSTRUCTION_BREAK.split(text) if (sentence := part.strip(" \t.?!,"))
    ]
    cues = [sentence[start:] for sentence in sentences for start in _starts(sentence)]
    for kind, at, within in KIND_CUES:
        for sentence in cues:
            if match := at.match(sentence) or (within and within.search(sentence)):
                return kind, f"'{match[0][:60]}'"
    if "?" in text and re.search(r"\w", text):
        return "clause_lookup", "a question mark"
    return "general", "no cue"


KIND_CUES: tuple[tuple[IntentKind, re.Pattern[str], re.Pattern[str] | None], ...] = (
    ("comparison", COMPARISON_OPENING, COMPARISON_WITHIN),
    ("list_all", LIST_OPENING, None),
    ("summary", SUMMARY_OPENING, SUMMARY_WITHIN),
    ("general", GENERAL_OPENING, None),
    (
        "clause_lookup",
        LOOKUP_OPENING,
        re.compile(rf", (?:and |so )?(?:{QUESTION_WORD}|{AUXILIARY_VERB}) [\w\0]", re.I),
    ),
)


def _starts(sentence: str) -> list[int]:
    """Return where a sentence begins: after what is polite, and after where to look."""
    start = _after(POLITE_OPENING, sentence, 0)
    return [start, _after(POLITE_OPENING, sentence, _after(PLACE_OPENING, sentence, start))]


def _after(opening: re.Pattern[str], sentence: str, start: int) -> int:
    match = opening.match(sentence, start)
    return match.end() if match else start


QUESTION_JOINT = re.compile(
    rf"(?:,|;)? (?:and|or|as well as|and also|also|plus) (?:also )?(?={QUESTION_WORD}\b)"
    rf"|(?:,|;) (?:and |or )?(?:also )?(?={AUXILIARY_VERB} (?:the|it|they|he|she|we|i|you"
    r"|this|that|there|any|an?|all)\b)"
    r"|(?:,|;)? and (?:also |then )?(?=(?:list|compare|summari[sz]e|explain|describe|extract)\b)"
    r"|(?<=[?!;\n]) *|(?<=\.) ",
    re.I,
)
QUESTION_OPENING = re.compile(
    rf"{QUESTION_WORD}\b|{AUXILIARY_VERB}\b"
    rf"|{COMPARISON_OPENING.pattern}|{LIST_OPENING.pattern}|{SUMMARY_OPENING.pattern}",
    re.I,
)


def find_sub_questions(query: str) -> tuple[str, ...]:
    """Return the questions that a query is made of, verbatim; none if it is one question."""
    text = blank_quoted(query[:MAX_READ_CHARS])
    ends = [
        0,
        *(place for match in QUESTION_JOINT.finditer(text) for place in match.span()),
        len(text),
    ]
    parts = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True) if start < end]
    questions = [query[slice(*part)].strip() for part in parts if _asks(text[slice(*part)].strip())]
    return tuple(questions) if len(questions) > 1 else ()


def _asks(part: str) -> bool:
    start = _starts(part)[-1]
    return bool(re.search(r"\w", part)) and (
        part.endswith("?") or bool(QUESTION_OPENING.match(part, start))
    )


# What a list is asked of, not what it is about: "every clause on", "all the places that mention".
LIST_GENUS = re.compile(
    r"[ ,:]*(?:(?:all|every|each|the|any|of|a|full|complete|list) )*"
    r"(?:(?:clause|provision|passage|section|paragraph|sentence|statement|mention|reference|place"
    r"|instance|case|thing|part|rule|term|point)s? )?"
    r"(?:(?:that|which|where) )?(?:(?:is|are|was|were) )?(?:said |written |found |there )*"
    r"(?:(?:on|about|of|for|with|to|concerning|regarding|mentions?|speaks? of|deals? with) )*",
    re.I,
)


def find_listed(query: str) -> str:
    """Return what a list is to hold, without the order to list it: "List every X" is about X."""
    start = _starts(blank_quoted(query[:MAX_READ_CHARS]))[-1]
    order = LIST_OPENING.match(blank_quoted(query), start)
    if order is None:
        return query
    genus = LIST_GENUS.match(query, order.end())
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
# Begins a sentence without being a name, unless it is written with capitals inside.
OPENING_WORD = re.compile(
    rf"(?:{QUESTION_WORD}|{AUXILIARY_VERB}|the|an?|in|under|for|from|within|across|per|of|on|as|with|by|at|to"
    r"|according|and|or|but|so|if|also|please|my|our|your|his|her|its|their|this|that|these|those"
    r"|we|he|she|it|they|you|all|every|each|both|any|some|no|not|yes|compare|list|summari[sz]e"
    r"|describe|explain|find|show|give|tell|quote|extract|hello|hi|thanks?|summary|overview)",
    re.I,
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
    plain = DAY_AND_MONTH.sub(_blank, CODE_IDENTIFIER.sub(_blank, plain))
    entities |= dict(_names(plain))
    return tuple(dict.fromkeys(entities[start].strip() for start in sorted(entities)))


def _blank(match: re.Match[str]) -> str:
    return "\0" * len(match[0])  # neither a word nor a space


def _names(text: str) -> Iterator[tuple[int, str]]:
    if not re.search(r"[a-z]", text):
        return  # capitals tell nothing where there are only capitals
    for match in PROPER_NAME.finditer(text):
        words = [(word.start(), word[0]) for word in re.finditer(r"\S+", match[0])]
        while words and OPENING_WORD.fullmatch(words[0][1]):
            words.pop(0)
        for start, name in _parted(words):
            at = match.start() + start
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
