"""A small model of token vectors in ColBERT's form, and MaxSim in plain Python as its oracle."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import mean
from string import punctuation

import numpy as np

from tests.builders import WORDS
from tests.providers.tiny_models import node, save_graph, save_tokenizer

VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", "[Q] ", "[D] "),
    *(".", ",", "?", "rent", "tenant", "rain", "spring", "due"),
    *WORDS,
]
IDS = {word: number for number, word in enumerate(VOCABULARY)}
DIMENSION = 16
TABLE = np.random.default_rng(7).normal(size=(len(VOCABULARY), DIMENSION)).astype(np.float32)
CONTEXT_SHARE = 0.02  # of all tokens that are attended to, in each token's vector

PYLATE = {
    "query_prefix": "[Q] ",
    "document_prefix": "[D] ",
    "query_length": 12,
    "document_length": 20,
    "do_query_expansion": True,
    "attend_to_expansion_tokens": False,
    "skiplist_words": [".", ","],
}
COLBERT = {
    "query_token_id": "[unused0]",
    "doc_token_id": "[unused1]",
    "query_maxlen": 10,
    "doc_maxlen": 16,
    "attend_to_mask_tokens": True,
    "mask_punctuation": True,
    "dim": DIMENSION,
}


@dataclass(frozen=True)
class Oracle:
    """MaxSim as the paper has it, one token after another."""

    markers: tuple[str, str] = ("[Q] ", "[D] ")
    lengths: tuple[int, int] = (12, 20)
    expands: bool = True
    attends: bool = False
    skipped: str = ".,"

    def score(self, question: str, passage: str) -> float:
        """Give the mean of the question's tokens' greatest cosines."""
        asked = read(question, self.markers[0], self.lengths[0])
        filling = [IDS["[MASK]"]] * (self.lengths[0] - len(asked) if self.expands else 0)
        seen = asked + filling if self.attends else asked
        found = read(passage, self.markers[1], self.lengths[1])
        vectors = [
            vector
            for token, vector in zip(found, states(found, found), strict=True)
            if VOCABULARY[token] not in self.skipped
        ]
        return mean(
            max(cosine(one, other) for other in vectors) for one in states(asked + filling, seen)
        )


COLBERT_ORACLE = Oracle(("[unused0]", "[unused1]"), (10, 16), attends=True, skipped=punctuation)


def read(text: str, marker: str, length: int) -> list[int]:
    words = re.findall(r"\w+|[^\w\s]", text.lower().encode(errors="replace").decode())
    opening = ["[CLS]", marker] if marker else ["[CLS]"]
    kept = words[: length - len(opening) - 1]
    return [IDS.get(word, IDS["[UNK]"]) for word in (*opening, *kept, "[SEP]")]


def states(tokens: Sequence[int], seen: Sequence[int]) -> list[list[float]]:
    context = [CONTEXT_SHARE * sum(column) for column in zip(*TABLE[seen].tolist(), strict=True)]
    return [
        [own + around for own, around in zip(TABLE[token].tolist(), context, strict=True)]
        for token in tokens
    ]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def build(
    folder: Path,
    said: Mapping[str, object] = PYLATE,
    file: str = "config_sentence_transformers.json",
    pooled: bool = False,
) -> None:
    """Write a model that looks up a vector a token and adds a share of what stands around it."""
    save_tokenizer(folder, VOCABULARY, ("[CLS]", "[SEP]"), by_signs=True, single="[CLS] $A [SEP]")
    nodes = [
        node("Gather", "table input_ids", "words"),
        node("Cast", "attention_mask", "mask", to=1),
        node("Unsqueeze", "mask last", "factors"),
        node("Mul", "words factors", "seen"),
        node("ReduceSum", "seen tokens", "sum", keepdims=0 if pooled else 1),
        node("Mul", "sum share", "context"),
        node("Add", "words context", "states"),
    ]
    constants = {
        "table": TABLE,
        "last": np.array([2]),
        "tokens": np.array([1]),
        "share": np.array(CONTEXT_SHARE, np.float32),
    }
    shape: list[str | int] = ["batch", DIMENSION] if pooled else ["batch", "tokens", DIMENSION]
    outputs = {"sum" if pooled else "states": shape}
    save_graph(folder / "model.onnx", nodes[: 5 if pooled else None], outputs, constants)
    (folder / file).write_text(json.dumps(said))
