"""A language model at the command line: what is shown of it, and what it takes to have none."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from typer.testing import Result

from lexichord import SyncLexichord
from tests.end_to_end.llm_replies import KEY, grades, replying
from tests.end_to_end.processes import run_cli
from tests.providers.chat_servers import ChatServer, chat_server

QUERY = "In the lease for Saltpan House, who insures the building?"
ASKED = ("--intent", "clause_lookup", "--llm", "openai/any", "--answer", "--reflect")
QUOTE = "The Landlord shall insure the Building"
# A program that says where it connected to, and whether it imported dspy. Psycopg's own sockets,
# which lead to the database, are libpq's: Python does not see them.
WATCHED = """
import sys
places = []
def hear(event, given):
    if event in ("socket.connect", "socket.getaddrinfo"):
        places.append(str(given[1:2] if event == "socket.connect" else given[:2]))
sys.addaudithook(hear)
from lexichord import SyncLexichord
with SyncLexichord(dsn=sys.argv[1]) as lexichord:
    found = lexichord.query(sys.argv[2], answer=True, reflect=True)
print("dspy" in sys.modules, sorted(set(places)), found.degraded)
"""
WITHOUT_DSPY = """
import runpy, sys
sys.modules["dspy"] = None  # as if it were not installed
runpy.run_module("lexichord", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    clauses = {"clauses": [{"quote": QUOTE, "source": 1}], "answer": "That."}
    with chat_server(replying(clauses=clauses, grade=grades(0.8))) as server:
        yield server


def to_server(server: ChatServer) -> dict[str, str]:
    return {"LEXICHORD_LLM_BASE_URL": server.url, "LEXICHORD_LLM_API_KEY": KEY}


def query(samples: SyncLexichord, *arguments: str, **environment: str) -> Result:
    settings = samples.core.settings
    return run_cli(settings.dsn, settings.home, "query", QUERY, *arguments, **environment)


def run(samples: SyncLexichord, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Python, for what it imports and whom it connects to."""
    settings = samples.core.settings
    named = {"LEXICHORD_DSN": str(settings.dsn), "LEXICHORD_HOME": str(settings.home)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=os.environ | named | more, capture_output=True, text=True, timeout=120
    )


def test_explain_shows_each_call(samples: SyncLexichord, server: ChatServer) -> None:
    done = query(samples, *ASKED, "--explain", **to_server(server))
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"Answer\n{QUOTE} [" in done.stdout
    for name in ("clauses", "grade"):
        (place,) = re.finditer(rf" [\d.]+ ms  llm {name}\n.*\n.*\n", done.stdout)
        assert "given: model: openai/any" in place[0]
        assert "made: requests: 1; input_tokens: 120; output_tokens: 30" in place[0]
    assert KEY not in done.stdout


def test_orders_to_the_terminal_are_not_obeyed(samples: SyncLexichord, server: ChatServer) -> None:
    orders = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil"
    sentence = {"text": f"It is {orders}.", "sources": [1]}
    reason = {"score": 0.1, "reason": orders}
    graded = {name: reason for name in grades() if name != "missing"} | {"missing": orders}
    server.reply = replying(
        intent={
            **{"kind": "summary", "hint": orders, "question": QUERY, "domain": orders},
            **{"entities": [orders], "sub_questions": [orders, QUERY], "reason": orders},
        },
        boost={"keyword_sets": [[orders]]},
        summary={"sentences": [sentence]},
        grade=graded,
    )
    stages = [f"--llm-stage={name}" for name in ("intent", "boost", "answer", "reflect")]
    options = ("--llm", "openai/any", "--answer", "--reflect", "--explain", *stages)
    done = query(samples, *options, **to_server(server))
    assert done.exit_code == 0
    assert "evil" in done.stdout
    for text in (done.stdout, done.stderr):
        assert {c for c in text if not c.isprintable()} <= {"\n"}


def test_a_missing_extra_is_one_line(samples: SyncLexichord) -> None:
    done = run(samples, "-c", WITHOUT_DSPY, "query", QUERY, "--llm", "openai/any")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lexichord: llm needs dspy: pip install 'lexichord[llm]'\n"


def test_without_a_model_dspy_is_not_imported(samples: SyncLexichord) -> None:
    done = run(samples, "-c", WATCHED, str(samples.core.settings.dsn), QUERY)
    assert done.stdout == "False [] []\n", done.stderr


def test_with_one_nobody_else_is_connected_to(samples: SyncLexichord, server: ChatServer) -> None:
    """DSPy would fetch a list of models and prices."""
    model = {"LEXICHORD_LLM": "openai/any", "NO_PROXY": "127.0.0.1"} | to_server(server)
    done = run(samples, "-c", WATCHED, str(samples.core.settings.dsn), QUERY, **model)
    imported, _, rest = done.stdout.partition(" ")
    assert imported == "True", done.stderr
    there = ("127.0.0.1", str(urlsplit(server.url).port))
    assert set(re.findall(r"'([^']+)', (\d+)", rest)) == {there}
    assert rest.rstrip().endswith("[]")
