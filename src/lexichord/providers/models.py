"""The models that have a name here: one table for what is fetched, listed and told of them.

Others run too, from a folder of their own or from any repository of the hub that holds ONNX.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from unicodedata import normalize

from lexichord.errors import NotFoundError, some_names

type ModelKind = Literal["embedder", "reranker"]
type Pooling = Literal["mean", "first token"]

ONNX = "onnx/model.onnx"
INT8 = "-int8"  # at the end of an embedder's name: its copy with weights of 8 bits
ENGLISH = "en"
LATIN = re.compile(r"[A-Za-z\u00AA-\u024F\u1E00-\u1EFF]")
# Codes as the model's card lists them; Norwegian, "no" there, also as documents' are told.
MULTILINGUAL_E5 = (
    "af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he "
    "hi hr hu hy id is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my nb ne nl nn "
    "no om or pa pl ps pt ro ru sa sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh "
    "yi zh"
)
# The 52 that it was trained for; its encoder has seen some 200.
GRANITE_R2 = (
    "ar az bg bn ca cs da de el en es et fa fi fr he hi hr hu id is it ja ka kk km ko lt lv mr ms "
    "nb nl nn no pl pt ro ru sk sl sq sr sv sw te th tl tr uk ur uz vi zh"
)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """What is known of a model before it is here.

    `weights` is the file that is fetched of the hub's `repository`, with the tokenizer and what
    describes the model; `megabytes` is about what that comes to. `languages` are codes of those
    that it was trained on, `tokens` how many it reads of a text, of question and text together in
    a reranker. `prompts` stand before a "query" and a "document". `digests` are sha256 by file,
    where a public source states them: for all others the hub's own are compared. `unfit` says why
    what the repository holds does not do, and what would.
    """

    name: str
    kind: ModelKind
    repository: str
    weights: str
    megabytes: int
    licence: str
    languages: tuple[str, ...]
    tokens: int
    dimension: int | None = None
    pooling: Pooling | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    unfit: str | None = None

    @property
    def setting(self) -> str:
        """What names it in settings: an embedder's space, or a reranker."""
        return f"local/{self.name}" + (f"/{self.dimension}" if self.dimension else "")


E5_PROMPTS = {"query": "query: ", "document": "passage: "}
_TABLE = (
    NamedModel(
        name="all-MiniLM-L6-v2",
        kind="embedder",
        repository="sentence-transformers/all-MiniLM-L6-v2",
        weights="model.safetensors",
        megabytes=91,
        licence="Apache-2.0",
        languages=(ENGLISH,),
        tokens=256,
        dimension=384,
        pooling="mean",
        digests={
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ),
    NamedModel(
        # of intfloat/e5-small-v2: whether that holds ONNX itself no source of ours tells
        name="e5-small-v2",
        kind="embedder",
        repository="Xenova/e5-small-v2",
        weights=ONNX,
        megabytes=134,
        licence="MIT",
        languages=(ENGLISH,),
        tokens=512,
        dimension=384,
        pooling="mean",
        prompts=E5_PROMPTS,
    ),
    NamedModel(
        # without the prompt that its card leaves open: with it hybrid search found a little less
        name="bge-small-en-v1.5",
        kind="embedder",
        repository="BAAI/bge-small-en-v1.5",
        weights=ONNX,
        megabytes=134,
        licence="MIT",
        languages=(ENGLISH,),
        tokens=512,
        dimension=384,
        pooling="first token",
    ),
    NamedModel(
        name="snowflake-arctic-embed-s",
        kind="embedder",
        repository="Snowflake/snowflake-arctic-embed-s",
        weights=ONNX,
        megabytes=134,
        licence="Apache-2.0",
        languages=(ENGLISH,),
        tokens=512,
        dimension=384,
        pooling="first token",
        prompts={"query": "Represent this sentence for searching relevant passages: "},
    ),
    NamedModel(
        name="multilingual-e5-small",
        kind="embedder",
        repository="intfloat/multilingual-e5-small",
        weights=ONNX,
        megabytes=487,
        licence="MIT",
        languages=tuple(MULTILINGUAL_E5.split()),
        tokens=512,
        dimension=384,
        pooling="mean",
        prompts=E5_PROMPTS,
        digests={ONNX: "ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665"},
    ),
    NamedModel(
        # in 8 bits, on any processor, whatever the file's name says
        name="granite-embedding-97m-multilingual-r2",
        kind="embedder",
        repository="ibm-granite/granite-embedding-97m-multilingual-r2",
        weights="onnx/model_quint8_avx2.onnx",
        megabytes=112,
        licence="Apache-2.0",
        languages=tuple(GRANITE_R2.split()),
        tokens=32768,
        dimension=384,
        pooling="first token",
    ),
    NamedModel(
        name="ms-marco-MiniLM-L6-v2",
        kind="reranker",
        repository="cross-encoder/ms-marco-MiniLM-L6-v2",
        weights=ONNX,
        megabytes=92,
        licence="Apache-2.0",
        languages=(ENGLISH,),
        tokens=512,
    ),
    NamedModel(
        name="ettin-reranker-17m",
        kind="reranker",
        repository="cross-encoder/ettin-reranker-17m-v1",
        weights=ONNX,
        megabytes=70,
        licence="Apache-2.0",
        languages=(ENGLISH,),
        tokens=8192,
        unfit=(
            "its ONNX is the encoder alone, without the layers that score a pair: "
            "export the whole model, one number a pair,"
        ),
    ),
)
MODELS: Mapping[str, NamedModel] = {model.name: model for model in _TABLE}


# Best first, by vectors alone, nDCG@10 of policies, documentation and XQuAD en: e5-small-v2 44.5,
# 91.1, 96.8, bge-small-en-v1.5 42.8, 89.8, 95.5, multilingual-e5-small 40.3, 89.5, 96.6, MiniLM
# 40.8, 84.3, 92.4; the others by their published figures.
PREFERRED = (
    "e5-small-v2",
    "granite-embedding-97m-multilingual-r2",
    "snowflake-arctic-embed-s",
    "bge-small-en-v1.5",
    "multilingual-e5-small",
    "all-MiniLM-L6-v2",
)
MULTILINGUAL_STEPS = (
    "run: lexichord models fetch multilingual-e5-small, then "
    f"lexichord reembed --to {MODELS['multilingual-e5-small'].setting}"
)


def known_languages(space: str) -> frozenset[str] | None:
    """Return the codes of the languages that a space's model was trained on, None if not known."""
    whole = space.replace(f"{INT8}/", "/")
    trained = (model.languages for model in MODELS.values() if model.setting == whole)
    return next(map(frozenset, trained), None)


def reads(space: str, text: str) -> bool:
    """Return whether a model can tell what a text means: not by letters that it hardly has seen.

    Of letters other than Latin ones a model of English makes vectors that spoil what words find:
    nDCG@10 of XQuAD's Chinese .967 by words and .965 with them, by vectors alone .311. Spanish and
    German, of which it knows the letters and many words, gain by them.
    """
    return known_languages(space) != frozenset({ENGLISH}) or is_latin(text)


def is_latin(text: str) -> bool:
    """Return whether at least half of a text's letters are Latin ones."""
    # Each by itself: a text's marks are put in order by the square.
    letters = [letter for each in text for letter in normalize("NFKC", each) if letter.isalpha()]
    foreign = sum(not LATIN.match(letter) for letter in letters)
    return 2 * foreign <= len(letters)


def find_named(name: str) -> NamedModel | None:
    """Return the model of a name here or of a repository; None where the table has none."""
    own = (model for model in MODELS.values() if name in (model.name, model.repository))
    return next(own, None)


def no_such_model(name: str, others: Iterable[str] = (), or_else: str = "") -> NotFoundError:
    """Return the error for a name that neither the table nor `others` have."""
    known = some_names([*MODELS, *others], [name])
    return NotFoundError(f"there is no model {name!r}: take one of {known}{or_else}")
