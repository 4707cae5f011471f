"""The command that runs the whole pipeline."""

import json
from typing import Annotated, Any

import typer

from lexichord.cli import render
from lexichord.cli.options import SEARCH, Asking, Explain, Hint, Query, Run, command, search_options
from lexichord.errors import ConfigError
from lexichord.types import ContextFormat, IntentKind, Unit
from lexichord.types.response import Recording

app = typer.Typer()

Intent = Annotated[
    IntentKind | None, typer.Option(help="What kind of question; by default its words tell.")
]
Instructions = Annotated[
    str | None, typer.Option(help="What else to heed: these words are searched as well.")
]
Rewrite = Annotated[bool, typer.Option("--rewrite", help="Search it in other words as well.")]
Fallbacks = Annotated[
    list[str] | None,
    typer.Option("--fallback", help="Search this where nothing answers; repeatable."),
]
Reflect = Annotated[
    bool, typer.Option("--reflect", help="Search again for what the evidence lacks.")
]
Rounds = Annotated[int, typer.Option(help="Of --reflect at most.", min=0)]
Budget = Annotated[
    float, typer.Option(help="Of models, rerankers and --reflect, in milliseconds.", min=0)
]
Coverage = Annotated[
    float, typer.Option(help="Of the question, that ends --reflect.", min=0, max=1)
]
Grade = Annotated[
    float, typer.Option(help="Of an answer, by a model, that ends --reflect.", min=0, max=1)
]
Variants = Annotated[int, typer.Option(help="Ways of asking at most.", min=1)]
Files = Annotated[int, typer.Option(help="How many files.", min=1)]
Format = Annotated[ContextFormat, typer.Option(help="How the evidence is written.")]
MaxLength = Annotated[int, typer.Option(help="Of the evidence.", min=1)]
LengthUnit = Annotated[Unit, typer.Option(help="What --max-length counts.")]
Answer = Annotated[bool, typer.Option("--answer", help="Write one, in the evidence's own words.")]
Llm = Annotated[
    str | None, typer.Option(help="A language model as DSPy names it: openai/gpt-4o-mini.")
]
LlmStages = Annotated[
    list[str] | None,
    typer.Option(
        "--llm-stage",
        help="intent, boost, rewrite, answer or reflect; by default the last three; repeatable.",
    ),
]
MinScore = Annotated[
    str | None, typer.Option(help='The least of named scores, in JSON: {"dense": 0.3}.')
]
Record = Annotated[
    Recording | None, typer.Option(help="Keep it in the database; text: with its words.")
]
Reranker = Annotated[
    str | None,
    typer.Option(help="Looks again at what is found: cohere/MODEL, jina/MODEL, tei."),
]


def query_options(
    fallbacks: list[str] | None,
    min_score: str | None,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Give the options as the application takes them. Raises ConfigError."""
    shared = search_options(**{name: options.pop(name) for name in SEARCH.options})
    given = {**shared, **options, "fallbacks": fallbacks or [], "min_score": _scores(min_score)}
    if not given["llm_stages"]:
        del given["llm_stages"]
    return given


def _scores(text: str | None) -> dict[str, float]:
    try:
        value = {} if text is None else json.loads(text)
        return {str(name): float(least) for name, least in value.items()}
    except (ValueError, AttributeError, TypeError):
        raise ConfigError(f"--min-score takes names and numbers in JSON: {text}") from None


QUERY = Asking(
    {
        **SEARCH.options,
        "hint": (Hint, None),
        "intent": (Intent, None),
        "instructions": (Instructions, None),
        "variants": (Variants, 4),
        "files": (Files, 5),
        "rewrite": (Rewrite, False),
        "fallbacks": (Fallbacks, None),
        "reflect": (Reflect, False),
        "rounds": (Rounds, 2),
        "budget_ms": (Budget, 30_000),
        "min_coverage": (Coverage, 0.7),
        "min_grade": (Grade, 0.7),
        "format": (Format, "simple"),
        "max_length": (MaxLength, 4000),
        "unit": (LengthUnit, "characters"),
        "answer": (Answer, False),
        "min_score": (MinScore, None),
        "llm": (Llm, None),
        "llm_stages": (LlmStages, None),
    },
    query_options,
)


@command(app, asks=QUERY)
def query(
    run: Run,
    query: Query,
    options: dict[str, Any],
    record: Record = None,
    reranker: Reranker = None,
    explain: Explain = False,
) -> None:
    """Find the files, then chunks in and around them, and print the evidence with its sources."""
    run.arguments.update(record=record, reranker=reranker)
    with run.open() as lexichord:
        response = lexichord.query(query, **options)
    run.show(response, lambda found: render.response(found, explain))
