"""Results as strangers may see them: without what only who runs the server may see."""

from dataclasses import replace

from lexichord.db.pool import Row
from lexichord.serve.errors import public_line
from lexichord.types import (
    FilesResult,
    IngestRun,
    KeywordSets,
    Response,
    SearchResult,
    Status,
    Step,
)
from lexichord.types.response import Reflection


def public_result(result: object) -> object:
    """Return a result without what only who runs the server may see."""
    if not isinstance(result, SearchResult | FilesResult | KeywordSets | Response):
        return result
    public = replace(result, degraded=[public_line(line) for line in result.degraded])
    if isinstance(public, Response):
        trace = [_public_step(step) for step in public.trace]
        return replace(public, trace=trace, reflection=_public_reflection(public.reflection))
    return public


def _public_step(step: Step) -> Step:
    output = step.made
    if not isinstance(output, dict) or not output.get("error"):
        return step
    return replace(step, made={**output, "error": public_line(output["error"])})


def _public_reflection(reflection: Reflection | None) -> Reflection | None:
    if reflection is None:
        return None
    rounds = [replace(one, error=one.error and public_line(one.error)) for one in reflection.rounds]
    errors = [public_line(error) for error in reflection.errors]
    return replace(reflection, rounds=tuple(rounds), errors=tuple(errors))


def public_status_report[S: Status](status: S) -> S:
    """Return a status without what only who runs the server may see."""
    degraded = [public_line(line) for line in status.degraded]
    return replace(status, degraded=degraded, runs=[_public_run(run) for run in status.runs])


def public_run_of(row: Row) -> IngestRun:
    """Return an ingest on record without what only who runs the server may see."""
    return _public_run(IngestRun(**row))


def _public_run(run: IngestRun) -> IngestRun:
    failures = {uri: public_line(reason) for uri, reason in run.failures.items()}
    return replace(run, failures=failures)
