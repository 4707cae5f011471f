"""The numbers for Prometheus: right, and without a word of what is asked or stored."""

import httpx
import psycopg
from prometheus_client.parser import text_string_to_metric_families

from tests.http.conftest import DOCUMENTS
from tests.http.served import fill, serve


def numbers(client: httpx.Client) -> dict[tuple[str, ...], float]:
    """Give each number by its name and the values of its labels."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_what_is_answered_refused_stored_and_lent_is_counted(fresh: str) -> None:
    fill(fresh, DOCUMENTS)
    with serve(fresh, max_body=1000) as served:
        client = served.by()
        for _ in range(3):
            client.post("/v1/search", json={"query": "zebra", "mode": "keyword"})
        client.post("/v1/search", json={"query": "zebra", "k": 0})
        client.post("/v1/search", content=b"x" * 1001)
        client.get("/v1/documents/doc_vhsvemia3hqupzas")
        client.get("/wp-login.php")
        client.request("BREW", "/search")
        counts = numbers(client)
        text = client.get("/metrics").text
    for word in ("zebra", "nda", "closed", "vhsvemia", "wp-login", "BREW"):
        assert word not in text
    name = "lexichord_requests_total"
    assert counts[name, "POST", "/v1/search", "200"] == 3
    assert counts[name, "POST", "/v1/search", "422"] == 1
    assert counts[name, "POST", "other", "413"] == 1
    assert counts[name, "GET", "/v1/documents/{document_id:path}", "404"] == 1
    assert counts[name, "GET", "other", "404"] == 1
    assert counts[name, "other", "/search", "405"] == 1
    assert counts["lexichord_requests_refused_total",] == 1
    assert counts["lexichord_requests_running",] == 1  # this one
    assert counts["lexichord_request_seconds_count", "/v1/search"] == 4
    assert counts["lexichord_request_seconds_sum", "/v1/search"] > 0
    assert (counts["lexichord_stored", "documents"], counts["lexichord_stored", "chunks"]) == (2, 2)
    assert counts["lexichord_connections", "open"] >= 1
    assert counts["lexichord_connections", "waiting"] == 0
    assert counts["process_resident_memory_bytes",] > 0


def test_rows_of_indexed_tables_are_counted(fresh: str) -> None:
    with psycopg.connect(fresh, autocommit=True) as connection, serve(fresh) as served:
        connection.execute("create table secret (id int primary key, body text)")
        connection.execute("insert into secret values (1, 'zebra'), (2, null)")
        connection.execute("select lexichord.index_table('public.secret', text => '{body}')")
        served.lexichord.index_changes()
        connection.execute("insert into secret values (3, 'waits')")
        counts = numbers(served.by())
        text = served.by().get("/metrics").text
    states = ("stored", "waiting", "failed")
    assert [counts["lexichord_table_rows", state] for state in states] == [1, 1, 1]
    assert counts["lexichord_table_lag_seconds",] > 0
    assert "secret" not in text
