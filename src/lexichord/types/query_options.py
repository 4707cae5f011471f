"""The options of a search and of a query: one home for names, types, defaults, bounds and texts.

What cannot be meant is refused here, too, so that each form of an option refuses the same.

Other forms are made from `describe(QueryOptions)`, which has a `Described` for each option by name:
- HTTP, MCP: `Field(each.default, description=each.option.text, **each.option.bounds(served=True))`
- CLI: `typer.Option(help=each.option.text, min=each.option.minimum, max=each.option.maximum)`
- Python: `**options: Unpack[QueryArguments]`, read by `QueryOptions.read(options)`.

A test walks all of these and compares names, types and defaults.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from numbers import Integral, Real
from os import PathLike
from reprlib import repr as shorten
from types import MappingProxyType, NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
)

from lexichord.errors import ConfigError, likeness
from lexichord.types.base import Json

IntentKind = Literal["clause_lookup", "comparison", "list_all", "summary", "general"]
Mode = Literal["hybrid", "dense", "keyword"]
ContextFormat = Literal["simple", "structured", "qa"]
LlmStage = Literal["intent", "boost", "rewrite", "answer", "reflect"]
ContextKind = Literal["none", "structural", "given", "llm"]
ContextPart = Literal["title", "heading", "keyphrases", "edges", "symbols"]  # of the structural
Recording = Literal["off", "on", "text"]  # text: with the question's words
Marking = Literal["keep", "mark", "drop"]  # of what readers of a file see otherwise than as text

# Of an evaluation.
Extractor = Literal["rules", "llm"]  # of the entities of answers
DEFAULT_STRATEGIES = ("keyword", "vector", "hybrid", "pipeline")
DEFAULT_KS = (5, 10, 20)  # ranks

MAX_DEPTH = 10_000  # candidates of a channel
DEFAULT_FILES = 5  # that a query looks into
MAX_INTEGER = 2**31 - 1  # what an integer of Postgres holds


@dataclass(frozen=True, slots=True)
class Option:
    """What an option is for, what it is counted in, and between which bounds.

    `served_maximum` and `served_items` (of a list or mapping) bound what is accepted over a
    network, where others pay for it.
    """

    text: str
    unit: str = ""
    minimum: int | None = None
    maximum: int | None = None
    served_maximum: int | None = None
    served_items: int | None = None

    def bounds(self, served: bool = False) -> dict[str, int]:
        """Return the bounds as pydantic's `Field` takes them; `served`, those over a network."""
        has_own = served and self.served_maximum is not None
        maximum = self.served_maximum if has_own else self.maximum
        items = self.served_items if served else None
        bounds = {"ge": self.minimum, "le": maximum, "max_length": items}
        return {name: bound for name, bound in bounds.items() if bound is not None}


@dataclass(frozen=True, slots=True)
class Described:
    """An option by its name, its type without metadata, its default, and what it is for."""

    name: str
    type: Any
    default: Any
    option: Option

    @property
    def kind(self) -> Any:  # noqa: ANN401
        """Its type where it is not None."""
        kinds = [kind for kind in get_args(self.type) if kind is not NoneType]
        return kinds[0] if self.may_be_none else self.type

    @property
    def may_be_none(self) -> bool:
        """Whether it may be left open."""
        return NoneType in get_args(self.type)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have, beside None; empty where they are not counted."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def is_list(self) -> bool:
        """Whether it takes several values."""
        return get_origin(self.kind) is Sequence

    def read(self, value: object) -> Any:  # noqa: ANN401
        """Return a value as it is meant. Raises ConfigError for one that cannot be meant."""
        if value is None and self.may_be_none:
            return None
        if self.is_list:
            return self._read_list(value)
        if self.choices:
            return _read_choice(self.name, value, self.choices)
        if self.kind in (int, float):
            minimum, maximum = self.option.minimum, self.option.maximum
            assert minimum is not None
            return read_number(self.name, value, minimum, maximum, whole=self.kind is int)
        return OPTION_READERS[self.kind](self.name, value)

    def _read_list(self, value: object) -> tuple[Any, ...]:
        if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
            raise ConfigError(f"{self.name} takes a list, not {_show(value)}")
        items = tuple(several(value))
        # Without this a list that a program finds empty would search everything.
        if self.may_be_none and not items:
            raise ConfigError(
                f"{self.name} is an empty list: name one at least, or leave it out for all"
            )
        for item in items:
            if not isinstance(item, str):
                raise ConfigError(f"{self.name} takes a list of texts, not {_show(item)} in it")
        return items


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of one kind, each read as its description says. Raises ConfigError."""

    def __post_init__(self) -> None:
        for name, each in describe(type(self)).items():
            object.__setattr__(self, name, each.read(getattr(self, name)))

    @classmethod
    def read(
        cls, options: Mapping[str, Any], method: str = "it", own: Collection[str] = ()
    ) -> Self:
        """Read options by name. Raises ConfigError, also for one that `method` does not take.

        `own` are names that the method reads itself: what a misspelt one may mean.
        """
        known = describe(cls)
        meant = {*known, *own, *describe(SearchOptions), *describe(QueryOptions)}
        no_other_options(options, meant)
        if others := set(options).difference(known):
            raise ConfigError(f"{method} does not take {', '.join(sorted(others))}: leave it out")
        return cls(**options)


@dataclass(frozen=True, kw_only=True)
class ScopeOptions(Options):
    """Which documents: what all methods share that look at several.

    The form of `filter` is described in docs/sql/search.md. Raises ConfigError for a value that
    cannot be meant, as an empty list of datasets or documents.
    """

    datasets: Annotated[
        Sequence[str] | None,
        Option("Only these datasets; by default all.", served_items=100),
    ] = None
    documents: Annotated[
        Sequence[str] | None,
        Option("Only these: ids, uris or the ends of uris.", served_items=100),
    ] = None
    uri_prefix: Annotated[str | None, Option("Only documents whose uri begins with this.")] = None
    filter: Annotated[Json | None, Option("Only documents with this metadata.")] = None


@dataclass(frozen=True, kw_only=True)
class RankedOptions(ScopeOptions):
    """How many results, and by what: what `search`, `files`, `keywords` and `query` share."""

    k: Annotated[int, Option("How many results at most.", minimum=1, served_maximum=1_000)] = 10
    mode: Annotated[Mode, Option("By meaning, by words, or by both.")] = "hybrid"


@dataclass(frozen=True, kw_only=True)
class SearchOptions(RankedOptions):
    """How and where to search: what `search`, `files` and `keywords` share."""

    depth: Annotated[
        int,
        Option(
            "Candidates of each channel, as many as k or more.",
            minimum=100,
            maximum=MAX_DEPTH,
            served_maximum=1_000,
        ),
    ] = 100
    # None: the weights that were measured, sql/constants/default_weights.sql.
    dense_share: Annotated[
        float | None,
        Option(
            "The weight of meaning in mode hybrid, by default as measured.", minimum=0, maximum=1
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > self.depth:  # by the words of SQL's check
            raise ConfigError(
                f"k ({self.k}) is more than the {self.depth} candidates of a channel: "
                "raise depth as well"
            )


@dataclass(frozen=True, kw_only=True)
class ReflectOptions(Options):
    """When reflection ends; the thresholds are those of kbbridge's, not tuned here."""

    rounds: Annotated[int, Option("At most.", minimum=0, served_maximum=10)] = 2
    min_coverage: Annotated[float, Option("Of the question.", minimum=0, maximum=1)] = 0.7
    min_grade: Annotated[
        float, Option("The lowest of an answer's, where a model grades.", minimum=0, maximum=1)
    ] = 0.7


@dataclass(frozen=True, kw_only=True)
class QueryOptions(RankedOptions):
    """What `query` takes.

    `fallbacks` are queries of the caller's, tried in turn while the evidence is too little to
    answer by. `reflect` searches again for what the evidence does not cover; in place of True it
    takes when to end, as `ReflectOptions` or as JSON has them. `budget_ms` is what all rounds,
    models, rerankers and the database may take together.

    `llm_stages` is what the language model of the settings does: by default rewrites, answers and
    grades, where `rewrite`, `answer` and `reflect` ask. `rewrite` needs one, or a stage of the
    caller's own.
    """

    dense_share: ClassVar[float | None] = None  # as measured

    hint: Annotated[str | None, Option("Which documents are meant, in words.")] = None
    intent: Annotated[IntentKind | None, Option("By default the question tells.")] = None
    instructions: Annotated[
        str | None, Option("Its words are searched as well, with less weight.")
    ] = None
    rewrite: Annotated[bool, Option("Search in other words, too; a language model finds them.")] = (
        False
    )
    fallbacks: Annotated[
        Sequence[str], Option("Searched in turn while nothing answers.", served_items=10)
    ] = ()
    reflect: Annotated[
        bool | ReflectOptions | Json, Option("Search again for what the evidence lacks.")
    ] = False
    budget_ms: Annotated[
        float,
        Option(
            "Of models, rerankers, reflection and the database, together.",
            unit="milliseconds",
            minimum=0,
            served_maximum=600_000,
        ),
    ] = 30_000.0  # kbbridge's time for one request
    # These run only where their own option asks for them. Whether a model reads queries or knows
    # keywords better than the words themselves do was measured with none yet: so they must be
    # named.
    llm_stages: Annotated[
        Sequence[LlmStage], Option("What the language model does, if there is one.", served_items=5)
    ] = ("rewrite", "answer", "reflect")
    format: Annotated[ContextFormat, Option("How the evidence is written.")] = "simple"
    max_length: Annotated[
        int, Option("Of the evidence.", unit="characters", minimum=1, served_maximum=1_000_000)
    ] = 4000
    answer: Annotated[bool, Option("Write one, in the evidence's own words.")] = False
    risk: Annotated[
        float | None,
        Option(
            "The share of answers that may be given without evidence: at less confidence than that "
            "takes the query abstains. By default a fixed threshold.",
            minimum=0,
            maximum=1,
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        read_number("k", self.k, 1, MAX_DEPTH)
        for name, text in (("hint", self.hint), *(("fallback", text) for text in self.fallbacks)):
            if text is not None:
                read_question(name, text)
        if unknown := set(self.llm_stages).difference(get_args(LlmStage)):
            there = ", ".join(get_args(LlmStage))
            raise ConfigError(f"a model does not do {', '.join(sorted(unknown))}, but {there}")

    @property
    def depth(self) -> int:
        """Candidates of each channel."""
        return max(SearchOptions.depth, self.k)

    @property
    def files(self) -> int:
        """How many files: in a comparison each of the documents that were chosen has a row."""
        return max(DEFAULT_FILES, min(len(self.documents or ()), self.depth))

    @property
    def limits(self) -> ReflectOptions:
        """When reflection ends."""
        return self.reflect if isinstance(self.reflect, ReflectOptions) else ReflectOptions()


class ScopeArguments(TypedDict, total=False):
    """See `ScopeOptions`."""

    datasets: Sequence[str] | None
    documents: Sequence[str] | None
    uri_prefix: str | None
    filter: Json | None


class SearchArguments(ScopeArguments, total=False):
    """See `SearchOptions`."""

    k: int
    mode: Mode
    depth: int
    dense_share: float | None


class QueryArguments(ScopeArguments, total=False):
    """See `QueryOptions`."""

    k: int
    mode: Mode
    hint: str | None
    intent: IntentKind | None
    instructions: str | None
    rewrite: bool
    fallbacks: Sequence[str]
    reflect: bool | ReflectOptions | Json
    budget_ms: float
    llm_stages: Sequence[LlmStage]
    format: ContextFormat
    max_length: int
    answer: bool
    risk: float | None


def describe(model: type[Options]) -> Mapping[str, Described]:
    """Return what is known of each option, by name, in the order of the fields."""
    return _described(model)  # type: ignore[arg-type]  # mypy takes an instance's hash for a class's


@cache
def _described(model: type[Options]) -> Mapping[str, Described]:
    hints = get_type_hints(model, include_extras=True)
    described = {}
    for each in fields(model):
        kind, option = get_args(hints[each.name])
        described[each.name] = Described(each.name, kind, each.default, option)
    return MappingProxyType(described)


def no_other_options(options: Iterable[str], known: Collection[str]) -> None:
    """Raise ConfigError for an option that nobody reads."""
    if unknown := set(options).difference(known):
        near = {max(known, key=partial(likeness, name), default="") for name in unknown}
        meant = sorted(one for one in near if any(likeness(name, one) for name in unknown))
        hint = f": did you mean {', '.join(meant)}?" if meant else ""
        raise ConfigError(f"there is no option {', '.join(sorted(unknown))}{hint}")


def read_datasets(datasets: Iterable[str] | None) -> Sequence[str]:
    """Return the datasets that are named, none for all. Raises ConfigError for an empty list."""
    return ScopeOptions.read({"datasets": datasets}).datasets or ()


def several(values: Any) -> Iterable[Any]:  # noqa: ANN401
    """Return values where a single text, path or object stands for a list of one.

    A text is never read letter by letter, nor an object key by key. Raises ConfigError for bytes.
    """
    if isinstance(values, bytes):
        raise ConfigError("bytes are neither a text nor a list of texts: decode them")
    return [values] if isinstance(values, str | PathLike | Mapping) else values


def read_metadata(values: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return keys of metadata with values that JSON has and Postgres stores. Raises ConfigError."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"metadata must be keys with their values, not {_show(values)}")
    try:
        text = json.dumps(dict(values), allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"metadata must be values of JSON: {error}") from None
    if r"\u0000" in text or re.search(r"\\ud[89a-f]", text):
        raise ConfigError("metadata hold a character that Postgres cannot store")
    read: dict[str, Any] = json.loads(text)
    return read


def read_number(
    name: str,
    value: Any,  # noqa: ANN401
    minimum: int,
    maximum: int | None = None,
    *,
    whole: bool = True,
) -> Any:  # noqa: ANN401
    """Return a number within its bounds; a whole one is at most `MAX_INTEGER`. Raises ConfigError.

    Numbers of other libraries, such as NumPy's, become Python's: the database knows no others.
    """
    if not _is_number(value):
        raise ConfigError(f"{name} must be a number, not {_show(value)}")
    if whole and not isinstance(value, Integral):
        raise ConfigError(f"{name} must be a whole number, not {value}")
    if maximum is not None and not minimum <= value <= maximum:
        raise ConfigError(f"{name} must be between {minimum} and {maximum}, not {value}")
    if not value >= minimum:  # not so, too, of what is no number: NaN
        raise ConfigError(f"{name} must be at least {minimum}, not {value}")
    if whole and value > MAX_INTEGER:
        raise ConfigError(f"{name} must be at most {MAX_INTEGER}, not {value}")
    return int(value) if whole else float(value)


def read_question(name: str, text: object) -> str:
    """Return a text that is searched for. Raises ConfigError for one without a word."""
    text = _read_text(f"the {name}", text)
    if not text.strip():
        remedy = "" if name == "query" else ": leave it out"
        raise ConfigError(f"the {name} is empty{remedy}")
    return text


def _read_text(name: str, text: object) -> str:
    if not isinstance(text, str):
        raise ConfigError(f"{name} must be a text, not {_show(text)}")
    return text


def _read_switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, not {_show(value)}")
    return value


def _read_choice(name: str, value: object, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ConfigError(f"there is no {name} {_show(value)}: {', '.join(choices)}")
    return str(value)


def _read_object(name: str, value: object) -> Json:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} must be an object as JSON has it, not {_show(value)}")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name} cannot be written as JSON: {error}") from None
    return value


def _read_reflect(name: str, value: object) -> bool | ReflectOptions:
    if isinstance(value, bool | ReflectOptions):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} takes True, False or when to end, not {_show(value)}")
    return ReflectOptions.read(value, name)


# By the type of an option that is neither a number nor a list nor one of several names.
OPTION_READERS: dict[Any, Callable[[str, object], Any]] = {
    bool: _read_switch,
    str: _read_text,
    Json: _read_object,
    bool | ReflectOptions | Json: _read_reflect,
}


def _is_number(value: object) -> bool:
    """Return whether it is a number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _show(value: object) -> str:
    """Return a value in one short line."""
    return " ".join(shorten(value).split())
