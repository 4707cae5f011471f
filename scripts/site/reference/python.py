"""The Python interface, for autodoc: classes, their options and results, errors, adapters.

What is listed follows from the code: the types that the methods' signatures name, and the types
that those hold.
"""

import inspect
import typing
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import lexichord
from lexichord import errors
from lexichord.langchain import LexichordRetriever as LangchainRetriever
from lexichord.llama_index import LexichordRetriever as LlamaIndexRetriever
from lexichord.retrieve.stages import Stages
from lexichord.types import Ranked
from reference.markdown import page

FOR_TYPES = {"Stages": Stages}  # which the client imports for type checkers alone
CLASSES = (lexichord.SyncLexichord, lexichord.Lexichord)
ADAPTERS = (LangchainRetriever, LlamaIndexRetriever)


def markdown() -> str:
    """Return what stands below the page's beginning."""
    options, results = signature_types()
    known = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    return page(
        "## Applications\n",
        *(_directive(each, members=True, inherited=True) for each in CLASSES),
        "## Options\n",
        *(_directive(each, members=True) for each in options),
        "## Results\n",
        *(_directive(each) for each in results),
        "## Adapters\n",
        *(_directive(each) for each in ADAPTERS),
        "## Errors\n",
        *(_directive(each) for each in sorted(known, key=_by_depth)),
    )


def signature_types() -> tuple[list[type], list[type]]:
    """Return the package's types that parameters lead to, and those that results alone lead to."""
    options: set[type] = set()
    results: set[type] = {Ranked}  # which a caller's own reranker returns
    for method in _methods(lexichord.Lexichord):
        hints = get_type_hints(method, localns=FOR_TYPES)
        _collect([hints.pop("return", None)], results)
        hints.pop("self", None)  # of methods that are functions elsewhere
        _collect(hints.values(), options)
    return sorted(options, key=_name), sorted(results - options, key=_name)


def _methods(owner: type) -> Iterator[Any]:
    for name, member in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_") or name == "__init__":
            yield member


def _collect(hints: Iterable[object], into: set[type]) -> None:
    """Add the package's own classes among the hints, and those that they hold in turn."""
    for hint in hints:
        inner = getattr(hint, "__value__", hint)  # of a type alias
        # A callable's parameters are a list among its arguments.
        _collect(inner if isinstance(inner, list) else get_args(inner), into)
        if not inspect.isclass(inner) or not inner.__module__.startswith("lexichord."):
            continue
        if inner not in into and inner not in CLASSES:
            into.add(inner)
            _collect(_held(inner), into)


def _held(owner: type) -> Iterable[object]:
    hints = get_type_hints(owner, localns=FOR_TYPES, include_extras=False)
    if is_dataclass(owner):
        return [hints[field.name] for field in fields(owner)]
    return hints.values() if typing.is_typeddict(owner) else ()


def _directive(each: type, *, members: bool = False, inherited: bool = False) -> str:
    options = [
        *([":members:"] if members else []),
        *([":undoc-members:"] if typing.is_typeddict(each) else []),
        *([":inherited-members:"] if inherited else []),
        *([":show-inheritance:"] if issubclass(each, Exception) else []),
    ]
    lines = [f".. autoclass:: {_name(each)}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```\n"])


def _name(each: type) -> str:
    """Return the name that users import it by, where that is one."""
    home = "lexichord" if each in CLASSES else each.__module__
    return f"{home}.{each.__qualname__}"


def _by_depth(each: type) -> tuple[int, str]:
    return len(each.__mro__), each.__name__
