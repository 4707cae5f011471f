"""A reader in ONNX from a folder, of the form of SQuAD's: where an answer starts and ends.

A folder as Hugging Face's optimum writes it, or scripts/train_reader: model.onnx and
tokenizer.json, and it may be reader.json, which says what was fitted with it. The graph gives
start_logits and end_logits, the first token standing for "no answer here" (Devlin et al., 2019),
and may give here_logits, which say whether there is one.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from lexichord.errors import ProviderError
from lexichord.providers import OnDemand
from lexichord.providers.onnx_folder import (
    Graph,
    batches_by_length,
    clean,
    open_folder,
    open_tokenizer,
    opening,
    pad_rows,
    pad_token,
)
from lexichord.types.base import explain_invalid
from lexichord.types.questions import Passage, ReaderFit, Reading, SentenceReading

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

FIT_FILE = "reader.json"
START, END, HERE = "start_logits", "end_logits", "here_logits"
MAX_WINDOW_TOKENS = 256  # of question, title and passage, as in training
OVERLAP_TOKENS = 64  # of a longer passage's windows
MAX_QUESTION_TOKENS = 56
END_MARKS = " \t\n.?!。？！"
MAX_TITLE_CHARS = 80
MAX_PHRASE_TOKENS = 40
BATCH_WINDOWS = 8
WORD_REST = re.compile(r"[^\s,;:!?()\[\]|]*[\w+%]")  # to its last letter, digit, plus or percent

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Window:
    """What the graph says of a window: of each token of the passage, as shares of all that can be.

    `places` are the first and the last character of each token, of shape (tokens, 2).
    """

    here: float
    places: NDArray[np.int64]
    starts: Floats
    ends: Floats


class FolderReader:
    """Reads with the model of a folder on this machine's cores; several queries may share one.

    The model is loaded at the first question.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model = OnDemand(self._load)

    @cached_property
    def fit(self) -> ReaderFit:
        """What the folder's reader.json says; without it, of English alone, nothing was fitted."""
        return read_fit(self._folder / FIT_FILE)

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Return what is made of each passage, in their order. Raises ProviderError."""
        read = self._model.get().read(question, passages)
        return [join_windows(one, read[number]) for number, one in enumerate(passages)]

    def _load(self) -> "SpanModel":
        with opening(self._folder, "reader"):
            return SpanModel.open(self._folder)


def read_fit(file: Path) -> ReaderFit:
    """Read what was fitted with a reader; the default where there is no file.

    Raises ProviderError.
    """
    if not file.exists():
        return ReaderFit()
    try:
        return TypeAdapter(ReaderFit).validate_json(file.read_bytes(), strict=True)
    except OSError as error:
        raise ProviderError(f"'{file}' cannot be read: {error}") from error
    except ValidationError as error:
        wrong = explain_invalid(error)
        raise ProviderError(f"'{file}' is wrong, correct or remove it: {wrong}") from error


def _as_question(question: str) -> str:
    """Return a question with a question mark, typed or not, so that both are judged alike.

    Of 400 questions of five sets 379 have the same best sentence with and without it, and of the
    others as many are right with as without.
    """
    return f"{question.rstrip(END_MARKS)}?"


@dataclass(frozen=True, slots=True)
class SpanModel:
    """A loaded model."""

    tokenizer: "Tokenizer"
    graph: Graph

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the model of a folder. Raises ProviderError, ImportError, OSError, ValueError."""
        graph = open_folder(folder)
        names = [each.name for each in graph.session.get_outputs()]
        if not {START, END}.issubset(names):
            raise ProviderError(
                f"the model in '{folder}' gives {', '.join(names)}, not {START} and {END}: take "
                "one that was made for extracting answers, as SQuAD's are"
            )
        tokenizer = open_tokenizer(folder)
        tokenizer.no_truncation()
        return cls(tokenizer, graph)

    def read(self, question: str, passages: Sequence[Passage]) -> dict[int, list[Window]]:
        """Return the windows of each passage, by its number."""
        asked = self._encode(_as_question(question), MAX_QUESTION_TOKENS)
        openings = [_opening(passage) for passage in passages]
        texts = (opening + one.text for opening, one in zip(openings, passages, strict=True))
        cut = [(number, one) for number, text in enumerate(texts) for one in self._cut(asked, text)]
        read: defaultdict[int, list[Window]] = defaultdict(list)
        for batch in batches_by_length([len(one.ids) for _, one in cut], BATCH_WINDOWS):
            chosen = [cut[place] for place in batch]
            for (number, encoding), window in zip(
                chosen, self._run([encoding for _, encoding in chosen]), strict=True
            ):
                told = _of_passage(encoding, window, len(openings[number]))
                if np.isnan([told.here, told.starts.sum(), told.ends.sum()]).any():
                    raise ProviderError(
                        f"the model in '{self.graph.folder}' gives what is no number: it is "
                        "damaged, get or export it again"
                    )
                read[number].append(told)
        return read

    def _encode(self, text: str, most: int | None = None) -> "Encoding":
        (text,) = clean([text])
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        if most is not None:
            encoding.truncate(most)
        return encoding

    def _cut(self, question: "Encoding", text: str) -> Iterator["Encoding"]:
        """Yield a text's windows behind the question."""
        special = self.tokenizer.num_special_tokens_to_add(True)
        whole = self._encode(text)
        whole.truncate(MAX_WINDOW_TOKENS - special - len(question.ids), OVERLAP_TOKENS)
        for piece in (whole, *whole.overflowing):
            yield self.tokenizer.post_process(question, piece)

    def _run(self, windows: "Sequence[Encoding]") -> Iterator[tuple[Floats, Floats, float | None]]:
        """Yield each window's logits of start and end and, where the graph has it, of "here"."""
        ids, mask = pad_rows([one.ids for one in windows], pad_token(self.tokenizer))
        types, _ = pad_rows([one.type_ids for one in windows], 0)
        outputs = self.graph.run_all(ids, mask, types)
        for row, one in enumerate(windows):
            starts, ends = (outputs[name][row, : len(one.ids)] for name in (START, END))
            here = float(outputs[HERE][row]) if HERE in outputs else None
            yield starts.astype(np.float64), ends.astype(np.float64), here


def _opening(passage: Passage) -> str:
    """Return what stands before a passage's text, so that it is read with it."""
    title = passage.title.strip()[:MAX_TITLE_CHARS]
    return f"{title}. " if title else ""


def _of_passage(
    encoding: "Encoding", logits: tuple[Floats, Floats, float | None], opening: int
) -> Window:
    """Return what a window's logits say of the passage's own tokens, as probabilities."""
    own = [
        token
        for token, (of, (start, _)) in enumerate(
            zip(encoding.sequence_ids, encoding.offsets, strict=True)
        )
        if of == 1 and start >= opening
    ]
    starts, ends = (_softmax(each[[0, *own]]) for each in logits[:2])
    here = 1 - (starts[0] * ends[0]) ** 0.5 if logits[2] is None else _sigmoid(logits[2])
    places = np.array([encoding.offsets[token] for token in own], np.int64).reshape(-1, 2) - opening
    return Window(float(here), places, starts[1:], ends[1:])


def join_windows(passage: Passage, windows: Sequence[Window]) -> Reading:
    """Return a passage's reading: of a token in two windows the likelier counts."""
    best: dict[tuple[int, int], tuple[float, float]] = {}
    for window in windows:
        for place, start, end in zip(
            map(tuple, window.places.tolist()), window.starts, window.ends, strict=True
        ):
            known = best.get(place, (0.0, 0.0))
            best[place] = max(known[0], float(start)), max(known[1], float(end))
    places = sorted(best)
    total = sum(start for start, _ in best.values()) or 1.0
    sentences = []
    for first, last in passage.sentences:
        inside = [place for place in places if first <= place[0] < last]
        share = sum(best[place][0] for place in inside) / total
        phrase = _phrase(inside, best, (first, last))
        sentences.append(SentenceReading(share, *_whole_words(passage.text, phrase, last)))
    here = max((window.here for window in windows), default=0.0)
    return Reading(here, tuple(sentences))


def _phrase(
    inside: Sequence[tuple[int, int]],
    best: Mapping[tuple[int, int], tuple[float, float]],
    whole: tuple[int, int],
) -> tuple[int, int]:
    """Return the likeliest stretch of a sentence's tokens; all of it where it has none."""
    pairs = (
        (best[first][0] * best[last][1], first[0], last[1])
        for number, first in enumerate(inside)
        for last in inside[number : number + MAX_PHRASE_TOKENS]
    )
    _, start, end = max(pairs, default=(0.0, *whole))
    return start, end


def _whole_words(text: str, phrase: tuple[int, int], end: int) -> tuple[int, int]:
    """Return a phrase as far as its last word goes, before the end of its sentence.

    A token ends within "3.9+" and an address.
    """
    rest = WORD_REST.match(text, phrase[1], end)
    return phrase[0], rest.end() if rest else phrase[1]


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
