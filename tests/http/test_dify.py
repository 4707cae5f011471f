"""Dify's External Knowledge API, asked over a socket with the requests that Dify sends."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from lexichord import SyncLexichord
from lexichord.providers.embed.local import LocalEmbedder
from tests.conftest import ROOT
from tests.http.served import Served, samples_served, serving
from tests.http.server import Server
from tests.listening import PATIENCE

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"
NOWHERE = "Which enzyme unwinds the double helix before it is copied?"
DEPOSIT = "When is the deposit repaid?"
PATHS = ("/retrieval", "/dify/retrieval")


@pytest.fixture(scope="module")
def served(embedded_dsn: str, home: Path, embedder: LocalEmbedder) -> Iterator[Served]:
    with samples_served(embedded_dsn, home) as served:
        yield served


@pytest.fixture
def dify(served: Served) -> Iterator[httpx.Client]:
    """A client with the headers that Dify sends at a retrieval."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {served.key}"}
    with httpx.Client(base_url=served.url, headers=headers, timeout=PATIENCE) as client:
        yield client


def body(knowledge: str, question: str = QUESTION, **more: Any) -> dict[str, Any]:
    setting = {"top_k": more.pop("top_k", 4), "score_threshold": more.pop("score_threshold", 0.0)}
    return {"retrieval_setting": setting, "query": question, "knowledge_id": knowledge, **more}


def records(dify: httpx.Client, *arguments: Any, **more: Any) -> list[dict[str, Any]]:
    answer = dify.post("/retrieval", json=body(*arguments, **more))
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"records"}
    rows: list[dict[str, Any]] = answer.json()["records"]
    return rows


def refusal(answer: httpx.Response) -> tuple[int, int]:
    assert set(answer.json()) == {"error_code", "error_msg"}
    assert answer.json()["error_msg"]
    return answer.status_code, answer.json()["error_code"]


def where(
    dify: httpx.Client, *conditions: dict[str, Any], operator: str | None = "and"
) -> set[str]:
    """Give the documents of the library that fulfil conditions."""
    condition = {"logical_operator": operator, "conditions": list(conditions)}
    hits = records(dify, "library", DEPOSIT, top_k=10, metadata_condition=condition)
    return {record["title"] for record in hits}


@pytest.mark.client("Dify's requests", "search")
def test_records_have_all_that_dify_reads(dify: httpx.Client) -> None:
    hits = records(dify, "samples")
    assert len(hits) == 4
    for record in hits:
        assert set(record) == {"content", "score", "title", "metadata"}
        assert 0 <= record["score"] <= 1
        assert isinstance(record["metadata"], dict)
        assert {"uri", "heading", "start", "end", "scores", "ranks"} <= set(record["metadata"])
    scores = [record["score"] for record in hits]
    assert scores == sorted(scores, reverse=True)
    assert "ten (10) years" in hits[0]["content"]


def test_a_document_without_metadata_still_has_an_object_of_it(dify: httpx.Client) -> None:
    hits = records(dify, "library", DEPOSIT, top_k=10)
    assert {record["title"] for record in hits} == {
        "lease-2019",
        "lease-2024",
        "nda-2021",
        "plain",
    }
    assert all(record["metadata"]["dataset"] == "library" for record in hits)
    (lease,) = [record for record in hits if record["title"] == "lease-2019"]
    assert lease["metadata"]["tags"] == ["office", "london"]


def test_a_threshold_parts_what_answers_from_what_does_not(dify: httpx.Client) -> None:
    """A threshold of .5 would drop every RRF score, and z-scores know no foreign question."""
    everything = records(dify, "samples", top_k=10)
    sure = records(dify, "samples", top_k=10, score_threshold=0.5)
    assert sure == everything[: len(sure)]
    assert 1 <= len(sure) < len(everything)
    assert records(dify, "samples", NOWHERE)
    assert records(dify, "samples", NOWHERE, score_threshold=0.1) == []


@pytest.mark.parametrize("setting", [{}, {"top_k": None, "score_threshold": None}])
def test_without_a_setting_there_are_as_many_records_as_dify_asks_for(
    dify: httpx.Client, setting: dict[str, Any]
) -> None:
    request = {**body("samples"), "retrieval_setting": setting}
    assert len(dify.post("/retrieval", json=request).json()["records"]) == 4


@pytest.mark.client("Dify's requests", "k")
def test_more_records_than_are_searched_for_is_no_error(dify: httpx.Client) -> None:
    assert len(records(dify, "library", DEPOSIT, top_k=5000)) == 4


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_finds_nothing(dify: httpx.Client, question: str) -> None:
    assert records(dify, "samples", question) == []


def test_a_dataset_without_documents_has_no_records(dify: httpx.Client) -> None:
    assert records(dify, "empty") == []


@pytest.mark.parametrize("path", PATHS)
def test_the_probe_of_older_versions_is_answered_by_an_empty_body(
    served: Served, path: str
) -> None:
    """They post nothing, and take 403, 404, 502 and no answer for a wrong address or key."""
    url = served.url + path
    right = httpx.post(url, headers={"Authorization": f"Bearer {served.key}"}, timeout=PATIENCE)
    assert refusal(right) == (400, 400)
    wrong = httpx.post(url, headers={"Authorization": "Bearer lx_wrong"}, timeout=PATIENCE)
    assert refusal(wrong) == (403, 1002)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("setting", [{"top_k": 1, "score_threshold": 0.0}, None])
@pytest.mark.parametrize("question", ["test", ""])
def test_the_probe_of_newer_versions_is_answered_whatever_its_knowledge(
    served: Served, path: str, setting: dict[str, Any] | None, question: str
) -> None:
    request = {"knowledge_id": "validation", "query": question, "retrieval_setting": setting}
    sent = {name: value for name, value in request.items() if value is not None}
    right = httpx.post(
        served.url + path,
        headers={"Authorization": f"Bearer {served.key}"},
        json=sent,
        timeout=PATIENCE,
    )
    assert right.status_code in (200, 400)
    wrong = httpx.post(
        served.url + path, headers={"Authorization": "Bearer x"}, json=sent, timeout=PATIENCE
    )
    assert refusal(wrong) == (403, 1002)


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, 1001),
        ("", 1001),
        ("Bearer", 1001),
        ("Basic dTpw", 1001),
        ("lx_key", 1001),
        ("Bearer [__HIDDEN__]", 1002),
        ("bearer lx_wrong", 1002),
    ],
)
def test_who_has_no_valid_key_is_told_in_difys_codes(
    served: Served, header: str | None, code: int
) -> None:
    headers = {} if header is None else {"Authorization": header}
    for sent in (json.dumps(body("samples")), "", "{"):
        answer = httpx.post(
            f"{served.url}/retrieval", headers=headers, content=sent, timeout=PATIENCE
        )
        assert refusal(answer) == (403, code)


def test_a_revoked_key_is_refused(served: Served) -> None:
    created = served.lexichord.create_key("short")
    served.lexichord.revoke_key(created.key.key_id)
    headers = {"Authorization": f"Bearer {created.secret}"}
    answer = httpx.post(
        f"{served.url}/retrieval", headers=headers, json=body("samples"), timeout=PATIENCE
    )
    assert refusal(answer) == (403, 1002)


def test_an_unknown_knowledge_and_one_out_of_reach_look_the_same(
    served: Served, dify: httpx.Client
) -> None:
    unknown = dify.post("/retrieval", json=body("nothing"))
    assert refusal(unknown) == (400, 2001)
    headers = {"Authorization": f"Bearer {served.narrow}"}
    for name in ("samples", "nothing"):
        answer = dify.post("/retrieval", headers=headers, json=body(name))
        assert answer.status_code == 400
        assert answer.json() == unknown.json()
    inside = dify.post("/retrieval", headers=headers, json=body("library"))
    assert len(inside.json()["records"]) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b"[" * 50_000,
        b"{}",
        b'{"query": "x"}',
        b'{"knowledge_id": "library", "query": 5}',
        b'{"knowledge_id": "library", "query": "x", "retrieval_setting": {"top_k": 0}}',
        b'{"knowledge_id": "library", "query": "x", "retrieval_setting": {"top_k": "many"}}',
        b'{"knowledge_id": "library", "query": "\\u0000"}',
        b'{"knowledge_id": "library", "query": "\\ud800"}',
        b'{"knowledge_id": "\\u0000", "query": "x"}',
        b'{"knowledge_id": "library", "query": "' + b"x" * 10_001 + b'"}',
    ],
)
def test_what_cannot_be_read_is_refused_in_difys_shape(dify: httpx.Client, wrong: bytes) -> None:
    answer = dify.post("/retrieval", content=wrong)
    assert refusal(answer) == (400, 400)
    assert not {"Traceback", "lexichord.", "SQL"}.intersection(answer.text.split())


def test_a_body_without_a_content_type_is_refused_in_difys_shape(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.key}"}
    answer = httpx.post(
        f"{served.url}/retrieval", headers=headers, content=b'{"query": "x"}', timeout=PATIENCE
    )
    assert refusal(answer) == (400, 400)


WORKFLOW = ROOT / "docs/integrations/dify-workflow.yml"
LEASES = {"lease-2019", "lease-2024"}
ALL = {*LEASES, "nda-2021", "plain"}


@pytest.mark.client("Dify's requests", "filters")
@pytest.mark.parametrize(
    ("name", "operator", "value", "expected"),
    [
        ("kind", "is", "lease", LEASES),
        ("kind", "is not", "lease", {"nda-2021", "plain"}),
        ("kind", "contains", "eas", LEASES),
        ("kind", "not contains", "eas", {"nda-2021", "plain"}),
        ("kind", "start with", "nd", {"nda-2021"}),
        ("kind", "end with", "se", LEASES),
        ("kind", "in", ["nda", "loan"], {"nda-2021"}),
        ("kind", "in", "nda, loan", {"nda-2021"}),
        ("kind", "not in", ["nda", "loan"], {*LEASES, "plain"}),
        ("tags", "contains", "shop", {"lease-2024"}),
        ("tags", "contains", ["shop", "london"], LEASES),
        ("tags", "not contains", ["shop", "london"], {"nda-2021", "plain"}),
        ("tags", "empty", None, {"nda-2021", "plain"}),
        ("tags", "not empty", None, LEASES),
        ("note", "null", None, ALL),
        ("kind", "not null", None, {*LEASES, "nda-2021"}),
        ("year", "=", 2024, {"lease-2024"}),
        ("year", "=", "2024", {"lease-2024"}),
        ("year", "is", "2024", {"lease-2024"}),
        ("edition", "=", 10, {"lease-2024"}),
        ("year", "≠", 2024, {"lease-2019", "nda-2021", "plain"}),
        ("year", ">", 2020, {"lease-2024", "nda-2021"}),
        ("year", ">", "2020.5", {"lease-2024", "nda-2021"}),
        ("year", "<", 2021, {"lease-2019"}),
        ("year", "≥", 2021, {"lease-2024", "nda-2021"}),
        ("year", "≤", 2021, {"lease-2019", "nda-2021"}),
        ("signed", "before", "2021-01-15", {"lease-2019"}),
        ("signed", "after", "2020-01-01", {"lease-2024", "nda-2021"}),
        ("signed", "after", 1_600_000_000, {"lease-2024", "nda-2021"}),
        ("seconds", "before", 1_600_000_000, {"lease-2019"}),
        ("open", "is", "true", {"lease-2019"}),
        ("open", "is not", False, {"lease-2019", "nda-2021", "plain"}),
        (["kind", "edition"], "is", "nda", {"nda-2021"}),
        (["kind"], "is", "nda", {"nda-2021"}),
        (["kind", "edition"], "is not", "nda", {*LEASES, "plain"}),
        ("kind", "is", None, ALL),
        ("uri", "is", "plain", {"plain"}),
        ("uri", "start with", "lease-", LEASES),
        ("media_type", "is", "text/plain", ALL),
        ("dataset", "is not", "library", set()),
        ("folder", "empty", None, ALL),
    ],
)
def test_each_operator_does_what_it_says(
    dify: httpx.Client, name: Any, operator: str, value: Any, expected: set[str]
) -> None:
    condition = {"name": name, "comparison_operator": operator, "value": value}
    assert where(dify, condition) == expected
    if value is None:
        del condition["value"]
        assert where(dify, condition) == expected


def test_conditions_hold_all_at_once_or_one_at_least(dify: httpx.Client) -> None:
    lease = {"name": "kind", "comparison_operator": "is", "value": "lease"}
    late = {"name": "year", "comparison_operator": ">", "value": 2020}
    assert where(dify, lease, late) == {"lease-2024"}
    assert where(dify, lease, late, operator=None) == {"lease-2024"}
    assert where(dify, lease, late, operator="or") == {*LEASES, "nda-2021"}


def test_difys_name_of_a_document_is_its_title(dify: httpx.Client) -> None:
    def titles(operator: str, value: str) -> set[str]:
        condition = {"name": "document_name", "comparison_operator": operator, "value": value}
        named = {"logical_operator": "and", "conditions": [condition]}
        return {each["title"] for each in records(dify, "samples", metadata_condition=named)}

    assert titles("is", "Data Retention Policy") == {"Data Retention Policy"}
    assert titles("contains", "Policy")
    assert "Data Retention Policy" not in titles("is not", "Data Retention Policy")


@pytest.mark.parametrize(
    "condition", [None, {}, {"conditions": None}, {"logical_operator": "or", "conditions": []}]
)
def test_no_condition_takes_everything(dify: httpx.Client, condition: Any) -> None:
    hits = records(dify, "library", DEPOSIT, top_k=10, metadata_condition=condition)
    assert {record["title"] for record in hits} == ALL


def test_a_key_that_only_others_have_is_a_condition_like_others(dify: httpx.Client) -> None:
    """One filter of a Dify node goes to all its knowledge bases, of which some may lack the key."""
    one = {"name": "kind", "comparison_operator": "is", "value": "lease"}  # of the library
    title = {"name": "title", "comparison_operator": "contains", "value": "Lease"}

    def found(*conditions: dict[str, Any], operator: str = "and") -> int:
        condition = {"conditions": list(conditions), "logical_operator": operator}
        return len(records(dify, "samples", metadata_condition=condition))

    assert found(one) == found(one, title) == 0
    assert found({**one, "comparison_operator": "is not"}) == 4
    assert found({**one, "comparison_operator": "empty"}) == 4
    assert found(one, title, operator="or") == found(title) > 0


def test_a_key_that_no_document_has_is_an_error(dify: httpx.Client) -> None:
    unknown = {"name": "kindd", "comparison_operator": "is", "value": "lease"}
    condition = {"conditions": [unknown], "logical_operator": "and"}
    answer = dify.post("/retrieval", json=body("library", metadata_condition=condition))
    assert refusal(answer)[0] == 400
    assert "'kind', " in answer.json()["error_msg"]


@pytest.mark.parametrize(
    "condition",
    [
        {"name": "kind", "comparison_operator": "sounds like", "value": "x"},
        {"name": "signed", "comparison_operator": "before", "value": "soon"},
        {"name": "signed", "comparison_operator": "before", "value": 10**14},
        {"name": [], "comparison_operator": "is", "value": "x"},
        {"name": "kind", "comparison_operator": "is", "value": "\0"},
        {"name": "kind", "comparison_operator": "is", "value": {"x": 1}},
        {"comparison_operator": "is", "value": "x"},
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused(
    dify: httpx.Client, condition: dict[str, Any]
) -> None:
    request = body("library", metadata_condition={"conditions": [condition]})
    assert refusal(dify.post("/retrieval", json=request)) == (400, 400)


def test_beside_dify_in_docker_the_name_of_this_machine_is_taken_or_named(
    fresh: str, home: Path
) -> None:
    docker = "host.docker.internal"
    with SyncLexichord(dsn=fresh, home=home) as lexichord:
        key = lexichord.create_key("dify").secret
    sent = {"host": f"{docker}:8080", "authorization": f"Bearer {key}"}
    strange = {"host": "evil\x07.example", "authorization": f"Bearer {key}"}
    with Server(fresh, home) as server, server.client() as client:
        for _ in range(2):
            answer = client.post("/retrieval", headers=sent, json=body("default"))
            assert answer.status_code == 400
            assert f"LEXICHORD_ALLOWED_HOSTS={docker}" in answer.text
        assert server.log().count(f"{docker} is no name of this server") == 1
        names = [f"host-{number}.example" for number in range(30)]
        for name in names:
            assert name in client.get("/healthz", headers={"host": name}).text
        assert sum(name in server.log() for name in names) < len(names)  # a log is not filled
        assert "names no host" in client.get("/healthz", headers=strange).text
    with Server(fresh, home, allowed_hosts=docker) as server, server.client() as client:
        answer = client.post("/retrieval", headers=sent, json=body("default"))
        assert refusal(answer) == (400, 2001)  # the dataset is not there: the key was taken


def test_the_workflow_has_the_form_that_dify_imports() -> None:
    """Checked with Dify's own loader by hand, too: its graph engine brings far more along."""
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert (workflow["kind"], workflow["app"]["mode"]) == ("app", "workflow")
    assert isinstance(workflow["version"], str)
    graph = workflow["workflow"]["graph"]
    nodes = {node["id"]: node["data"] for node in graph["nodes"]}
    assert [data["type"] for data in nodes.values()] == [
        *("start", "code", "http-request", "code", "end")
    ]
    for edge in graph["edges"]:
        ends = nodes[edge["source"]]["type"], nodes[edge["target"]]["type"]
        assert (edge["data"]["sourceType"], edge["data"]["targetType"]) == ends
    known = {*nodes, "env"}
    places = re.findall(r"\{\{#(\w+)\.\w+#\}\}", WORKFLOW.read_text())
    selectors = [
        each["value_selector"][0]
        for data in nodes.values()
        for each in (*data.get("variables", ()), *data.get("outputs", ()))
        if isinstance(each, dict) and "value_selector" in each
    ]
    assert set(places) | set(selectors) <= known
    for variable in workflow["workflow"]["environment_variables"]:
        assert variable["selector"] == ["env", variable["name"]]
        assert "lx_" not in variable["value"]


@pytest.mark.parametrize("question", [QUESTION, 'What is "rent" \\ {{#env.LEXICHORD_KEY#}}?'])
def test_the_workflow_asks_and_reads_as_its_nodes_say(served: Served, question: str) -> None:
    """Its code is run and its request sent as they stand in the file."""
    graph = yaml.safe_load(WORKFLOW.read_text())["workflow"]["graph"]
    nodes = {node["id"]: node["data"] for node in graph["nodes"]}
    written = run_code(nodes["write"], question=question, dataset="samples")
    ask = nodes["ask"]
    assert ask["body"]["data"][0]["value"] == "{{#write.body#}}"
    name, _, kind = ask["headers"].partition(":")
    answer = httpx.request(
        ask["method"],
        ask["url"].replace("{{#env.LEXICHORD_URL#}}", served.url),
        headers={name: kind, "Authorization": f"Bearer {served.key}"},
        content=written["body"],
        timeout=ask["timeout"]["read"],
    )
    read = run_code(nodes["read"], status=answer.status_code, body=answer.text)
    assert read.keys() == nodes["read"]["outputs"].keys()
    assert read["answer"]
    if question == QUESTION:
        assert "ten (10) years" in read["answer"]
        assert read["sources"]
    with pytest.raises(ValueError, match="the API key is unknown"):
        run_code(nodes["read"], status=401, body=refused(served))


def refused(served: Served) -> str:
    headers = {"Authorization": "Bearer lx_wrong"}
    sent = httpx.post(f"{served.url}/v1/query", headers=headers, json={"query": "x"})
    return sent.text


def run_code(node: dict[str, Any], **arguments: object) -> dict[str, Any]:
    assert {each["variable"] for each in node["variables"]} == arguments.keys()
    names: dict[str, Any] = {}
    exec(node["code"], names)
    result: dict[str, Any] = names["main"](**arguments)
    return result


def test_a_failing_database_is_told_in_difys_shape_and_without_its_place(
    dsn: str, tmp_path: Path
) -> None:
    with SyncLexichord(dsn=dsn, home=tmp_path) as lexichord, serving(lexichord) as url:
        lexichord.run(lexichord.core.database.__aexit__())
        answer = httpx.post(f"{url}/retrieval", json=body("default"), timeout=PATIENCE)
    assert refusal(answer) == (503, 503)
    assert "database could not answer" in answer.text
    assert "pool" not in answer.text
