"""What the reader is trained on: questions with windows of passages, as token ids and spans.

A window is `[CLS] question [SEP] title, passage [SEP]`, cut to `LENGTH` tokens. Answers are first
and last tokens of it; none where the window does not answer.
"""

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from tokenizers import Tokenizer

LENGTH = 256  # tokens of a window
QUESTION = 56  # of them at most for the question, and
TITLE = 16  # for the title
OVERLAP = 64  # tokens that a window repeats of the one before

# Positives of a set at most in a pass, so that no kind dominates; a set that is not here is whole.
CAPS = {
    "squad_train_part.en": 12000,
    "squadshifts_newwiki.en": 6000,
    "squadshifts_amazon.en": 2500,
    "squadshifts_reddit.en": 2500,
    "cuad.en": 4500,
    "bioasq.en": 4500,
    "medquad.en": 2500,
    "fairytaleqa.en": 4000,
    "friendsqa.en": 1500,
}
STATED_SHARE = 0.12  # of examples, that many more ask whether the text says what a sentence says
STATED_FORMS = (
    "Does the document say that {}?",
    "Does the text state that {}?",
    "does it mention that {}",
    "Is it true that {}?",
    "{}",
    "{}?",
    "where does it say that {}",
)
KEPT_WORDS = (0.5, 0.9)  # the least and the most share of a sentence's words that such a one has
HEADING_FORMS = ("How do I {}?", "how to {}", "How can I {}?", "{}", "{}?", "what about {}?")
# The line or sentence before a block of code, with the code; a sentence that begins a section.
SECTION_ANSWER = re.compile(
    r"(?:(?<=[.!?] )|^)(?!```|[#|>])[^\n.!?]{10,300}[^\n]?\n+```.{5,500}?```", re.M | re.S
)
FIRST_SENTENCE = re.compile(r"(?![`#|>])[^\n]{30,400}?[.!?:](?=\s|\Z)")
MAX_BEFORE, MAX_BODY, MAX_AFTER = 300, 900, 200  # characters of a section and those around it
SCORED = {"policyqa_dev.en", "qed_nq.en", "covidqa.en", "piaf.fr", "documentation"}
# Their questions speak of "the author" or "they": another passage may answer them as well.
WITHOUT_NEGATIVES = {"squadshifts_amazon.en", "squadshifts_reddit.en", "friendsqa.en"}


@dataclass(frozen=True)
class Example:
    question: str
    title: str
    passage: str
    answers: tuple[tuple[int, int], ...]  # characters of the passage
    source: str


@dataclass
class Window:
    ids: list[int]
    second: int  # the first token of the title
    passage: int  # the first token of the passage
    spans: list[tuple[int, int]] = field(default_factory=list)  # first and last token
    offsets: list[tuple[int, int]] = field(default_factory=list)  # characters of passage tokens
    source: str = ""


def read_set(file: Path) -> list[Example]:
    source = file.name.removesuffix(".jsonl.gz").replace("hardneg-", "hardneg/")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Example(
            row["question"].strip(),
            re.sub(r"[_+]|%\w\w", " ", row["title"] or ""),
            row["passage"],
            tuple((a["start"], a["start"] + len(a["text"])) for a in row["answers"]),
            source,
        )
        for row in rows
    ]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Negatives:
    """Passages of a set that are near a question by words and do not answer it."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.passages = list(dict.fromkeys((e.title, e.passage) for e in examples))
        self.words = [set(words(passage)) for _, passage in self.passages]
        self.found: dict[str, list[int]] = defaultdict(list)
        for number, known in enumerate(self.words):
            for word in known:
                self.found[word].append(number)
        self.gold = defaultdict(set)
        for example in examples:
            if example.answers:
                self.gold[example.title, example.question.lower()].add(example.passage)

    def near(self, example: Example, same_title: bool, generator: random.Random) -> Example | None:
        scores: Counter[int] = Counter()
        total = len(self.passages)
        for word in set(words(example.question)):
            places = self.found.get(word, ())
            if len(places) < 0.2 * total + 5:
                for number in places:
                    scores[number] += 1000 // (10 + len(places))
        texts = {example.passage[a:b].lower() for a, b in example.answers}
        near = []
        for number, _ in scores.most_common(60):
            title, passage = self.passages[number]
            fits = (title == example.title) == same_title and passage != example.passage
            if fits and not self._answers(example, title, passage, texts):
                near.append((title, passage))
            if len(near) == 3:
                break
        if not near:
            return None
        title, passage = generator.choice(near)
        return Example(example.question, title, passage, (), example.source)

    def _answers(self, example: Example, title: str, passage: str, texts: set[str]) -> bool:
        if passage in self.gold[title, example.question.lower()]:
            return True
        return any(text in passage.lower() for text in texts)


def is_kept_back(example: Example) -> bool:
    """Return whether an example is of the documents of its set that the reader is scored on."""
    return example.source in SCORED and crc32(example.title.encode()) % 4 == 0


def mixed(
    folder: Path,
    without: Sequence[str],
    seed: int,
    pages: Sequence[Path] = (),
    languages: Sequence[str] = ("en",),
) -> list[Example]:
    """Return a pass of examples in these languages: each set to its cap, with negatives.

    "all" are all. They are in any order.
    """
    generator = random.Random(seed)
    examples = [one for folder in pages for one in documentation(folder) if not is_kept_back(one)]
    examples += [one for each in [*examples] * 3 if (one := stated(each, generator))]
    examples += with_negatives(examples, examples, generator)
    for file in sorted(folder.glob("*.jsonl.gz")):
        language = file.name.split(".")[1]
        if not {language, "all"} & {*languages} or any(name in file.name for name in without):
            continue
        every = [example for example in read_set(file) if not is_kept_back(example)]
        source = every[0].source
        positives = [e for e in every if e.answers]
        negatives = [e for e in every if not e.answers]
        generator.shuffle(positives)
        generator.shuffle(negatives)
        positives = positives[: CAPS.get(source, len(positives))]
        negatives = negatives[: max(len(positives) // 2, 2000)]
        if source not in WITHOUT_NEGATIVES and positives:
            asked = (stated(one, generator) for one in every if generator.random() < STATED_SHARE)
            positives += filter(None, asked)
            negatives += with_negatives(positives, every, generator)
        examples += positives + negatives
    generator.shuffle(examples)
    return examples


def with_negatives(
    positives: Sequence[Example], every: Sequence[Example], generator: random.Random
) -> Iterator[Example]:
    """Yield passages that do not answer, for a part of the questions."""
    index = Negatives(every)
    for example in positives:
        for same_title, share in ((True, 0.35), (False, 0.25)):
            if generator.random() < share:
                near = index.near(example, same_title, generator)
                if near is not None:
                    yield near


def stated(example: Example, generator: random.Random) -> Example | None:
    """Return a question whether a passage says what one of its sentences says, in fewer words."""
    places = [
        (found.start(), found.end())
        for found in re.finditer(r"[^.!?\n]{40,300}[.!?]", example.passage)
    ]
    if not places:
        return None
    start, end = generator.choice(places)
    sentence = example.passage[start:end].strip()
    start = example.passage.index(sentence, start)
    share = generator.uniform(*KEPT_WORDS)
    kept = [word for word in sentence.rstrip(".!?").split() if generator.random() < share][:30]
    if len(kept) < 4:
        return None
    question = generator.choice(STATED_FORMS).format(" ".join(kept))
    span = (start, start + len(sentence))
    return Example(question, example.title, example.passage, (span,), "stated")


def documentation(folder: Path) -> Iterator[Example]:
    """Yield a question for each section of Markdown pages.

    What leads to its first block of code answers it, with the code, or else its first sentence; the
    sections before and after stand around it, as in a chunk.
    """
    for file in sorted(folder.rglob("*.md")):
        text = re.sub(r"<!--.*?-->|\{\s*[.#*:][^}]*\}", "", file.read_text(), flags=re.S)
        title = re.sub(r"[#`]", "", text.lstrip().partition("\n")[0]).strip()
        parts = re.split(r"^(#{1,4} .+)$", text, flags=re.M)
        for number in range(1, len(parts), 2):
            heading, body = parts[number].strip(), parts[number + 1].strip()
            answer = SECTION_ANSWER.search(body) or FIRST_SENTENCE.match(body)
            if answer is None or len(heading.split()) > 9 or answer.end() - answer.start() < 30:
                continue
            before = f"{parts[number - 1].strip()[-MAX_BEFORE:]}\n\n{heading}\n\n"
            after = "".join(parts[number + 2 : number + 4])[:MAX_AFTER]
            span = len(before) + answer.start(), len(before) + answer.end()
            passage = f"{before}{body[:MAX_BODY]}\n\n{after}"
            if span[1] <= len(before) + MAX_BODY:
                asked = heading.strip("# ?`").replace("`", "")
                form = HEADING_FORMS[(number + len(heading)) % len(HEADING_FORMS)]
                question = form.format(asked[:1].lower() + asked[1:])
                yield Example(question, title, passage, (span,), "documentation")


def as_typed(question: str, title: str, generator: random.Random) -> str:
    """Return a question as people type it: without marks, or with the title in front."""
    drawn = generator.random()
    if drawn < 0.2:
        question = question.rstrip("?. ")
    elif drawn < 0.27 and title and len(title) < 60:
        question = generator.choice(
            (f"{title}: {question}", f"{question.rstrip('?')} in {title}?", f"{title} {question}")
        )
    return question


def windows(tokenizer: Tokenizer, question: str, title: str, passage: str) -> Iterator[Window]:
    """Yield a passage's windows, without spans."""
    asked = tokenizer.encode(question, add_special_tokens=False).ids[:QUESTION]
    named = tokenizer.encode(title, add_special_tokens=False).ids[:TITLE]
    first_mark, last_mark = tokenizer.encode("").ids
    if named:
        named += tokenizer.encode(".", add_special_tokens=False).ids
    whole = tokenizer.encode(passage, add_special_tokens=False)
    room = LENGTH - len(asked) - len(named) - 3
    first = 0
    while True:
        last = min(first + room, len(whole.ids))
        head = [first_mark, *asked, last_mark, *named]
        yield Window(
            [*head, *whole.ids[first:last], last_mark],
            len(asked) + 2,
            len(head),
            offsets=list(whole.offsets[first:last]),
        )
        if last == len(whole.ids):
            return
        first = last - OVERLAP


def mark(window: Window, answers: Sequence[tuple[int, int]]) -> None:
    """Store the spans of the answers that lie wholly in a window."""
    for start, end in answers:
        inside = [number for number, (a, b) in enumerate(window.offsets) if a < end and start < b]
        if not inside:
            continue
        a, b = window.offsets[inside[0]][0], window.offsets[inside[-1]][1]
        if a <= start and end <= b:
            window.spans.append((window.passage + inside[0], window.passage + inside[-1]))


def training_windows(
    tokenizer: Tokenizer, example: Example, generator: random.Random
) -> Iterator[Window]:
    """Yield a window that holds the answer and, of a long passage, at times one that does not."""
    title = example.title if generator.random() < 0.8 else ""
    question = as_typed(example.question, example.title, generator)
    every = list(windows(tokenizer, question, title, example.passage))
    for window in every:
        window.source = example.source
        mark(window, example.answers)
    holding = [w for w in every if w.spans]
    lacking = [w for w in every if not w.spans and not _touches(w, example.answers)]
    if holding:
        yield generator.choice(holding)
    if lacking and generator.random() < (0.25 if example.answers else 1.0):
        yield generator.choice(lacking)


def _touches(window: Window, answers: Sequence[tuple[int, int]]) -> bool:
    if not window.offsets:
        return True
    first, last = window.offsets[0][0], window.offsets[-1][1]
    return any(start < last and first < end for start, end in answers)
