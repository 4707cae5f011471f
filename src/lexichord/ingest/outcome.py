"""Reports of ingests as people see them: the outcome, and what there is to say about it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from lexichord.display.text import (
    INGEST_OUTCOMES,
    degraded_lines,
    dollars_text,
    to_text,
    usage_text,
)
from lexichord.ingest.report import ContextReport, Report
from lexichord.types.base import counted, escaped, short_uri

MAX_REFUSED_SHOWN = 10  # chunks without a vector
MAX_FLAGGED_SHOWN = 100  # documents
MAX_REASONS_SHOWN = 20  # for which files failed
MAX_UNREAD_SHOWN = 100  # files of a kind, or that failed for a reason


@to_text.register
def _(report: Report) -> str:
    """Write the outcome, then what was not read, left out, flagged or not done."""
    lines = [*outcome(report), *remarks(report), *degraded_lines(report.degraded)]
    return "\n".join(lines)


def outcome(report: Report) -> Iterator[str]:
    """Yield how many files were stored, and what that took."""
    counts = {name: getattr(report, name) for name in INGEST_OUTCOMES if name != "failed"}
    texts = [f"{count} {name}" for name, count in counts.items() if count or name != "deleted"]
    chunks = f"{counted(report.chunks, 'chunk')} stored, {report.embedded} embedded"
    yield f"{', '.join(texts)}, {len(report.failed)} failed; {chunks}"
    if report.model:
        yield f"model {report.model}"
    if report.vectors_filled:
        yield f"{counted(report.vectors_filled, 'vector')} filled in"
    if report.usage and report.usage.requests:
        yield usage_text(report.usage)
    if report.llm:
        yield from contexts(report.llm)


def remarks(report: Report, verbose: bool = False) -> Iterator[str]:
    """Yield what is doubtful, was not read or left out, by name; `verbose` names all."""
    for name in report.refused[:MAX_REFUSED_SHOWN]:
        yield escaped(f"no vector, the embedder refuses its text: {name}")
    if more := len(report.refused[MAX_REFUSED_SHOWN:]):
        yield f"and {more} more that the embedder refuses: see --json"
    most = len(report.flagged) if verbose else MAX_FLAGGED_SHOWN
    for uri, flags in islice(report.flagged.items(), most):
        yield escaped(f"flagged {short_uri(uri)}: {'; '.join(flags)}")
    if (more := len(report.flagged) - most) > 0:
        yield f"and {more:,} more flagged (--verbose names them)"
    if report.llm:
        yield from missing_contexts(report.llm)
    yield from _passed_over(report, verbose)


def contexts(llm: ContextReport) -> Iterator[str]:
    """Yield what a model was asked for chunks' contexts."""
    yield escaped(f"{counted(llm.chunks, 'context')} by {llm.model}, {llm.cached} from before")
    tokens = f"{counted(llm.input_tokens, 'token')} in, {llm.output_tokens} out"
    yield f"{counted(llm.requests, 'call')}, {tokens}, {dollars_text(llm.dollars)}"


def missing_contexts(llm: ContextReport) -> Iterator[str]:
    """Yield why some chunks have no context."""
    for place, reason in llm.failed.items():
        yield escaped(f"no context {short_uri(place)}: {reason}")
    if llm.stopped:
        yield escaped(f"stopped, {counted(llm.left, 'chunk')} left: {llm.stopped}")


def _passed_over(report: Report, verbose: bool) -> Iterator[str]:
    """Yield what was not read, and what folders hold beside."""
    failed = f"not read, failed: {counted(len(report.failed), 'file')}"
    unread = f"not read, of no kind that can be: {_tally(report.unread)}"
    dead = f"dead links: {counted(len(report.dead_links), 'page')}"
    yield from _grouped(failed, report.failed, verbose)
    yield from _grouped(unread, report.unread, verbose)
    yield from _grouped(dead, report.dead_links, verbose)
    if report.left_out:
        hint = "" if verbose else " (--verbose names them)"
        yield escaped(f"left out: {_tally(report.left_out)}{hint}")
    for name, why in report.left_out.items() if verbose else ():
        yield escaped(f"  {short_uri(name)}: {why}")
    if report.is_empty:
        seen = report.unread or report.left_out
        why = "see above; what can be read is in the ingest guide" if seen else "no file is there"
        yield f"nothing was read: {why}"


def _tally(reasons: Mapping[str, str]) -> str:
    """Return how many there are for each reason, the most first."""
    counts = Counter(reasons.values()).most_common()
    return ", ".join(f"{amount} {why}" for why, amount in counts)


def _grouped(head: str, reasons: Mapping[str, str], verbose: bool) -> Iterator[str]:
    """Yield a head and the names of files, a line for each reason that they share; or nothing."""
    if reasons:
        yield escaped(head)
    groups: dict[str, list[str]] = {}
    for uri, reason in reasons.items():
        groups.setdefault(reason, []).append(short_uri(uri))
    most = len(groups) if verbose else MAX_REASONS_SHOWN
    for reason, names in islice(groups.items(), most):
        shown = names if verbose else names[:MAX_UNREAD_SHOWN]
        rest = len(names) - len(shown)
        more = f" and {rest} more (--verbose names them)" if rest else ""
        yield escaped(f"  {reason}: {', '.join(shown)}{more}")
    if rest := sum(len(names) for names in islice(groups.values(), most, None)):
        yield f"  and {rest:,} more for other reasons (--verbose names them)"
