"""Dify's External Knowledge API, asked over a socket with the requests that Dify sends."""

import json
import re
from typing import Any

import httpx
import pytest
import yaml

from tests.conftest import ROOT
from tests.http.served import Served, serve

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"
NOWHERE = "Which enzyme unwinds the double helix before it is copied?"
DEPOSIT = "When is the deposit repaid?"
PATHS = ("/retrieval", "/dify/retrieval")
LEASES = {"lease-2019", "lease-2024"}
ALL = {*LEASES, "nda-2021", "plain"}


@pytest.fixture
def dify(library: Served) -> httpx.Client:
    """A client with the key that Dify sends at a retrieval."""
    return library.by("all")


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
    hits = records(dify, "agreements")
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
    hits = {each["title"]: each["metadata"] for each in records(dify, "library", DEPOSIT, top_k=10)}
    assert hits.keys() == ALL
    assert {metadata["dataset"] for metadata in hits.values()} == {"library"}
    assert hits["lease-2019"]["tags"] == ["office", "london"]


def test_a_threshold_parts_what_answers_from_what_does_not(dify: httpx.Client) -> None:
    """A threshold of .5 would drop every RRF score, and z-scores know no foreign question."""
    everything = records(dify, "agreements", top_k=10)
    sure = records(dify, "agreements", top_k=10, score_threshold=0.5)
    assert sure == everything[: len(sure)]
    assert 1 <= len(sure) < len(everything)
    assert records(dify, "agreements", NOWHERE)
    assert records(dify, "agreements", NOWHERE, score_threshold=0.1) == []


@pytest.mark.parametrize("setting", [{}, {"top_k": None, "score_threshold": None}])
def test_without_a_setting_there_are_as_many_records_as_dify_asks_for(
    dify: httpx.Client, setting: dict[str, Any]
) -> None:
    request = {**body("agreements"), "retrieval_setting": setting}
    assert len(dify.post("/retrieval", json=request).json()["records"]) == 4


@pytest.mark.client("Dify's requests", "k")
def test_more_records_than_are_searched_for_is_no_error(dify: httpx.Client) -> None:
    assert len(records(dify, "library", DEPOSIT, top_k=5000)) == 4


@pytest.mark.parametrize(
    ("knowledge", "question"), [("agreements", ""), ("agreements", " \n"), ("empty", QUESTION)]
)
def test_an_empty_question_or_dataset_finds_nothing(
    dify: httpx.Client, knowledge: str, question: str
) -> None:
    assert records(dify, knowledge, question) == []


@pytest.mark.parametrize("path", PATHS)
def test_the_probe_of_older_versions_is_answered_by_an_empty_body(
    library: Served, path: str
) -> None:
    """They post nothing, and take 403, 404, 502 and no answer for a wrong address or key."""
    assert refusal(library.by("all").post(path)) == (400, 400)
    assert refusal(library.by("lx_wrong").post(path)) == (403, 1002)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("setting", [{"top_k": 1, "score_threshold": 0.0}, None])
@pytest.mark.parametrize("question", ["test", ""])
def test_the_probe_of_newer_versions_is_answered_whatever_its_knowledge(
    library: Served, path: str, setting: dict[str, Any] | None, question: str
) -> None:
    request = {"knowledge_id": "validation", "query": question, "retrieval_setting": setting}
    sent = {name: value for name, value in request.items() if value is not None}
    assert library.by("all").post(path, json=sent).status_code in (200, 400)
    assert refusal(library.by("x").post(path, json=sent)) == (403, 1002)


@pytest.mark.parametrize(
    ("header", "code"),
    [
        *((header, 1001) for header in (None, "", "Bearer", "Basic dTpw", "lx_key")),
        *((header, 1002) for header in ("Bearer [__HIDDEN__]", "bearer lx_wrong")),
    ],
)
def test_who_has_no_valid_key_is_told_in_difys_codes(
    library: Served, header: str | None, code: int
) -> None:
    headers = {} if header is None else {"Authorization": header}
    for sent in (json.dumps(body("agreements")), "", "{"):
        answer = library.by().post("/retrieval", headers=headers, content=sent)
        assert refusal(answer) == (403, code)


def test_a_revoked_key_is_refused(library: Served) -> None:
    created = library.lexichord.create_key("short")
    library.lexichord.revoke_key(created.key.key_id)
    answer = library.by(created.secret).post("/retrieval", json=body("agreements"))
    assert refusal(answer) == (403, 1002)


def test_an_unknown_knowledge_and_one_out_of_reach_look_the_same(
    library: Served, dify: httpx.Client
) -> None:
    unknown = dify.post("/retrieval", json=body("nothing"))
    assert refusal(unknown) == (400, 2001)
    for name in ("agreements", "nothing"):
        answer = library.by("narrow").post("/retrieval", json=body(name))
        assert (answer.status_code, answer.json()) == (400, unknown.json())
    inside = library.by("narrow").post("/retrieval", json=body("library"))
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
    for headers in ({"content-type": "application/json"}, {}):
        answer = dify.post("/retrieval", content=wrong, headers=headers)
        assert refusal(answer) == (400, 400)
        assert not {"Traceback", "lexichord.", "SQL"}.intersection(answer.text.split())


WORKFLOW = ROOT / "docs/integrations/dify-workflow.yml"


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
        return {each["title"] for each in records(dify, "policies", metadata_condition=named)}

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
    title = {"name": "title", "comparison_operator": "contains", "value": "Policy"}

    def found(*conditions: dict[str, Any], operator: str = "and") -> int:
        condition = {"conditions": list(conditions), "logical_operator": operator}
        return len(records(dify, "policies", metadata_condition=condition))

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
    fresh: str, caplog: pytest.LogCaptureFixture
) -> None:
    docker = "host.docker.internal"
    sent = {"host": f"{docker}:8080", "origin": ""}
    with serve(fresh) as served:
        for _ in range(2):
            answer = served.by().post("/retrieval", headers=sent, json=body("default"))
            assert answer.status_code == 400
            assert f"LEXICHORD_ALLOWED_HOSTS={docker}" in answer.text
        assert caplog.text.count(f"{docker} is no name of this server") == 1
        names = [f"host-{number}.example" for number in range(30)]
        for name in names:
            assert name in served.by().get("/healthz", headers={"host": name}).text
        assert sum(name in caplog.text for name in names) < len(names)  # a log is not filled
        strange = {"host": "evil\x07.example"}
        assert "names no host" in served.by().get("/healthz", headers=strange).text
    with serve(fresh, {"dify": {}}, allowed_hosts=docker) as served:
        answer = served.by("dify").post("/retrieval", headers=sent, json=body("default"))
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
def test_the_workflow_asks_and_reads_as_its_nodes_say(library: Served, question: str) -> None:
    """Its code is run and its request sent as they stand in the file."""
    graph = yaml.safe_load(WORKFLOW.read_text())["workflow"]["graph"]
    nodes = {node["id"]: node["data"] for node in graph["nodes"]}
    written = run_code(nodes["write"], question=question, dataset="agreements")
    ask = nodes["ask"]
    assert ask["body"]["data"][0]["value"] == "{{#write.body#}}"
    name, _, kind = ask["headers"].partition(":")
    headers = {"Authorization": f"Bearer {library.keys['all']}", name: kind}
    url = ask["url"].replace("{{#env.LEXICHORD_URL#}}", library.url)
    answer = library.by().request(ask["method"], url, headers=headers, content=written["body"])
    read = run_code(nodes["read"], status=answer.status_code, body=answer.text)
    assert read.keys() == nodes["read"]["outputs"].keys()
    assert read["answer"]
    if question == QUESTION:
        assert "ten (10) years" in read["answer"]
        assert read["sources"]
    sent = library.by("lx_wrong").post("/v1/query", json={"query": "x"})
    with pytest.raises(ValueError, match="the API key is unknown"):
        run_code(nodes["read"], status=401, body=sent.text)


def run_code(node: dict[str, Any], **arguments: object) -> dict[str, Any]:
    assert {each["variable"] for each in node["variables"]} == arguments.keys()
    names: dict[str, Any] = {}
    exec(node["code"], names)
    result: dict[str, Any] = names["main"](**arguments)
    return result


def test_a_failing_database_is_told_in_difys_shape_and_without_its_place(fresh: str) -> None:
    with serve(fresh) as served:
        served.lexichord.run(served.lexichord.core.database.__aexit__())
        answer = served.by().post("/retrieval", json=body("default"))
    assert refusal(answer) == (503, 503)
    assert "database could not answer" in answer.text
    assert "pool" not in answer.text
