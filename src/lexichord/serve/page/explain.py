"""How a response came about as its page draws it: what each stage cost, which list gave which hit.

The figures are those of the response's explanation, none is worked out anew but shares of a bar.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexichord.serve.errors import public_line
from lexichord.serve.page.language import say
from lexichord.types import ChunkHit, Explanation, Response
from lexichord.types.evidence import CHANNEL_NAMES
from lexichord.types.response import Part, Step

MAX_NOTE_CHARS = 160  # that are shown of what a stage made
HUES = 8  # of explain.css, taken in turn
FIRST_RANK, NEAR_RANK = 3, 10  # up to which a rank is drawn strong, and less so


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a bar: its hue, where it begins and how wide it is, in percent of the bar."""

    hue: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class StageView:
    """A run of a stage with its milliseconds, its piece of the bar of all, and what it made."""

    name: str
    ms: float
    segment: Segment
    note: str


@dataclass(frozen=True, slots=True)
class RankView:
    """A place in a list, None where the hit is not in it; `tone` says how strong it is drawn."""

    rank: int | None
    tone: str


@dataclass(frozen=True, slots=True)
class HitOrigin:
    """What gave a hit its place: its ranks in the channels and in the ways of asking.

    `boost` are the points of its document, None without. Each segment is what a way of asking adds
    to the score, in percent of the best sum; `sum` is that of all, `rerank` the reranker's score.
    """

    title: str
    channels: list[RankView]
    boost: float | None
    ways: list[RankView]
    segments: list[Segment]
    sum: float | None
    rerank: float | None
    read: float | None


@dataclass(frozen=True, slots=True)
class ExplainView:
    """The stages of a response, and where the hits that are shown came from.

    `ways` are the ways of asking, each with its hue, `ms` the sum of the stages' milliseconds.
    """

    stages: list[StageView]
    ms: float
    channels: Sequence[str]
    ways: list[tuple[str, int]]
    hits: list[HitOrigin]

    @property
    def is_boosted(self) -> bool:
        """Whether the document of any of the hits was preferred."""
        return any(hit.boost is not None for hit in self.hits)

    @property
    def is_reranked(self) -> bool:
        """Whether a reranker scored any of the hits."""
        return any(hit.rerank is not None for hit in self.hits)

    @property
    def is_read(self) -> bool:
        """Whether a reader read any of the hits."""
        return any(hit.read is not None for hit in self.hits)


def show_explanation(response: Response, k: int) -> ExplainView:
    """Return what the page draws of a response's explanation, of its hits the first k."""
    explanation = Explanation(response)
    ways = _ways(explanation)
    hues = {name: number % HUES for number, name in enumerate(ways)}
    shown, boost = response.hits[:k], _last_search(explanation).get("boost", {})
    best = max((hit.scores.variants or 0 for hit in shown), default=0) or 1
    return ExplainView(
        stages=_stages(explanation.steps),
        ms=sum(step.ms for step in explanation.steps),
        channels=CHANNEL_NAMES,
        ways=list(hues.items()),
        hits=[_origin(hit, explanation.parts(hit), hues, boost, best) for hit in shown],
    )


def _last_search(explanation: Explanation) -> Mapping[str, Any]:
    """Return what the last search was given: the ways of asking, the points by document."""
    searches = [step.given for step in explanation.steps if step.stage == "search"]
    return searches[-1] if searches else {}


def _ways(explanation: Explanation) -> list[str]:
    """Return the ways of asking that found something, in the order in which they were asked."""
    asked = list(_last_search(explanation).get("variants", ()))
    found = [name for name in explanation.lists if name not in CHANNEL_NAMES]
    return sorted(found, key=lambda name: asked.index(name) if name in asked else len(asked))


def _origin(
    hit: ChunkHit,
    parts: Sequence[Part],
    hues: Mapping[str, int],
    boost: Mapping[str, float],
    best: float,
) -> HitOrigin:
    by_name = {part.name: part for part in parts}
    ways = [by_name[name] for name in hues]
    widths = [100 * (part.score or 0) / best for part in ways]
    return HitOrigin(
        title=hit.title or hit.heading,
        channels=[_rank(part) for part in parts if part.name not in hues],
        boost=boost.get(hit.document_id),
        ways=[_rank(part) for part in ways],
        segments=[one for one in _row([hues[part.name] for part in ways], widths) if one.width],
        sum=hit.scores.variants,
        rerank=hit.scores.rerank,
        read=hit.scores.read,
    )


def _rank(part: Part) -> RankView:
    if part.rank is None:
        return RankView(None, "absent")
    if part.rank <= FIRST_RANK:
        return RankView(part.rank, "first")
    return RankView(part.rank, "near" if part.rank <= NEAR_RANK else "far")


def _row(hues: Sequence[int], widths: Sequence[float]) -> list[Segment]:
    """Return pieces that follow one another."""
    starts = [sum(widths[:number]) for number in range(len(widths))]
    return [
        Segment(hue, round(start, 2), round(width, 2))
        for hue, start, width in zip(hues, starts, widths, strict=True)
    ]


def _stages(trace: Sequence[Step]) -> list[StageView]:
    names = list(dict.fromkeys(step.stage for step in trace))
    total = sum(step.ms for step in trace) or 1
    hues = [names.index(step.stage) % HUES for step in trace]  # a stage that ran again has its own
    segments = _row(hues, [100 * step.ms / total for step in trace])
    return [
        StageView(step.stage, step.ms, segment, _note(step))
        for step, segment in zip(trace, segments, strict=True)
    ]


def _note(step: Step) -> str:
    """Describe in a line what a stage made; an error's words are for the server's log."""
    output: Any = step.made
    if isinstance(output, Mapping):
        members = {name: value for name, value in output.items() if name != "error"}
        text = ", ".join(f"{name} {_short(value)}" for name, value in members.items() if value)
    elif isinstance(output, list):
        text = say("counts.found", count=len(output))
    else:
        text = "" if output is None else _short(output)
    note = public_line(text)
    return note if len(note) <= MAX_NOTE_CHARS else note[:MAX_NOTE_CHARS] + "…"


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
