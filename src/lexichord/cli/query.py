"""The command that runs the whole pipeline."""

import json
from typing import Annotated, Any, cast

import typer

from lexichord.cli import evidence
from lexichord.cli.options import Explain, Hint, Query
from lexichord.cli.run import Run, command
from lexichord.errors import ConfigError
from lexichord.types import ContextFormat, QueryOptions, SearchOptions, Unit
from lexichord.types.intent import IntentKind
from lexichord.types.response import Recording

app = typer.Typer()


@command(app, asks=True)
def query(
    run: Run,
    query: Query,
    options: SearchOptions,
    hint: Hint = None,
    intent: Annotated[
        IntentKind | None, typer.Option(help="What kind of question; by default its words tell.")
    ] = None,
    instructions: Annotated[
        str | None, typer.Option(help="What else to heed: these words are searched as well.")
    ] = None,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Search it in other words as well.")
    ] = False,
    fallbacks: Annotated[
        list[str] | None,
        typer.Option("--fallback", help="Search this where nothing answers; repeatable."),
    ] = None,
    reflect: Annotated[
        bool, typer.Option("--reflect", help="Search again for what the evidence lacks.")
    ] = False,
    rounds: Annotated[int, typer.Option(help="Of --reflect at most.", min=0)] = 2,
    budget_ms: Annotated[float, typer.Option(help="Of --reflect, in milliseconds.")] = 5000,
    min_coverage: Annotated[
        float, typer.Option(help="Of the question, that ends --reflect.", min=0, max=1)
    ] = 0.7,
    variants: Annotated[int, typer.Option(help="Ways of asking at most.", min=1)] = 4,
    files: Annotated[int, typer.Option(help="How many files.", min=1)] = 5,
    style: Annotated[
        ContextFormat, typer.Option("--format", help="How the evidence is written.")
    ] = "simple",
    max_length: Annotated[int, typer.Option(help="Of the evidence.", min=1)] = 4000,
    unit: Annotated[Unit, typer.Option(help="What --max-length counts.")] = "characters",
    answer: Annotated[
        bool, typer.Option("--answer", help="Write one, in the evidence's own words.")
    ] = False,
    min_score: Annotated[
        str | None, typer.Option(help='The least of named scores, in JSON: {"dense": 0.3}.')
    ] = None,
    record: Annotated[
        Recording | None, typer.Option(help="Keep it in the database; text: with its words.")
    ] = None,
    explain: Explain = False,
) -> None:
    """Find the files, then chunks in and around them, and print the evidence with its sources."""
    given: dict[str, Any] = {
        **options,
        "hint": hint,
        "intent": intent,
        "instructions": instructions,
        "rewrite": rewrite,
        "fallbacks": fallbacks or [],
        "reflect": reflect,
        "rounds": rounds,
        "budget_ms": budget_ms,
        "min_coverage": min_coverage,
        "variants": variants,
        "files": files,
        "format": style,
        "max_length": max_length,
        "unit": unit,
        "answer": answer,
        "min_score": _scores(min_score),
    }
    run.arguments.update(record=record)
    with run.open() as lexichord:
        response = lexichord.query(query, **cast(QueryOptions, given))
    run.show(response, lambda found: evidence.response(found, explain))


def _scores(text: str | None) -> dict[str, float]:
    try:
        value = {} if text is None else json.loads(text)
        return {str(name): float(least) for name, least in value.items()}
    except (ValueError, AttributeError, TypeError):
        raise ConfigError(f"--min-score takes names and numbers in JSON: {text}") from None
