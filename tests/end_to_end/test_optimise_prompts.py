"""The script that compiles a prompt, as a process, against a model that needs to be shown how."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexichord import SyncLexichord
from lexichord.providers.llm.prompts import SIGNATURES
from tests.conftest import ROOT, SAMPLES
from tests.providers.chat_servers import ChatServer, Prompt, chat_server

KEY = "sk-not-to-be-told"
MODEL = "openai/any"
EASY = 60  # characters of a query that the model reads right without having seen how


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()]


INTENTS = {line["query"]: line for line in lines("intents.jsonl")}
KINDS = {line["query"]: line.get("intent") for line in lines("questions.jsonl")}


def reading(query: str) -> dict[str, object]:
    """What people wrote down of a query, and something for all else."""
    known = INTENTS.get(query, {"kind": KINDS.get(query), "entities": [], "sub_questions": []})
    parts = {name: known[name] for name in ("kind", "entities", "sub_questions")}
    return parts | {"domain": "law", "hint": "", "question": query, "reason": f"so it is: {query}"}


def taught(prompt: Prompt) -> dict[str, object]:
    """Read a long query right only where the prompt demonstrates how."""
    query = prompt.inputs["query"]
    has_seen = len(prompt.messages) > 2
    read = reading(query)
    return read if has_seen or len(query) < EASY else read | {"kind": "general", "entities": ["x"]}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(taught) as server:
        yield server


def optimise(server: ChatServer, cwd: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = {
        "LEXICHORD_LLM": MODEL,
        "LEXICHORD_LLM_BASE_URL": server.url,
        "LEXICHORD_LLM_API_KEY": KEY,
    }
    command = [sys.executable, str(ROOT / "scripts/data/optimise_prompts.py"), str(folder)]
    environment = {"HOME": str(cwd), "PATH": os.environ["PATH"], **settings}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
    )
    assert KEY not in done.stdout + done.stderr
    return done


def shares(table: str, row: str) -> list[tuple[int, int]]:
    (line,) = [line for line in table.splitlines() if line.startswith(f"| {row} |")]
    cells = [cell.split(" of ") for cell in line.split("|")[2:-1]]
    return [(int(right), int(total)) for right, total in cells]


def test_what_is_compiled_helps_and_reaches_the_model_through_the_product(
    server: ChatServer, plain: SyncLexichord, dsn: str, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "prompts"
    done = optimise(server, tmp_path, folder)
    assert done.returncode == 0, done.stderr
    before, after = shares(done.stdout, "as shipped"), shares(done.stdout, "compiled")
    assert [total for _, total in before] == [51, 40, 40]
    assert after == [(51, 51), (40, 40), (40, 40)]
    assert before[0][0] < 51
    assert [file.name for file in folder.iterdir()] == ["intent.json"]
    demos = json.loads((folder / "intent.json").read_text("utf-8"))["demos"]
    assert {demo["kind"] for demo in demos} == {each["kind"] for each in INTENTS.values()}
    for demo in demos:
        assert INTENTS[demo["query"]]["half"] == "A"
        assert set(SIGNATURES["intent"].fields) <= set(demo)
        assert demo["entities"] == INTENTS[demo["query"]]["entities"]

    server.requests.clear()
    settings: dict[str, Any] = {"llm": MODEL, "llm_base_url": server.url, "llm_prompts": folder}
    with SyncLexichord(dsn=dsn, home=home, **settings) as lexichord:
        query = next(q for q, each in INTENTS.items() if each["half"] == "B" and len(q) > EASY)
        response = lexichord.query(query, llm_stages=["intent"])
    assert response.intent.reason == f"{INTENTS[query]['kind']}: so it is: {query}"
    (prompt,) = server.requests
    assert len(prompt.messages) == 2 + 2 * len(demos)
    shown = [text for role, text in prompt.messages if role == "user"]
    for demo in demos:
        assert any(demo["query"] in text for text in shown)
