"""Pages of the web that hold no table, though white space stands in their lines."""

import random
from collections.abc import Callable

WORDS = [
    "the", "tenant", "shall", "pay", "rent", "on", "first", "day", "of", "each", "month", "and",
    "keep", "premises", "in", "good", "repair", "until", "end", "term", "when", "landlord", "may",
    "enter", "to", "view", "them", "with", "notice", "given", "two", "days", "before", "unless",
    "there", "is", "danger", "water", "fire", "or", "storm", "which", "nobody", "could",
    "foresee", "although", "it", "had", "been", "said", "that", "older", "pipes", "were", "weak",
    "under", "main", "stair", "near", "north", "wall", "where", "damp", "has", "shown", "since",
    "last", "winter",
]  # fmt: skip
PEOPLE = [
    "Ada Berg",
    "Ivo Marin",
    "Lena Roth",
    "Tom Hale",
    "Nora Lind",
    "Max Orr",
    "Eva Stone",
    "Jan Vrba",
]
CODE = """def total(rows, rate=0.2):
    count   = 0          # how many were seen
    amount  = 0.0        # what they cost
    for row in rows:
        count  += 1
        amount += row.price * row.number
    return count, amount * (1 + rate)

if __name__ == "__main__":
    print(total(read("stock.csv"), 0.25))"""


def sentence(chance: random.Random, words: int) -> str:
    """Return a sentence that means nothing."""
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def prose(chance: random.Random, amount: int = 5) -> str:
    return "".join(
        f"<p>{' '.join(sentence(chance, chance.randint(8, 22)) for _ in range(4))}</p>"
        for _ in range(amount)
    )


def two_columns(chance: random.Random) -> str:
    return f"<div style='columns:2;column-gap:14pt;text-align:justify'>{prose(chance, 14)}</div>"


def three_columns(chance: random.Random) -> str:
    return f"<div style='columns:3;column-gap:10pt'>{prose(chance, 14)}</div>"


def justified(chance: random.Random) -> str:
    return f"<div style='width:150pt;text-align:justify'>{prose(chance)}</div>"


def contents(chance: random.Random) -> str:
    lines, page = [], 1
    for number in range(1, 19):
        page += chance.randint(1, 9)
        title = f"{number}. {sentence(chance, chance.randint(2, 6))[:-1]}"
        lines.append(f"{title} {'.' * (78 - len(title))} {page}")
    return "".join(f"<p style='margin:1pt'>{line}</p>" for line in lines)


def contents_without_leaders(chance: random.Random) -> str:
    lines = [
        f"<div style='display:flex;justify-content:space-between'><span>{number} "
        f"{sentence(chance, chance.randint(2, 6))[:-1]}</span><span>{number * 3}</span></div>"
        for number in range(1, 15)
    ]
    return "".join(lines)


def references(chance: random.Random) -> str:
    items = [
        f"<p style='padding-left:22pt;text-indent:-22pt;margin:2pt'><span style='display:inline-"
        f"block;width:22pt;text-indent:0'>[{n}]</span>{chance.choice(PEOPLE)}. "
        f"{sentence(chance, 9)} Journal of Rents {n * 3}:{n}–{n + 9}, {1990 + n}.</p>"
        for n in range(1, 16)
    ]
    return "".join(items)


def code(chance: random.Random) -> str:
    return f"{prose(chance, 1)}<pre style='font:9pt monospace'>{CODE}</pre>{prose(chance, 1)}"


def poem(chance: random.Random) -> str:
    return "".join(
        "<p>" + "<br>".join(sentence(chance, chance.randint(4, 8))[:-1] for _ in range(4)) + "</p>"
        for _ in range(5)
    )


def letter(chance: random.Random) -> str:
    """Two addresses side by side above prose."""
    sides = [
        "<br>".join([name, f"{chance.randint(1, 99)} Mill Lane", "AB1 2CD Lund", "Sweden"])
        for name in chance.sample(PEOPLE, 2)
    ]
    boxes = "".join(f"<div>{side}</div>" for side in sides)
    return f"<div style='display:flex;gap:180pt'>{boxes}</div><p></p>{prose(chance, 3)}"


def key_values(chance: random.Random) -> str:
    keys = ["Name", "Address", "Date of birth", "Telephone", "Customer number", "Contract"]
    return "".join(
        f"<div><span style='display:inline-block;width:110pt'>{key}:</span>"
        f"{sentence(chance, chance.randint(1, 3))[:-1]}</div>"
        for key in keys
    )


def form(chance: random.Random) -> str:
    fields = ["Name", "Street", "Town", "Day of entry", "Signature"]
    lines = "".join(f"<p>{field}: {'_' * chance.randint(20, 40)}</p>" for field in fields)
    return prose(chance, 1) + lines


def numbered(chance: random.Random) -> str:
    items = "".join(f"<li>{sentence(chance, chance.randint(5, 30))}</li>" for _ in range(12))
    return f"<ol>{items}</ol>"


def bullets(chance: random.Random) -> str:
    items = "".join(f"<li>{sentence(chance, chance.randint(2, 14))}</li>" for _ in range(14))
    return f"<ul>{items}</ul>"


def clauses(chance: random.Random) -> str:
    """Numbers that stand apart from the text that they number."""
    return "".join(
        f"<div style='display:flex;margin:3pt 0'><div style='min-width:40pt'>{n}.{m}</div>"
        f"<div>{sentence(chance, chance.randint(9, 40))}</div></div>"
        for n in range(1, 4)
        for m in range(1, 5)
    )


def transcript(chance: random.Random) -> str:
    """Each line has its number, as in court."""
    lines = [f"{n:>4}  {sentence(chance, chance.randint(4, 9))[:-1]}" for n in range(1, 26)]
    return f"<pre style='font:11pt/2 monospace'>{'<br>'.join(lines)}</pre>"


def glossary(chance: random.Random) -> str:
    return "".join(
        f"<dl style='margin:2pt'><dt><b>{word}</b></dt><dd>{sentence(chance, 24)}</dd></dl>"
        for word in chance.sample(WORDS, 12)
    )


def signatures(chance: random.Random) -> str:
    sides = [f"_______________<br>{name}<br>{role}" for name, role in zip(
        chance.sample(PEOPLE, 2), ("Landlord", "Tenant"), strict=True)]  # fmt: skip
    boxes = "".join(f"<div>{side}</div>" for side in sides)
    return f"{prose(chance, 2)}<div style='display:flex;gap:140pt'>{boxes}</div>"


def index(chance: random.Random) -> str:
    """Words and the pages where they stand, in columns."""
    lines = "<br>".join(
        f"{word}, {chance.randint(1, 90)}, {chance.randint(91, 200)}" for word in sorted(WORDS)
    )
    return f"<div style='columns:3'>{lines}</div>"


def dialogue(chance: random.Random) -> str:
    return "".join(
        f"<p style='margin:2pt 0 2pt 70pt;text-indent:-70pt'><span style='display:inline-block;"
        f"width:70pt;text-indent:0'>{chance.choice(PEOPLE).upper()}</span>"
        f"{sentence(chance, chance.randint(5, 30))}</p>"
        for _ in range(12)
    )


KINDS: dict[str, Callable[[random.Random], str]] = {
    made.__name__.replace("_", " "): made
    for made in (
        *(prose, two_columns, three_columns, justified, contents, contents_without_leaders),
        *(references, code, poem, letter, key_values, form, numbered, bullets, clauses),
        *(transcript, glossary, signatures, index, dialogue),
    )
}


def plain_page(kind: str, seed: str) -> str:
    """Return a page of the web of a kind."""
    chance = random.Random(seed)
    font, size = chance.choice(["Liberation Serif", "Liberation Sans"]), chance.choice([9, 10, 11])
    css = f"@page{{size:A4}}body{{font:{size}pt/1.25 '{font}';margin:0}}"
    return f"<style>{css}</style>{KINDS[kind](chance)}"
