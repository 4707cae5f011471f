"""An answer that a model writes: quotes looked up in the sources, or sentences that cite them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.llm.ask import MOST, Ask
from lexichord.llm.comparison import compare
from lexichord.llm.sources import Source, find_quote, is_invented, mark, number_sources
from lexichord.retrieve.aggregate.answer import cite_line
from lexichord.retrieve.aggregate.relevance import Embed
from lexichord.retrieve.stages import Write
from lexichord.types import Json
from lexichord.types.evidence import Answer, Brief, Evidence

# A citation inside a sentence: checked are only those that the model gives beside it.
CITED = re.compile(r" ?\[\d+(?:[,;–-] ?\d+)*\]")


async def write_answer(
    ask: Ask,
    twin: Write,
    database: Database,
    brief: Brief,
    found: Evidence,
    sources: Sequence[Json],
    embed: Embed | None,
) -> Answer:
    """Write an answer by intent: clauses word for word, a table of quotes, else a summary.

    What no source holds is left out and told as unverified; if nothing is left, the twin writes.
    So it does with a list: whatever is found stands in it.
    """
    shown = number_sources(found.quotes, sources)
    answer = Answer("")
    if brief.kind != "list_all" and shown:
        try:
            answer = await _write(ask, database, brief, found, shown, sources)
            if not answer.text:
                ask.degrade("answer", "nothing in its reply can be shown")
        except ProviderError as error:
            ask.degrade("answer", error)
    if answer.text:
        return answer
    plain = await twin(database, brief, found, sources, embed)
    return replace(plain, unverified=answer.unverified)


async def _write(
    ask: Ask,
    database: Database,
    brief: Brief,
    found: Evidence,
    shown: Sequence[Source],
    sources: Sequence[Json],
) -> Answer:
    if brief.kind == "comparison" and found.comparison is not None:
        return await compare(ask, database, found.comparison, sources)
    write = extract_clauses if brief.kind == "clause_lookup" else summarise
    return await write(ask, asked(brief), shown, sources)


def asked(brief: Brief) -> str:
    """Give the question, with what an earlier answer lacked."""
    missed = f"\n\nAn earlier answer fell short. {brief.advice}" if brief.advice else ""
    return brief.question + missed


async def extract_clauses(
    ask: Ask, question: str, shown: Sequence[Source], sources: Sequence[Json]
) -> Answer:
    """Quote the passages that answer, word for word. Raises ProviderError."""
    said = await ask("clauses", {"question": question, "sources": mark(shown)})
    lines, unverified = dict[str, None](), dict[str, None]()
    for each in said["clauses"][:MOST]:
        if quote := find_quote(each["quote"], each["source"], shown):
            lines[cite_line(quote, sources)] = None
        elif each["quote"].strip():
            unverified[each["quote"]] = None
    return Answer("\n".join(lines), tuple(unverified))


async def summarise(
    ask: Ask, question: str, shown: Sequence[Source], sources: Sequence[Json]
) -> Answer:
    """Sum the sources up, each sentence with those that it follows from. Raises ProviderError."""
    said = await ask("summary", {"question": question, "sources": mark(shown)})
    lines, unverified = list[str](), list[str]()
    for each in said["sentences"][:MOST]:
        # At the beginning of a line, ">" would make it look like a quotation.
        text = CITED.sub("", " ".join(each["text"].split())).lstrip("> ")
        cited = [source for source in shown if source.number in each["sources"]]
        if text and cited and not is_invented(text, cited):
            lines.append(" ".join([text, *(f"[{source.number}]" for source in cited)]))
        elif text:
            unverified.append(text)
    return Answer("\n".join(lines), tuple(unverified))
