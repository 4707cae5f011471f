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
    from onnx import TensorProto, helper, numpy_helper, save
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(IDS, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, IDS[name]) for name in ("[CLS]", "[SEP]")]
    )
    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask")
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["factors"]),
        helper.make_node("Mul", ["words", "factors"], ["seen"]),
        helper.make_node("ReduceSum", ["seen", "tokens"], ["sum"], keepdims=0 if pooled else 1),
        helper.make_node("Mul", ["sum", "share"], ["context"]),
        helper.make_node("Add", ["words", "context"], ["states"]),
    ]
    name, sizes = ("sum", shape[:1]) if pooled else ("states", shape)
    constants = {
        "table": TABLE,
        "last": np.array([2]),
        "tokens": np.array([1]),
        "share": np.array(CONTEXT_SHARE, np.float32),
    }
    model = helper.make_model(
        helper.make_graph(
            nodes[: 5 if pooled else None],
            "tiny",
            inputs,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [*sizes, DIMENSION])],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=9,
    )
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / "model.onnx")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / file).write_text(json.dumps(said))
