"""What a model replies in tests, task by task, and the sample corpus opened with such a model."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lexichord import SyncLexichord
from lexichord.types import LlmStage
from lexichord.types.questions import Task
from tests.end_to_end.processes import reopened
from tests.providers.chat_servers import ChatServer, Prompt, Reply

MODELS = {False: "openai/any", True: "gemini/any"}  # by whether the server speaks Gemini
KEY = "sk-not-to-be-told"
STAGES: tuple[LlmStage, ...] = ("intent", "boost", "rewrite", "answer", "reflect")
# Each task by an output that no other task has.
TASKS: dict[str, Task] = {
    "sub_questions": "intent",
    "confidence": "rewrite",
    "keyword_sets": "boost",
    "clauses": "clauses",
    "sentences": "summary",
    "cells": "comparison",
    "grounding": "grade",
}
ASPECTS = ("grounding", "completeness", "consistency", "specificity")
MARKED = re.compile(r"<source-(\w+) number=(\d+) title=([^\n]*)>\n(.*?)\n</source-\1>", re.DOTALL)

type Outputs = Mapping[str, object]
type ByTask = Outputs | Callable[[Mapping[str, str]], Outputs]


class Shown(NamedTuple):
    """A passage as the server sees it."""

    number: int
    title: str
    text: str


def task(prompt: Prompt) -> Task:
    (name,) = prompt.fields & TASKS.keys()
    return TASKS[name]


def shown(text: str) -> list[Shown]:
    """Give the passages that stand between marks, whole."""
    return [Shown(int(match[2]), match[3], match[4]) for match in MARKED.finditer(text)]


def grades(score: float = 1.0, missing: str = "") -> Outputs:
    scores: dict[str, object] = {name: {"score": score, "reason": f"{name}?"} for name in ASPECTS}
    return scores | {"missing": missing}


def silent(inputs: Mapping[str, str]) -> dict[Task, Outputs]:
    """Give replies in which nothing is said that the words alone do not say."""
    query = inputs.get("query", "")
    return {
        "intent": read(query),
        "rewrite": {"kind": "none", "text": query, "confidence": 0, "reason": "it is enough"},
        "boost": {"keyword_sets": []},
        "clauses": {"clauses": [], "answer": "Nothing."},
        "summary": {"sentences": []},
        "comparison": {"cells": []},
        "grade": grades(),
    }


def read(query: str, **more: object) -> Outputs:
    """Give a reading of a query: for one thing, by default."""
    fields: dict[str, object] = {"kind": "clause_lookup", "question": query, "hint": ""}
    lists: dict[str, object] = {"domain": "", "entities": [], "sub_questions": []}
    return fields | lists | {"reason": "it asks"} | more


def replying(**by_task: ByTask) -> Reply:
    """Reply to each task named here, by its inputs if that is a function; else nothing is said."""

    def reply(prompt: Prompt) -> Outputs:
        name, inputs = task(prompt), prompt.inputs
        output = by_task.get(name, silent(inputs)[name])
        return output(inputs) if callable(output) else output

    return reply


def requests_for(server: ChatServer, name: Task) -> list[Prompt]:
    """Give the requests for a task."""
    return [prompt for prompt in server.requests if task(prompt) == name]


def with_model(samples: SyncLexichord, server: ChatServer) -> SyncLexichord:
    """Return the same database's application with a model in the settings."""
    model = MODELS[server.gemini]
    return reopened(samples, llm=model, llm_base_url=server.url, llm_api_key=KEY)
