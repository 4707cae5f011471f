"""What the public sets lack: settings that have a default, spans of time, prices of other products.

Made of the parts of manuals.toml by chance: what is asked and what says it share few words
("default", "unless you say otherwise"), and beside it stand sentences with the words of the
question that do not say it.
"""

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from train_reader.examples import Example

PARTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
WHEN = (("amounts", "spans"), ("moments", "times"), ("rounds", "repeats"))


def manuals(count: int, generator: random.Random) -> Iterator[Example]:
    """Yield examples of each kind, answered and not, in equal parts."""
    for _ in range(count // 3):
        yield defaulted(generator)
        yield timed(generator)
        yield priced(generator)


def defaulted(generator: random.Random) -> Example:
    """Return a question for a default, or for a limit beside it; at times no text has it."""
    name, what, values = generator.choice(PARTS["settings"])
    value, other = generator.sample([*values, f"{generator.randint(2, 99)}"], 2)
    parts = {"name": name, "Name": _capital(name), "what": what, "value": value, "other": other}
    parts |= {"thing": generator.choice(PARTS["things"]), "key": name.replace(" ", "_")}
    beside = [form.format(**parts) for form in generator.sample(PARTS["beside"], 4)]
    asked, limit = generator.choice(PARTS["limits"])
    beside.append(limit.format(**(parts | {"value": other})))
    says = _capital(generator.choice(PARTS["defaults"]).format(**parts))
    drawn = generator.random()
    if drawn < 0.2:
        return _example(asked.format(**parts), name, [*beside[:4], says], beside[4], generator)
    question = generator.choice(PARTS["asked_defaults"]).format(**parts)
    return _example(question, name, beside, says if drawn < 0.75 else "", generator)


def timed(generator: random.Random) -> Example:
    """Return a question for how something is done later, at a moment or again; with code."""
    kinds = generator.sample(range(3), 3)
    keys = generator.sample(PARTS["keywords"], 3)
    says = [
        generator.choice(PARTS[WHEN[kind][1]]).format(key=key)
        for kind, key in zip(kinds, keys, strict=True)
    ]
    act, what = generator.choice(PARTS["acts"])
    when = generator.choice(PARTS[WHEN[kinds[0]][0]])
    asked = generator.choice(PARTS["forms"][kinds[0]]).format(act=act, what=what, when=when)
    title = generator.choice((f"{_capital(act)} {what} later", "Times", "Plans", _capital(what)))
    beside = [f"Often {what} has to wait: see below for those that failed.", *says[1:]]
    beside.append(generator.choice(PARTS["around"]))
    code = f"\n\n```\n{act.split()[0]}({keys[0]}=…)\n```\n"
    answer = says[0] if generator.random() < 0.5 else says[0][:-1] + ":" + code
    held = answer if generator.random() < 0.75 else ""
    return _example(generator.choice(PARTS["how"]).format(asked), title, beside, held, generator)


def priced(generator: random.Random) -> Example:
    """Return a question for a price of a product; the text may be of another product."""
    product, another = (_name(generator) for _ in range(2))
    what, form = generator.choice(PARTS["priced"])
    price = form.format(value=generator.choice((12, 18, 250, 49, 1200, 7.5, 95)))
    parts = {"what": what, "What": _capital(what), "price": price}
    says = _capital(generator.choice(PARTS["prices"]).format(**parts))
    question = generator.choice(PARTS["asked_prices"]).format(what=what, product=product)
    beside = generator.sample(PARTS["around"], 3)
    mine = generator.random() < 0.5
    named = product if mine else another
    title = f"{generator.choice(('Licence', 'Terms', 'Contract', 'Prices'))} {named}"
    if generator.random() < 0.4:
        beside.append(f"This is for {_capital(named)}.")
    if not mine and generator.random() < 0.3:
        beside.append(f"{_capital(product)} is not part of it.")
    if mine:
        return _example(question, title, beside, says, generator)
    return _example(question, title, [*beside, says], "", generator)


def _example(
    question: str, title: str, beside: list[str], answer: str, generator: random.Random
) -> Example:
    """Return the sentences in any order as a passage, as running text or in paragraphs."""
    lines = [*beside, answer] if answer else [*beside]
    generator.shuffle(lines)
    passage = generator.choice((" ", "\n", "\n\n")).join(lines)
    if not answer:
        return Example(question, title, passage, (), "manuals")
    start = passage.index(answer)
    return Example(question, title, passage, ((start, start + len(answer)),), "manuals")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _name(generator: random.Random) -> str:
    name = "".join(generator.sample(PARTS["syllables"], generator.choice((2, 3))))
    return name.capitalize() if generator.random() < 0.6 else name
