"""Grades of an answer, each from 0 to 1 with a reason, by nothing but its sources."""

from lexichord.errors import ProviderError
from lexichord.llm.ask import Ask, one_line
from lexichord.llm.sources import Source, mark, number_sources
from lexichord.types import Response
from lexichord.types.reflection import Grade, Grading

ASPECTS = ("grounding", "completeness", "consistency", "specificity")


async def grade(ask: Ask, response: Response) -> Grading:
    """Grade a response's answer. Raises ProviderError: what was not graded has no grade."""
    sources = mark(_sources(response))
    given = {"question": response.query, "answer": response.answer, "sources": sources}
    try:
        said = await ask("grade", given)
    except ProviderError as error:
        ask.degrade("reflection", error)
        raise
    grades = (Grade(name, said[name]["score"], one_line(said[name]["reason"])) for name in ASPECTS)
    return Grading(tuple(grades), one_line(said["missing"]))


def _sources(response: Response) -> list[Source]:
    """Give what the context shows, and after it the quotes of a table that are not in there."""
    shown = number_sources(response.quotes, response.sources)
    cells = () if response.comparison is None else response.comparison.cells
    held = {source.quote for source in shown}
    more = dict.fromkeys(quote for cell in cells for quote in cell.quotes if quote not in held)
    return [*shown, *(Source(n, quote) for n, quote in enumerate(more, len(response.sources) + 1))]
