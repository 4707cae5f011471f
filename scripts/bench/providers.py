"""Embedding by services that fail, measured: how much of what the rate limit allows is used.

Local servers take the services' places. Each run ingests CHUNKS chunks into a database of its own,
while 30 % of the calls answer 429 with Retry-After, answer 500, or never; the share is the time
that all calls, failed ones among them, take at the limit, of the time that the ingest took.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.http_server import Reply
from tests.providers.embed_servers import SPACES, Request, Shape, embed_server

from lexichord import SyncLexichord
from lexichord.settings import load_settings

CHUNKS, SHARE, SEED = 1000, 0.3, 7
TIMEOUT = 2.0  # seconds for a request
WAYS = (Reply(429, headers={"Retry-After": "1"}), Reply(500), Reply(manner="silent"))


def failing(share: float) -> Callable[[Request], Reply | None]:
    """Fail so often, in each of the ways."""
    chance = Random(SEED)
    return lambda request: chance.choice(WAYS) if chance.random() < share else None


def measure(shape: Shape, share: float, per_minute: int, documents: int) -> None:
    each = CHUNKS // documents
    sources = [
        {"uri": f"{n}", "chunks": [{"content": f"Clause n{n}p{place}."} for place in range(each)]}
        for n in range(documents)
    ]
    with tempfile.TemporaryDirectory(prefix="lxb") as home, embed_server(shape) as server:
        Path(home).chmod(0o755)
        settings = load_settings(
            home=home,
            embedding=SPACES[shape],
            embedding_base_url=server.url,
            embedding_api_key="key",
            embedding_requests_per_minute=per_minute,
            embedding_timeout=TIMEOUT,
        )
        with SyncLexichord(settings) as lexichord:
            lexichord.search("warm")  # loads the SDK
            server.requests.clear()
            server.embedded.clear()
            server.fail = failing(share)
            started = perf_counter()
            report = lexichord.ingest(documents=sources, context="none")
            seconds = perf_counter() - started
            missing = lexichord.status().chunks_without_vector
    assert (report.embedded, missing) == (CHUNKS, 0)
    assert set(server.embedded.values()) == {1}
    calls = len(server.requests)
    at_limit = (calls - 1) * 60 / per_minute  # the first call need not wait
    print(
        f"{shape:>7} {documents:>5} documents, {share:4.0%} failing: {calls:>4} calls in "
        f"{seconds:5.1f} s, {CHUNKS / seconds:5.0f} chunks/s, {at_limit / seconds:4.0%} of "
        f"{per_minute} a minute",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-minute", type=int, default=60)
    per_minute = parser.parse_args().per_minute
    for share in (0.0, SHARE):
        for shape in ("gemini", "cohere", "openai"):
            for documents in (1, 20):
                measure(shape, share, per_minute, documents)


if __name__ == "__main__":
    main()
