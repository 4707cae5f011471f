"""Good contexts raise a chunk's rank in both channels, by the real embedder; how it is measured."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lexichord import SyncLexichord
from lexichord.types import Mode
from lexichord.types.evaluation import EvalQuery, EvalSet, EvidenceSpan
from tests.end_to_end.context_server import opened, passages
from tests.end_to_end.processes import run_cli, run_strategies
from tests.providers.chat_servers import Prompt, chat_server

NAMES = ("Acme", "Borealis", "Cobalt", "Dunmore", "Evergreen", "Falcon", "Granite", "Halcyon",
         "Ironwood", "Juniper", "Kestrel", "Lakeside")  # fmt: skip
FEE = "The monthly fee is four thousand dollars and falls due on the tenth day."


def contract(number: int, name: str) -> dict[str, Any]:
    parties = f"This agreement is made between {name} Limited and its customer."
    contents = [parties, FEE, "Either side may end it with a notice of ninety days."]
    chunks = [{"content": content} for content in contents]
    return {"uri": f"contract-{number}", "title": "Agreement", "chunks": chunks}


CONTRACTS = [contract(number, name) for number, name in enumerate(NAMES)]


def good(prompt: Prompt) -> dict[str, object]:
    """Name the party and the matter, as a model does that has read the document."""
    match = re.search(r"between (\w+) Limited", prompt.inputs["document"])
    assert match
    contexts = {FEE: f"The tariff of {match[1]}."}
    texts = enumerate(passages(prompt), 1)
    return {"contexts": [{"number": n, "context": contexts.get(t, "A clause.")} for n, t in texts]}


def rank(lexichord: SyncLexichord, number: int, mode: Mode) -> int:
    query = f"tariff of {NAMES[number]}"
    hits = lexichord.search(query, mode=mode, k=40).hits
    places = [hit.uri == f"contract-{number}" and hit.content == FEE for hit in hits]
    return places.index(True) + 1


@pytest.mark.parametrize("mode", ["dense", "keyword"])
def test_good_contexts_raise_ranks_in_both_channels(embedding_dsn: str, mode: Mode) -> None:
    with chat_server(good) as server, opened(embedding_dsn, server) as lexichord:
        lexichord.ingest(documents=CONTRACTS)
        before = [rank(lexichord, number, mode) for number in range(len(NAMES))]
        assert lexichord.contextualize().documents == len(NAMES)
        after = [rank(lexichord, number, mode) for number in range(len(NAMES))]
    assert min(before) > 1
    assert max(after) == 1


def given_set() -> EvalSet:
    whole = ["\n\n".join(chunk["content"] for chunk in one["chunks"]) for one in CONTRACTS]
    start = [text.index(FEE) for text in whole]
    queries = [
        EvalQuery(
            f"q{number}",
            f"tariff of {name}",
            spans=(EvidenceSpan(f"contract-{number}", start[number], start[number] + len(FEE)),),
        )
        for number, name in enumerate(NAMES)
    ]
    return EvalSet("fees", CONTRACTS, tuple(queries))


def test_the_contextual_rows_of_an_evaluation(embedding_dsn: str, home: Path) -> None:
    names = ("vector", "keyword", "vector-llm", "keyword-llm", "hybrid-fuse-llm")
    with chat_server(good) as server, opened(embedding_dsn, server, home=home) as lexichord:
        runs = {each.strategy: each for each in run_strategies(lexichord, given_set(), *names)}
    assert [each.settings["context"] for each in runs.values()] == [
        *["structural"] * 2,
        *["llm"] * 3,
    ]
    mrr = {name: sum(each.metrics["mrr"]) for name, each in runs.items()}  # type: ignore[arg-type]
    assert mrr["vector-llm"] > mrr["vector"] + 2
    assert mrr["keyword-llm"] > mrr["keyword"] + 2
    assert len(server.requests) == len(NAMES)
    assert runs["keyword-llm"].settings["contexts"]["model"] == "openai/any"


def test_the_command_line(
    embedding_dsn: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cli(*arguments: str, model: bool = True) -> tuple[int, str, str]:
        named = {"LEXICHORD_LLM": "openai/any", "LEXICHORD_LLM_BASE_URL": server.url}
        done = run_cli(embedding_dsn, home, *arguments, **(named if model else {}))
        return done.exit_code, done.stdout, done.stderr

    lines = tmp_path / "contracts.jsonl"
    lines.write_text("\n".join(map(json.dumps, CONTRACTS)))
    with chat_server(good) as server:
        assert cli("ingest", "--chunked", str(lines), model=False)[0] == 0
        code, _, err = cli("contextualize", model=False)
        assert (code, err) == (2, "lexichord: contexts by a model need one: set LEXICHORD_LLM to "
                                  "vendor/model\n")  # fmt: skip
        code, out, err = cli("contextualize", "--dry-run")
        assert code == 0
        assert "12 documents, 36 chunks without a context by openai/any; 0 known" in out
        assert "12 calls, about" in out
        assert "cost unknown" in out
        assert "under [prices]" in err
        assert server.requests == []

        monkeypatch.setenv("LEXICHORD_PRICES", '{"openai/any": {"input": 1, "output": 2}}')
        code, out, err = cli("contextualize", "--budget", "0.0000001", "--json")
        assert code == 1
        report = json.loads(out)
        assert (report["documents"], report["llm"]["left"]) == (0, 36)
        assert "budget of $1e-07 would be passed" in report["llm"]["stopped"]
        code, out, err = cli("contextualize", "--dataset", "default")
        assert code == 0
        assert out.splitlines() == [
            "12 documents changed, 36 chunks embedded",
            "36 contexts by openai/any, 0 from before",
            "12 calls, 1440 tokens in, 360 out, $0.0022",
        ]
        code, out, _ = cli("ingest", "--chunked", str(lines), "--context", "llm")
        assert (code, out.splitlines()[0][:22]) == (0, "0 inserted, 0 replaced")
        monkeypatch.setenv("LEXICHORD_PRICES", '{"x": {"input": -1, "output": 0}}')
        code, _, err = cli("contextualize", "--dry-run")
        assert (code, "prices.x" in err) == (2, True)
