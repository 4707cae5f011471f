"""What sort of thing a question wants, and whether a sentence holds such a thing.

By the question's own words, in English: what is asked for by "when", "how long", "how much" is of a
type that a pattern can find, whatever the document is about (the answer's type of Li & Roth, 2002).
Where no type is told, no sentence is preferred for it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

from lexichord.retrieve.evidence.values import find_values
from lexichord.retrieve.numbers import MONTH, SPELLED_NUMBER
from lexichord.retrieve.understand.cues import AUXILIARY_VERB

type WantedType = Literal[
    "duration",
    "start",
    "end",
    "date",
    "amount",
    "number",
    "person",
    "place",
    "reason",
    "how-to",
    "yes/no",
    "definition",
]

_LEAD = r"(?:^|[,;:.?!] |\b(?:and|but|so|tell me|know|say) )"
_WHAT = r"\b(?:what|which)(?:'?s| is| are| was)?(?: the)?[^?,]{0,40}\b"


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


# The first that fits.
QUESTION_TYPES: Mapping[WantedType, re.Pattern[str]] = {
    "duration": _words(
        r"\bhow (?:long|soon|quickly)\b",
        rf"{_WHAT}(?:period|duration|term|length of time|time ?frame|notice)\b",
        r"\bhow (?:many|much) (?:\w+ )?(?:days?|weeks?|months?|years?|hours?|minutes?)\b",
        r"\bhow much (?:\w+ )?(?:notice|time)\b",
        r"\bhow far (?:in advance|ahead)\b",
    ),
    "start": _words(
        r"\bwhen\b.{0,80}\b(?:start|begin|began|commence|take effect|come into force)(?:s|ed|d)?\b",
        r"\b(?:start|starting|begin|commencement|effective) date\b|\bdate of commencement\b",
    ),
    "end": _words(
        r"\bwhen\b.{0,80}\b(?:end|expire|run out|cease|finish|lapse)(?:s|ed|d|es)?\b",
        r"\b(?:end|ending|expiry|expiration|termination) date\b|\b(?:till|until) when\b",
    ),
    "date": _words(
        rf"{_LEAD}(?:since |until |by |from )?when\b",
        r"\b(?:what|which) (?:date|day|year|month|century|decade|time)\b",
    ),
    "amount": _words(
        r"\bhow (?:much|expensive|high|big|large)\b",
        rf"{_WHAT}(?:price|fees?|costs?|rate|rent|salary|amount|penalty|interest|percent(?:age)?"
        r"|share|limit|cap|deposit|budget)\b",
    ),
    "number": _words(
        r"\bhow (?:many|often|far|old|tall|wide|deep|fast|hot|cold)\b",
        r"\b(?:what|which) (?:number|population|size|distance)\b",
    ),
    "person": _words(
        rf"{_LEAD}(?:to |with |by |for |from |of )?(?:who|whom|whose)\b",
        r"\b(?:what|which) (?:company|party|person|people|organi[sz]ation|team|king|queen)\b",
    ),
    "place": _words(
        rf"{_LEAD}(?:from |in )?where\b",
        r"\b(?:what|which) (?:country|city|place|state|town|river|continent|region|courts?|address"
        r"|folder|directory|file)\b",
    ),
    "reason": _words(r"\bwhy\b", r"\bwhat (?:is|was) the reason\b|\bwhat caused\b|\bhow come\b"),
    "how-to": _words(
        r"\bhow (?:do|can|should|would|could|must|does) ?(?:i|we|you|one|somebody|someone)?\b",
        r"\bhow to\b|\bwhat (?:is|are) the steps\b|\bway to\b",
    ),
    "yes/no": _words(rf"^(?:(?:so|and|but|hi|ok|please)[, ]+)*{AUXILIARY_VERB}\b"),
    "definition": _words(
        r"^(?:so )?what(?:'?s| is| are| was| were) (?:an? |the )?[\w -]{2,40}\??$",
        r"\bwhat (?:does|do|did)\b.{1,60}\b(?:mean|stand for)\b|\bdefin(?:e|ition)\b",
        r"\bmeaning of\b",
    ),
}

CENTURY_OR_YEAR = re.compile(
    r"(?<![\w.,])\d{3,4}(?![\w%]|[.,]\d)|\b\d{1,2}(?:st|nd|rd|th) century\b|\b\w+day\b"
)
RECURRING_DATE = _words(
    rf"\b{MONTH}\b",
    r"\b(?:first|last|\d{1,2}(?:st|nd|rd|th)) (?:\w+ )?day\b",
    r"\b(?:every|each) (?:\w+ )?(?:day|week|month|quarter|year|\w+day)\b|\b(?:month|quarter|year)ly\b",
    r"\b(?:within|no later than|before|until|after|by)\b[^.;]{0,40}"
    r"\b(?:hours?|days?|weeks?|months?|years?)\b",
)
OPEN_END = _words(r"\b(?:forever|indefinitely|perpetual\w*|immediately|as long as|until)\b")
COUNT = _words(r"\d", r"\b(?:once|twice|dozen|hundreds|daily|weekly|monthly|yearly|annually)\b")
NAME = re.compile(r"(?<=[\w,;:] )(?:the )?[A-Z][\w'’&-]+")
PLACE = re.compile(
    r"\b(?:in|at|from|to|near|of|under|into|inside)\s+(?:the\s+)?(?:[A-Z][\w'’-]+|`[^`]+`|[\w.-]*/)"
)
REASON = _words(
    r"\b(?:because|since|due to|owing to|so that|in order to|therefore|as a result|caused?|reasons?"
    r"|leads? to|led to|thus|to avoid|to prevent|to ensure)\b"
)
STEP = _words(
    r"^\W*(?:first|then|next|now|finally|to \w+|you (?:can|should|need|must|have to|could|may)"
    r"|just|simply|use|create|add|import|install|run|set|call|pass|write|define|declare|open|click"
    r"|select|go|send|contact|make|put|return|enable|disable|configure|start|stop|update|remove"
    r"|delete|visit|choose|include|copy|see|check|press|type|enter)\b",
    r"`[^`]+`",
)
MODAL = _words(
    r"\b(?:not|no|never|none|only|unless|except|may|must|shall|can|cannot|will|required|allowed"
    r"|permitted|prohibited|forbidden|entitled|without|optional|possible)\b|n['’]t\b"
)
DEFINING = _words(
    r"\b(?:is|are|was|were) (?:an?|the|any|all|one|what|used|defined|called|known)\b",
    r"\b(?:means|stands for|refers to|defined as|known as|called|consists? of)\b",
)


def _holds_value(*kinds: str) -> Callable[[str], bool]:
    return lambda text: any(value.kind in kinds for value in find_values(text))


START = _words(
    r"\b(?:from|begins?|began|beginning|starts?|started|starting|commenc\w+|effective|in force|as of"
    r"|since|takes? effect|enters? into)\b"
)
END = _words(
    r"\b(?:ends?|ended|ending|expir\w+|until|till|terminat\w+|ceas\w+|lapses?|finish\w*|to)\b"
)


DATED = (_holds_value("date"), CENTURY_OR_YEAR.search, RECURRING_DATE.search)


def _is_dated(words: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: bool(words.search(text)) and any(holds(text) for holds in DATED)


SENTENCE_TYPES: Mapping[WantedType, tuple[Callable[[str], object], ...]] = {
    "duration": (_holds_value("duration"), OPEN_END.search),
    "start": (_is_dated(START),),
    "end": (_is_dated(END),),
    "date": DATED,
    "amount": (_holds_value("amount", "percentage"), COUNT.search, SPELLED_NUMBER.search),
    "number": (COUNT.search, SPELLED_NUMBER.search),
    "person": (NAME.search,),
    "place": (PLACE.search,),
    "reason": (REASON.search,),
    "how-to": (STEP.search,),
    "yes/no": (MODAL.search,),
    "definition": (DEFINING.search,),
}


def wanted_type(question: str) -> WantedType | None:
    """Return the type of thing that a question wants; None where it is not told."""
    return next((name for name, words in QUESTION_TYPES.items() if words.search(question)), None)


def holds_wanted(wanted: WantedType, sentence: str) -> bool:
    """Return whether a sentence holds something of a type."""
    return any(holds(sentence) for holds in SENTENCE_TYPES[wanted])
