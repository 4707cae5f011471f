"""The options of a search and of a query: one home for names, types, defaults, bounds and texts.

Other forms are made from `describe(QueryOptions)`, which has a `Described` for each option by name:
- HTTP, MCP: `Field(each.default, description=each.option.text, **each.option.bounds(served=True))`
- CLI: `typer.Option(help=each.option.text, min=each.option.minimum, max=each.option.maximum)`
- Python: a method spells its keywords out, and reads them by `QueryOptions.select(locals())`.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, wraps
from inspect import signature
from math import inf
from numbers import Real
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

from lexichord.errors import ConfigError
from lexichord.types.json import Json

IntentKind = Literal["clause_lookup", "comparison", "list_all", "summary", "general"]
Mode = Literal["hybrid", "dense", "keyword"]
ContextFormat = Literal["simple", "structured", "qa"]
Unit = Literal["characters", "tokens"]
LlmStage = Literal["intent", "boost", "rewrite", "answer", "reflect"]
ScoreName = Literal["dense", "keyword", "fused", "variants", "rerank"]


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
    def choices(self) -> tuple[str, ...]:
        """The values that it may have, beside None; empty where they are not counted."""
        kinds = () if self.is_list else (self.type, *get_args(self.type))
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())

    @property
    def is_list(self) -> bool:
        """Whether it takes several values."""
        return get_origin(self.type) is Sequence

    def check(self, value: object) -> None:
        """Raise ConfigError for a value that cannot be meant."""
        if value is None and type(None) in get_args(self.type):
            return
        if self.is_list:
            no_single_text(**{self.name: value})
        elif self.choices and value not in self.choices:
            raise ConfigError(f"there is no {self.name} {value!r}: {', '.join(self.choices)}")
        elif self.option.minimum is not None:
            self._check_number(value)

    def _check_number(self, value: object) -> None:
        minimum, maximum = self.option.minimum, self.option.maximum
        assert minimum is not None
        if not isinstance(value, Real):
            raise ConfigError(f"{self.name} must be a number, not {value!r}")
        if not minimum <= float(value) <= (inf if maximum is None else maximum):
            bounds = (
                f"at least {minimum}" if maximum is None else f"between {minimum} and {maximum}"
            )
            raise ConfigError(f"{self.name} must be {bounds}, not {value}")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How and where to search: what `search`, `files`, `query` and the lists of documents share.

    The form of `filter` is described in docs/sql/search.md. Raises ConfigError for a value that
    cannot be meant.
    """

    k: Annotated[int, Option("How many results at most.", minimum=1, served_maximum=1_000)] = 10
    depth: Annotated[
        int,
        Option(
            "Candidates of each channel, as many as k or more.",
            minimum=100,
            maximum=10_000,
            served_maximum=1_000,
        ),
    ] = 100
    mode: Annotated[Mode, Option("By meaning, by words, or by both.")] = "hybrid"
    datasets: Annotated[
        Sequence[str], Option("Only these datasets; by default all.", served_items=100)
    ] = ()
    documents: Annotated[
        Sequence[int | str], Option("Only these: ids, uris or the ends of uris.", served_items=100)
    ] = ()
    uri_prefix: Annotated[str | None, Option("Only documents whose uri begins with this.")] = None
    filter: Annotated[Json | None, Option("Only documents with this metadata.")] = None
    # None: the weights that were measured, `db.search.MODE_WEIGHTS`.
    dense_share: Annotated[
        float | None,
        Option(
            "The weight of meaning in mode hybrid, by default as measured.", minimum=0, maximum=1
        ),
    ] = None

    def __post_init__(self) -> None:
        for name, each in describe(type(self)).items():
            each.check(getattr(self, name))

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Self:
        """Read options by name. Raises ConfigError, also for one that there is not."""
        no_other_options(options, describe(cls))
        return cls(**options)

    @classmethod
    def select(cls, arguments: Mapping[str, Any]) -> Self:
        """Read the options among a method's arguments, which are `locals()` at its beginning."""
        return cls(**{name: arguments[name] for name in describe(cls)})


@dataclass(frozen=True, kw_only=True)
class QueryOptions(SearchOptions):
    """What `query` takes beyond that.

    `rewrite` searches the question in other words, too. `fallbacks` are queries of the caller's,
    tried in turn while the evidence is too little to answer by. `reflect` searches again for what
    the evidence does not cover, at most `rounds` times, until it covers `min_coverage` of the
    question, 0 to 1; where a model grades answers, until its lowest grade is at least `min_grade`,
    0 to 1. `budget_ms` is what all rounds, models and rerankers may take together.

    `llm` names a language model as DSPy does, in place of the setting, and `llm_stages` what it
    does: by default rewrites, answers and grades, where `rewrite`, `answer` and `reflect` ask.
    """

    hint: Annotated[str | None, Option("Which documents are meant, in words.")] = None
    intent: Annotated[IntentKind | None, Option("By default the question tells.")] = None
    instructions: Annotated[
        str | None, Option("Its words are searched as well, with less weight.")
    ] = None
    variants: Annotated[
        int,
        Option("Ways of asking at most, the original among them.", minimum=1, served_maximum=20),
    ] = 4
    files: Annotated[int, Option("How many files.", minimum=1, served_maximum=100)] = 5
    rewrite: Annotated[bool, Option("Search the question in other words, too.")] = False
    fallbacks: Annotated[
        Sequence[str], Option("Searched in turn while nothing answers.", served_items=10)
    ] = ()
    reflect: Annotated[bool, Option("Search again for what the evidence lacks.")] = False
    rounds: Annotated[int, Option("Of reflection, at most.", minimum=0, served_maximum=10)] = (
        2  # as kbbridge has it
    )
    budget_ms: Annotated[
        float,
        Option(
            "Of models, rerankers and reflection, together.",
            unit="milliseconds",
            minimum=0,
            served_maximum=600_000,
        ),
    ] = 30_000.0  # kbbridge's time for one request
    min_coverage: Annotated[
        float, Option("Of the question, that ends reflection.", minimum=0, maximum=1)
    ] = 0.7  # the threshold of kbbridge's reflection, not tuned here
    min_grade: Annotated[
        float, Option("Of an answer, by a model, that ends reflection.", minimum=0, maximum=1)
    ] = 0.7  # kbbridge's threshold as well
    llm: Annotated[str | None, Option("A language model as DSPy names it: vendor/model.")] = None
    # These run only where their own option asks for them. Whether a model reads queries or knows
    # keywords better than the words themselves do was measured with none yet: so they must be
    # named.
    llm_stages: Annotated[
        Sequence[LlmStage], Option("What the language model does, if there is one.", served_items=5)
    ] = ("rewrite", "answer", "reflect")
    format: Annotated[ContextFormat, Option("How the evidence is written.")] = "simple"
    max_length: Annotated[
        int, Option("Of the evidence.", unit="unit", minimum=1, served_maximum=1_000_000)
    ] = 4000
    unit: Annotated[Unit, Option("What max_length counts.")] = "characters"
    answer: Annotated[bool, Option("Write one, in the evidence's own words.")] = False
    min_score: Annotated[
        Mapping[str, float], Option("The least of named scores that a hit needs.", served_items=10)
    ] = field(default_factory=dict)
    # They say what to make of the evidence, not what it is about: rerankers then prefer glossaries.
    neutral: Annotated[
        Sequence[str], Option("Words that a reranker does not see.", served_items=100)
    ] = (
        *("list", "lists", "listing", "enumerate", "extract"),
        *("definition", "definitions", "define", "defines", "glossary", "glossaries"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := set(self.min_score).difference(get_args(ScoreName)):
            named, there = ", ".join(sorted(unknown)), ", ".join(get_args(ScoreName))
            raise ConfigError(f"there is no score {named}: {there}")


def describe(model: type[SearchOptions]) -> Mapping[str, Described]:
    """Return what is known of each option, by name, in the order of the fields."""
    return _described(model)  # type: ignore[arg-type]  # mypy takes an instance's hash for a class's


@cache
def _described(model: type[SearchOptions]) -> Mapping[str, Described]:
    hints = get_type_hints(model, include_extras=True)
    described = {}
    for each in fields(model):
        kind, option = get_args(hints[each.name])
        make = each.default_factory
        default = each.default if make is MISSING else make()
        described[each.name] = Described(each.name, kind, default, option)
    return MappingProxyType(described)


def only_known_options[**P, R](
    method: Callable[P, Awaitable[R]],
) -> Callable[P, Coroutine[Any, Any, R]]:
    """Refuse a keyword that a method does not take by ConfigError, as a setting is refused."""
    known = signature(method).parameters

    @wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        no_other_options(kwargs, known)
        return await method(*args, **kwargs)

    return call


def no_other_options(options: Iterable[str], known: Collection[str]) -> None:
    """Raise ConfigError for an option that nobody reads."""
    if unknown := set(options).difference(known):
        raise ConfigError(f"there is no option {', '.join(sorted(unknown))}")


def no_single_text(**values: object) -> None:
    """Raise ConfigError for one text where several are taken, not to read it letter by letter."""
    for name, value in values.items():
        if isinstance(value, str | bytes):
            raise ConfigError(f"{name} takes a list: write {name}=[{value!r}]")
