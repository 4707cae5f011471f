"""A caller's own stages: what cannot be one is refused when `Stages` is made."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from functools import partial, wraps
from typing import Any

import pytest

from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.retrieve.search import HINT_FILE_BOOST, boost_files
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.types import ChunkHit, FileHit, Question
from lexichord.types.questions import Intent

type Hits = Sequence[ChunkHit]


async def keep_all(*, question: Question, intent: Intent, hits: Hits) -> Hits:
    return hits


def keep_at_once(*, question: Question, intent: Intent, hits: Hits) -> Hits:
    return hits


async def keep_without_intent(*, question: Question, hits: Hits) -> Hits:
    return hits


async def keep_more(*, question: Question, intent: Intent, hits: Hits, most: int) -> Hits:
    return hits[:most]


async def keep_by_place(question: Question, intent: Intent, hits: Hits, /) -> Hits:
    return hits


class KeepAll:
    """A stage that is an object."""

    async def __call__(self, *, question: Question, intent: Intent, hits: Hits) -> Hits:
        return hits


class KeepAtOnce:
    """An object that is no stage: its call is not async."""

    def __call__(self, *, question: Question, intent: Intent, hits: Hits) -> Hits:
        return hits


def logged[**P, R](function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """Return a plain function that returns what the async one does, as decorators do."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
        return function(*args, **kwargs)

    return call


CALLED_BY = r"it is called with question, intent, hits by name"


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"select_hits": keep_at_once}, "stage select_hits: keep_at_once is not async: write asyn"),
        ({"select_hits": KeepAtOnce()}, "stage select_hits: KeepAtOnce is not async: write async"),
        ({"select_hits": KeepAll}, r"stage select_hits: KeepAll is a class: write KeepAll\(\) for"),
        ({"select_hits": "keep"}, "stage select_hits takes an async function, not 'keep'"),
        ({"discover": None}, "stage discover takes an async function, not None"),
        (
            {"select_hits": keep_without_intent},
            f"stage select_hits: keep_without_intent does not fit: {CALLED_BY} .*'intent'",
        ),
        (
            {"select_hits": keep_by_place},
            f"stage select_hits: keep_by_place does not fit: {CALLED_BY}",
        ),
    ],
)
def test_what_cannot_be_a_stage_is_refused_by_name(stages: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}") as caught:
        Stages(**stages)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "stage", [keep_all, KeepAll(), logged(keep_all), partial(keep_more, most=3), None]
)
def test_what_can_be_called_as_the_stage_is_one(stage: Any) -> None:
    assert Stages(select_hits=stage).over(STAGES).select_hits is stage


def test_the_default_stages_are_called_as_others_are() -> None:
    defaults = {name: stage for name, stage in asdict(STAGES).items() if stage is not None}
    own = Stages(**{name: partial(stage) for name, stage in defaults.items()})
    assert set(own.own()) == set(defaults)


@pytest.mark.parametrize("kind", [Lexichord, SyncLexichord])
@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"select_hits": keep_all}, r"stages takes Stages\(\.\.\.\), not a dict: write Stages"),
        (keep_all, r"stages takes Stages\(\.\.\.\), not a function"),
    ],
)
def test_stages_are_stages(kind: Any, stages: object, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        kind(stages=stages)


async def test_a_hint_boosts_files_by_their_scores() -> None:
    files = [FileHit("doc_7", "default", "a.md", "A", 1.5, scores={}, hits=1)]
    assert await boost_files(files=files, hint="a") == {"doc_7": HINT_FILE_BOOST * 1.5}
