"""Measure how much more evidence a model that knows the gold finds than one that says nothing.

python scripts/bench/llm_oracle.py

The samples are asked for 29 questions through a server of the script's own; recall within so many
characters is printed. Exits with 1 where the model's words raise none of it.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conftest import SAMPLES
from tests.end_to_end.llm_replies import Outputs, read, replying, with_model
from tests.providers.chat_servers import Reply, chat_server

from lexichord import SyncLexichord
from lexichord.evaluate.datasets import load_set
from lexichord.evaluate.metrics import EVIDENCE_BUDGETS_CHARS, compute_metrics, mean_of_judged
from lexichord.types import Response
from lexichord.types.evaluation import EvalQuery, Outcome, RankedPassage

K = 10


def questions() -> list[EvalQuery]:
    return [query for query in load_set("sample").queries if query.spans]


def omniscient(queries: Sequence[EvalQuery], titles: Mapping[str, str]) -> Reply:
    """Read a question, and know words for a file, by what answers it."""
    gold = {query.text: query for query in queries}
    texts = {uri: (SAMPLES / uri).read_text() for uri in titles}

    def intent(inputs: Mapping[str, str]) -> Outputs:
        query = gold[inputs["query"]]
        files = dict.fromkeys(span.file for span in query.spans)
        return read(query.text, hint=" and ".join(titles[file] for file in files))

    def boost(inputs: Mapping[str, str]) -> Outputs:
        spans = gold[inputs["query"]].spans
        own = [span for span in spans if titles[span.file] == inputs["document"]]
        return {"keyword_sets": [texts[s.file][s.start : s.end].split() for s in own]}

    return replying(intent=intent, boost=boost)


def outcome(query: EvalQuery, response: Response) -> Outcome:
    root = f"{SAMPLES}/"
    passages = (
        RankedPassage(hit.uri.removeprefix(root), hit.start, hit.end, place, hit.score)
        for place, hit in enumerate(response.hits)
    )
    return Outcome(query.id, tuple(passages))


def recall(samples: SyncLexichord, reply: Reply, queries: Sequence[EvalQuery]) -> dict[str, float]:
    """Give the mean evidence recall with a model, by budget."""
    with chat_server(reply) as server, with_model(samples, server) as lexichord:
        responses = [lexichord.query(q.text, k=K, llm_stages=["intent", "boost"]) for q in queries]
    assert not any(each.degraded for each in responses)
    outcomes = [outcome(query, each) for query, each in zip(queries, responses, strict=True)]
    scores = compute_metrics(queries, outcomes, (K,))
    means = {
        f"evidence@{b}": mean_of_judged(scores[f"evidence@{b}"]) for b in EVIDENCE_BUDGETS_CHARS
    }
    return {name: mean or 0.0 for name, mean in means.items()}


def main() -> None:
    """Exit with 1 where knowing raises too little."""
    queries = questions()
    root = f"{SAMPLES}/"
    with TemporaryDirectory(prefix="lxo") as folder, SyncLexichord(home=Path(folder)) as samples:
        samples.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
        rows = samples.list()
        titles = {row.uri.removeprefix(root): " ".join(row.title.split()) for row in rows}
        silent = recall(samples, replying(), queries)
        knowing = recall(samples, omniscient(queries, titles), queries)
    for name, share in silent.items():
        print(f"{name}: {share:.3f} silent, {knowing[name]:.3f} knowing")
    sys.exit(any(knowing[name] <= silent[name] + 0.05 for name in silent))


if __name__ == "__main__":
    main()
