"""Compile the prompt that reads what a query wants, for one language model.

LEXICHORD_LLM=openai/gpt-4o-mini python scripts/data/optimise_prompts.py DIR
LEXICHORD_LLM_PROMPTS=DIR lexichord query ... --llm-stage intent

DSPy's BootstrapFewShot (Khattab et al., 2023) has the model read half A of the sample questions and
keeps, as demonstrations, readings that agree with what people wrote down of them; DIR/intent.json
holds these. Half B, which the model is not shown, tells what they are worth.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy.teleprompt import BootstrapFewShot

from lexichord.errors import ConfigError, LexichordError, ProviderError
from lexichord.providers import Generator
from lexichord.providers.llm.prompts import SIGNATURES
from lexichord.providers.registry import find_generator
from lexichord.settings import Settings, load_settings
from lexichord.types.questions import Task

SAMPLES = Path(__file__).parents[2] / "samples"
TASK: Task = "intent"
PARTS = ("kind", "entities", "sub_questions")
DEMOS = 5  # as many as there are kinds
ERRORS = 5  # after which learning is given up
SECONDS = 60.0  # for one question

type Test = dict[str, Any]


class Reader(dspy.Predict):  # type: ignore[misc]
    """Reads a query as lexichord has it read: with its limits, its checks, its errors."""

    def __init__(self, generator: Generator) -> None:
        super().__init__(SIGNATURES[TASK])
        self.generator = generator

    def forward(self, **inputs: str) -> dspy.Prediction:
        generated = asyncio.run(self.generator.generate(TASK, inputs, SECONDS))
        read = dspy.Prediction(**generated.outputs)
        dspy.settings.trace.append((self, inputs, read))
        return read


def questions(half: str) -> list[Test]:
    """Give questions with what is known of them; those about files know no more than the kind."""
    known = [test for test in _lines("intents.jsonl") if test["half"] == half]
    with_intent = [test for test in _lines("questions.jsonl") if "intent" in test]
    return known + [
        {"query": test["query"], "given_hint": test.get("hint", ""), "kind": test["intent"]}
        for test in with_intent["AB".index(half) :: 2]
    ]


def _lines(name: str) -> list[Test]:
    return [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()]


def by_turns(tests: Sequence[Test]) -> list[Test]:
    """Put one question of each kind first, then one more of each, and so on."""
    seen: Counter[str] = Counter()
    places = []
    for test in tests:
        seen[test["kind"]] += 1
        places.append(seen[test["kind"]])
    order = sorted(range(len(tests)), key=places.__getitem__)
    return [tests[place] for place in order]


def inputs(test: Test) -> dict[str, str]:
    return {"query": test["query"], "given_hint": test.get("given_hint", "")}


def judge(test: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, bool]:
    """Say of each part that is known whether it is right; sub-questions may be worded otherwise."""
    right = {"kind": read["kind"] == test["kind"]}
    if "entities" in test:
        right["entities"] = _folded(read["entities"]) == _folded(test["entities"])
        right["sub_questions"] = len(read["sub_questions"]) == len(test["sub_questions"])
    return right


def _folded(entities: Sequence[str]) -> set[str]:
    return {entity.casefold() for entity in entities}


def learn(generator: Generator, tests: Sequence[Test]) -> dspy.Predict:
    """Give the program with demonstrations. Raises ConfigError if no reading is right."""
    examples = [
        dspy.Example(**inputs(test), test=test).with_inputs(*inputs(test))
        for test in by_turns(tests)
    ]
    optimiser = BootstrapFewShot(
        metric=lambda example, read, trace: all(judge(example.test, read).values()),
        max_bootstrapped_demos=DEMOS,
        max_labeled_demos=0,  # the samples do not know all fields, and what is half shown misleads
        max_errors=ERRORS,
    )
    program = optimiser.compile(Reader(generator), trainset=examples)
    if not program.demos:
        raise ConfigError(f"{generator.name} reads no question of half A right: name another model")
    return program


async def measure(generator: Generator, tests: Sequence[Test]) -> list[dict[str, bool]]:
    """Say what is right of each question; nothing is where the model fails."""
    scores = []
    for test in tests:
        try:
            generated = await generator.generate(TASK, inputs(test), SECONDS)
        except ProviderError as error:
            print(f"failed: {test['query']}: {error}", file=sys.stderr)
            scores.append(dict.fromkeys(judge(test, test | {"kind": ""}), False))
        else:
            scores.append(judge(test, generated.outputs))
    return scores


def report(name: str, scores: Sequence[Mapping[str, bool]]) -> None:
    known = [[score[part] for score in scores if part in score] for part in PARTS]
    print(f"| {name} |", " | ".join(f"{sum(part)} of {len(part)}" for part in known), "|")


def model(settings: Settings, prompts: Path | None) -> Generator:
    generator = find_generator(settings.model_copy(update={"llm_prompts": prompts}))
    if generator is None:
        raise ConfigError("no language model is configured: set LEXICHORD_LLM")
    return generator


def optimise(folder: Path) -> None:
    settings = load_settings()
    shipped = model(settings, None)
    program = learn(shipped, questions("A"))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{TASK}.json"
    program.save(file)
    print(f"\nwritten: {file}, {len(program.demos)} demonstrations\n")
    print("| half B |", " | ".join(PARTS), "|\n|---|---|---|---|")
    report("as shipped", asyncio.run(measure(shipped, questions("B"))))
    report("compiled", asyncio.run(measure(model(settings, folder), questions("B"))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path, help="where intent.json is written")
    try:
        optimise(parser.parse_args().folder)
    except (LexichordError, OSError) as error:
        sys.exit(f"optimise_prompts: {error}")


if __name__ == "__main__":
    main()
