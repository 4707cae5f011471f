"""Questions to begin with, made of the titles of what is stored."""

from collections.abc import Iterable

LONGEST = 60  # characters of a title that makes a readable question


def examples(titles: Iterable[str]) -> list[str]:
    """Give some questions about one document and two; none where all are nameless."""
    names = list(dict.fromkeys(" ".join(title.split()) for title in titles))
    names = [name for name in names if 3 <= len(name) <= LONGEST]
    names.sort(key=lambda name: " " not in name)  # "Office Lease" says more than "init"
    if not names:
        return []
    if len(names) == 1:
        return [f"What is {names[0]} about?"]
    first, second, *_, last = [*names, names[-1]]
    return [f"What is {first} about?", f"Compare {first} and {second}", f"Summarise {last}"]
