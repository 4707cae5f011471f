"""Every tool, prompt and resource through the official client."""

import asyncio
import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceLink, TextContent, TextResourceContents

from lexichord.types.base import ID_EXAMPLE
from mcp import Client
from tests.mcp.serving import COMMAND, HELLO, Place, call, inside, over_http, read, refused

QUESTION = "how long are customer support logs kept"
INFO = json.dumps([{"id": "policies", "source_path": ""}])


async def test_tools_say_what_they_are_in_few_words(client: Client) -> None:
    listed = await client.list_tools()
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) <= 10_000
    tools = {each.name: each for each in listed.tools}
    six = {"assistant", "file_discover", "file_lister", "keyword_generator", "retriever"}
    assert tools.keys() == six | {"file_count", "similar", "search", "fetch"}
    for tool in tools.values():
        annotations = tool.annotations
        assert annotations is not None
        assert tool.title
        assert tool.description
        assert (annotations.read_only_hint, annotations.open_world_hint) == (True, False)
        assert "asker" not in tool.input_schema["properties"]
        assert tool.output_schema is not None


@pytest.mark.client("MCP, Python", "answer", "async")
async def test_assistant_answers_with_quotes_that_stand_in_the_documents(client: Client) -> None:
    result = await client.call_tool("assistant", {"query": QUESTION, "dataset_info": INFO})
    reply = await call(client, "assistant", query=QUESTION, dataset_info=INFO)
    assert read(result) == reply  # idempotent
    assert "12 months" in reply["answer"]
    assert reply["confidence"] == "high"
    assert 0.7 <= reply["confidence_score"] <= 1
    assert reply["relevant_files"] == ["data-retention-policy.md"]
    assert reply["total_sources"] == len(reply["structured_answer"]["sources"]) > 0
    for quote in reply["structured_answer"]["quotes"]:
        contents = await client.read_resource(f"document://{quote['document_id']}")
        text = contents.contents[0]
        assert isinstance(text, TextResourceContents)
        assert text.text[quote["start"] : quote["end"]] == quote["text"]
    links = [each for each in result.content if isinstance(each, ResourceLink)]
    cited = [f"chunk://{each['chunk_id']}" for each in reply["structured_answer"]["sources"]]
    assert [link.uri for link in links] == list(dict.fromkeys(cited))


async def test_assistant_takes_every_parameter_of_both_versions(client: Client) -> None:
    parameters: dict[str, object] = {
        **{"query": QUESTION, "resource_id": "policies", "verbose": True},
        **{"custom_instructions": "Preserve it.", "document_name": "data-retention-policy.md"},
        **{"enable_query_rewriting": True, "enable_query_decomposition": True},
        **{"enable_reflection": True, "reflection_threshold": 0.5, "reflection_mode": "standard"},
        **{"max_reflection_iterations": 1, "enable_file_discovery_evaluation": True},
        "file_discovery_evaluation_threshold": 0.2,
    }
    result = await call(client, "assistant", **parameters)
    assert result["ignored"].keys() == {"enable_query_decomposition", "reflection_mode"}
    assert result["reflection"]["coverage"]["score"] > 0
    assert result["file_discovery_evaluation"]["passed"]
    (whole,) = result["dataset_results"]
    assert (whole["dataset_id"], whole["naive_result"]) == ("policies", None)
    assert whole["candidates"][0]["scores"].keys() >= {"dense", "keyword", "fused"}
    assert result["total_candidates"] == len(whole["candidates"])
    assert {"query", "refined_query", "text_summary", "debug_info", "profiling"} <= result.keys()
    assert {
        source["uri"].rpartition("/")[2] for source in result["structured_answer"]["sources"]
    } == {"data-retention-policy.md"}


async def test_what_nothing_stored_answers_is_not_answered(client: Client) -> None:
    result = await call(client, "assistant", query="what is the boiling point of tungsten carbide")
    assert result["abstained"]
    assert result["answer"] == ""
    assert result["confidence"] == "low"
    assert result["suggestions"]


async def test_neutral_queries_are_tried_where_nothing_is_found(client: Client) -> None:
    async def tried(query: str, **more: object) -> list[str]:
        result = await call(client, "assistant", query=query, verbose=True, **more)
        steps = (step for step in result["debug_info"] if step["stage"] == "fallback")
        return [step["given"]["query"] for step in steps]

    vague = "zzyzx qwerty"
    assert await tried(vague) == ["definitions", "overview", "summary"]
    assert await tried(vague, fallback_queries=["glossary"]) == ["glossary"]
    assert await tried(vague, fallback_queries=[]) == []
    assert await tried(QUESTION) == []


async def test_a_setting_turns_neutral_queries_off(place: Place) -> None:
    with inside(replace(place, settings={"LEXICHORD_FALLBACKS": ""})) as server:
        async with over_http(server.url) as client:
            result = await call(client, "assistant", query="zzyzx qwerty", verbose=True)
    assert "fallback" not in {step["stage"] for step in result["debug_info"]}


@pytest.mark.client("MCP, Python", "k")
async def test_each_search_method_searches_by_its_own_channels(client: Client) -> None:
    modes = {"hybrid": "hybrid", "semantic": "dense", "vector": "dense"}
    modes |= {"full_text": "keyword", "keyword": "keyword"}
    modes |= {f"{method}_search": mode for method, mode in modes.items()}
    for method, mode in modes.items():
        result = await call(client, "retriever", query=QUESTION, search_method=method, top_k=5)
        assert result["mode"] == mode
        assert len(result["result"]) == 5
        best = result["result"][0]
        assert best["document_name"].endswith(".md")
        assert (best["scores"]["keyword"] is None) == (mode == "dense")
        assert not result["reranked"]


async def test_the_notebook_of_kbbridge_finds_what_it_shows(client: Client) -> None:
    """Its cells read `documents` of retriever and `sources` of assistant."""
    sent: dict[str, object] = {
        **{"resource_id": "policies", "query": QUESTION, "search_method": "hybrid"},
        **{"does_rerank": True, "top_k": 10, "score_threshold": 0.0, "weights": 0.5},
        **{"document_name": "", "verbose": False},
    }
    reply = await call(client, "retriever", **sent)
    documents, passages = reply["documents"], reply["result"]
    ids = [each["document_id"] for each in documents]
    assert ids == list(dict.fromkeys(each["document_id"] for each in passages))
    for document in documents:
        best = next(p for p in passages if p["document_id"] == document["document_id"])
        assert (document["title"], document["score"]) == (best["title"], best["score"])
        assert document["content"] == best["content"][:200]
    answered = await call(client, "assistant", resource_id="policies", query=QUESTION)
    cited = {each["document_id"] for each in answered["structured_answer"]["sources"]}
    sources = answered["sources"]
    assert {each["document_id"] for each in sources} == cited
    both = {"Data Retention Policy", "Information Security Policy"}
    assert {each["title"] for each in sources[:2]} == both
    assert sources[0]["dataset"] == "policies"
    scores = [each["score"] for each in sources]
    assert scores == sorted(scores, reverse=True)
    assert 0.5 < scores[0] <= 1


async def test_weights_are_the_share_of_meaning(client: Client) -> None:
    async def order(**more: object) -> list[int]:
        result = await call(client, "retriever", query="kept logs", top_k=8, **more)
        return [each["chunk_id"] for each in result["result"]]

    assert await order(weights=1.0) == await order(search_method="semantic_search")
    assert await order(weights=0.0) == await order(search_method="full_text_search")
    assert await order(weights=0.9) != await order(weights=0.1)


async def test_a_threshold_drops_what_is_less_relevant(client: Client) -> None:
    every = await call(client, "retriever", query=QUESTION)
    some = await call(client, "retriever", query=QUESTION, score_threshold=0.5)
    kept = [each for each in every["result"] if (each["scores"]["dense"] or 0) >= 0.5]
    assert some["result"] == kept
    assert 0 < len(kept) < len(every["result"])
    words = await call(
        client, "retriever", query=QUESTION, search_method="keyword_search", score_threshold=0.5
    )
    assert words["ignored"].keys() == {"score_threshold"}


async def test_file_discover_gives_names_that_other_calls_take(client: Client) -> None:
    result = await call(
        client, "file_discover", query=QUESTION, dataset_id="policies", top_k_return=2
    )
    assert result["success"]
    assert result["total_files"] == len(result["distinct_files"]) == 2
    assert [each["score"] for each in result["files"]] == sorted(
        (each["score"] for each in result["files"]), reverse=True
    )
    name = result["distinct_files"][0]
    assert result["relevant_files"] == [name]
    passages = await call(client, "retriever", query=QUESTION, document_name=name)
    assert {each["document_name"] for each in passages["result"]} == {name}


async def test_what_has_no_effect_is_said_with_its_reason(client: Client) -> None:
    result = await call(
        client, "file_discover", query="logs", backend_type="dify", relevance_score_threshold=0.3
    )
    assert result["ignored"].keys() == {"backend_type", "relevance_score_threshold"}
    assert all(result["ignored"].values())


async def test_files_are_listed_a_page_at_a_time(client: Client) -> None:
    counted = await call(client, "file_count", dataset_id="agreements")
    assert counted["has_files"]
    assert counted["file_count"] == len(counted["files"]) > 4
    listed, offset = list[str](), 0
    while offset >= 0:
        page = await call(client, "file_lister", resource_id="agreements", limit=4, offset=offset)
        listed += page["files"]
        offset = page.get("next_offset", -1)
    assert listed == counted["files"]


@pytest.mark.client("MCP, Python", "filters")
async def test_documents_are_filtered_and_counted_by_their_metadata(client: Client) -> None:
    counted = await call(client, "file_count", by="dataset")
    facets = {each["value"]: each["documents"] for each in counted["facets"]}
    assert facets.keys() == {"agreements", "policies"}
    assert sum(facets.values()) == counted["file_count"]
    some = {"filter": {"title": "Data Retention Policy"}}
    for folder in ({}, {"folder_name": "samples/policies"}):
        one = await call(client, "file_count", by="title", **some, **folder)
        assert one["facets"] == [{"value": "Data Retention Policy", "documents": 1}]
        assert one["files"] == ["data-retention-policy.md"]
    assert "facets" not in await call(client, "file_count")
    for tool, arguments in (
        ("retriever", {"query": QUESTION, "top_k": 5}),
        ("file_discover", {"query": QUESTION}),
        ("file_lister", {}),
        ("assistant", {"query": QUESTION}),
    ):
        reply = await call(client, tool, **arguments, **some)
        found = reply.get("result") or reply.get("documents") or reply["files"]
        assert {each["document_name"] for each in found} == {"data-retention-policy.md"}, tool
        error = await refused(client, tool, **arguments, filter={"colour": "red"})
        assert "colour" in error["details"], tool


async def test_a_folder_is_named_by_what_a_user_sees_of_it(client: Client) -> None:
    whole = await call(client, "file_lister", dataset_id="policies")
    folder = str(PurePosixPath(whole["documents"][0]["uri"]).parent)
    for name in ("policies", "/policies/", "samples/policies", folder, f"{folder}/"):
        some = await call(client, "file_lister", folder_name=name)
        assert some["files"] == whole["files"], name
        result = await call(client, "retriever", query="logs", source_path=name, top_k=3)
        assert {each["dataset"] for each in result["result"]} == {"policies"}
    for name in ("polic", "icies", "nowhere"):
        none = await call(client, "file_count", folder_name=name)
        assert (none["has_files"], none["file_count"]) == (False, 0)
        error = await refused(client, "retriever", query="logs", source_path=name)
        assert name in error["details"]


async def test_a_document_is_named_by_its_file_or_a_part_of_it(client: Client) -> None:
    (nda, *_) = (await call(client, "file_lister", dataset_id="agreements"))["documents"]
    uri, name = nda["uri"], nda["document_name"]
    for reference in (name, uri, nda["document_id"], name.removesuffix(".md"), name.upper()):
        result = await call(client, "retriever", query="term", document_name=reference, top_k=3)
        assert {each["uri"] for each in result["result"]} == {uri}, reference
    several = await call(client, "retriever", query="term", document_name="agreement", top_k=40)
    names = {each["document_name"] for each in several["result"]}
    assert len(names) > 1
    assert all("agreement" in each for each in names)


async def test_several_datasets_each_with_a_folder(client: Client) -> None:
    info = [{"id": "agreements", "source_path": "agreements"}, {"id": "policies"}]
    for dataset_info in (info, json.dumps(info)):
        result = await call(
            client, "assistant", query=QUESTION, dataset_info=dataset_info, verbose=True
        )
        assert [each["dataset_id"] for each in result["dataset_results"]] == [
            "agreements",
            "policies",
        ]


async def test_similar_documents_come_with_their_metadata(client: Client) -> None:
    listed = (await call(client, "file_lister", dataset_id="policies"))["documents"]
    one = listed[0]
    for name in (one["document_name"], one["document_id"], one["uri"]):
        result = await call(client, "similar", document_name=name, dataset_id="policies", top_k=3)
        documents = result["documents"]
        assert len(documents) == 3
        assert one["document_id"] not in {each["document_id"] for each in documents}
        assert {each["dataset"] for each in documents} == {"policies"}
        assert all(each["metadata"]["language"] == "en" for each in documents)
        scores = [each["score"] for each in documents]
        assert scores == sorted(scores, reverse=True)
    title = documents[1]["title"]
    some = await call(client, "similar", document_name=one["document_id"], filter={"title": title})
    assert [each["title"] for each in some["documents"]] == [title]


async def test_keyword_sets_differ_and_begin_with_the_querys_own_words(client: Client) -> None:
    result = await call(client, "keyword_generator", query=QUESTION, max_sets=3)
    sets = result["keyword_sets"]
    assert 2 <= len(sets) <= 3
    assert {"support", "logs"} <= set(sets[0])
    assert len({tuple(each) for each in sets}) == len(sets)


@pytest.mark.client("MCP, Python", "search")
async def test_search_and_fetch_are_as_chatgpt_calls_them(client: Client) -> None:
    listing = await call(client, "search", query=QUESTION)
    assert listing.keys() == {"results"}
    for result in listing["results"]:
        assert result.keys() == {"id", "title", "url"}
        assert all(result.values())
    best = listing["results"][0]
    passage = await call(client, "fetch", id=best["id"])
    assert passage.keys() == {"id", "title", "text", "url", "metadata"}
    assert "logs" in passage["text"]
    assert (passage["id"], passage["url"]) == (best["id"], best["url"])
    file = Path(url2pathname(urlsplit(best["url"]).path))
    assert file.suffix == ".md"
    assert passage["text"].splitlines()[0] in await asyncio.to_thread(file.read_text)
    document = await call(client, "fetch", id=passage["metadata"]["document"])
    span = slice(passage["metadata"]["start"], passage["metadata"]["end"])
    assert document["text"][span] == passage["text"]


type Call = tuple[str, Mapping[str, object]]

INVALID: list[Call] = [
    *(("assistant", {"query": text}) for text in ("", "x" * 10_001, " ", "a\0b")),
    *(
        ("assistant", {"query": "logs", "dataset_info": info})
        for info in ("policies", "[{}]", list[str](), "[" * 9999)
    ),
    ("assistant", {"query": "logs", "dataset_info": INFO, "resource_id": "x"}),
    ("assistant", {"query": "logs", "llm": "openai/x"}),
    ("assistant", {"query": "logs", "reflection_threshold": 2}),
    ("retriever", {"query": "logs", "search_method": "magic"}),
    *(("retriever", {"query": "logs", "top_k": k}) for k in (0, 10**30)),
    ("file_discover", {"dataset_id": "policies"}),
    ("file_lister", {"limit": -1}),
    ("keyword_generator", {"query": "logs", "max_sets": 0}),
    *(("similar", arguments) for arguments in ({}, {"document_name": ""})),
    ("similar", {"document_name": "agreement"}),  # there are several
    ("search", {}),
]
NOT_FOUND: list[Call] = [
    *((tool, {"query": "logs", "dataset_id": "nope"}) for tool in ("retriever", "file_discover")),
    *((tool, {"dataset_id": "nope"}) for tool in ("file_lister", "file_count")),
    ("assistant", {"query": "logs", "resource_id": "nope"}),
    ("assistant", {"query": "logs", "document_name": "nope.pdf"}),
    ("keyword_generator", {"query": "logs", "dataset_id": "nope"}),
    ("similar", {"document_name": "nope.md"}),
    ("similar", {"document_name": "lease", "dataset_id": "nope"}),
    *(
        ("fetch", {"id": id})
        for id in (
            *(f"chunk://{ID_EXAMPLE['chunk']}", f"document://{ID_EXAMPLE['doc']}"),
            *("chunk://12", "doc_12", "../../etc/passwd", "9" * 18),
        )
    ),
]


async def test_what_is_wrong_is_said_as_a_result(client: Client) -> None:
    for kind, calls in (("invalid_request_error", INVALID), ("not_found_error", NOT_FOUND)):
        for tool, arguments in calls:
            result = await refused(client, tool, **arguments)
            assert result["type"] == kind, (tool, arguments, result)
            assert result["details"]
            assert result["suggestion"]


async def test_agents_may_send_nothing_for_what_they_leave_out(client: Client) -> None:
    names = ("dataset_info", "resource_id", "document_name", "custom_instructions", "verbose")
    result = await call(client, "assistant", query=QUESTION, **dict.fromkeys(names))
    assert result["answer"]


async def test_prompts_are_there_under_their_names(client: Client) -> None:
    prompts = {each.name: each for each in (await client.list_prompts()).prompts}
    assert prompts.keys() == {
        "kbbridge_agent_instructions",
        "dataset_setup_guide",
        "resource_setup_guide",
        "comprehensive_query_template",
        "citation_requirements",
    }
    texts = {}
    for name in prompts:
        text = (await client.get_prompt(name)).messages[0].content
        assert isinstance(text, TextContent)
        texts[name] = text.text
    assert "(Source: file.pdf)" in texts["citation_requirements"]
    assert "with enable_reflection." in texts["kbbridge_agent_instructions"]  # there is no model
    assert "- policies: " in texts["dataset_setup_guide"]
    assert texts["dataset_setup_guide"] == texts["resource_setup_guide"]
    filled = await client.get_prompt("comprehensive_query_template", {"topic": "term {x}"})
    assert isinstance(filled.messages[0].content, TextContent)
    assert 'list all term {x}"' in filled.messages[0].content.text


async def test_what_is_no_resource_is_an_error_of_the_protocol(client: Client) -> None:
    templates = (await client.list_resource_templates()).resource_templates
    assert {each.uri_template for each in templates} == {
        "dataset://{name}",
        "document://{id}",
        "chunk://{id}",
    }
    chunks = (f"chunk://{ID_EXAMPLE['chunk']}", "chunk://12")
    documents = ("document://nope.md", "document://1")
    for uri in (*chunks, *documents, "dataset://nope", "file:///etc/passwd"):
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert raised.value.error.code == -32602, uri


def test_nothing_but_the_protocol_is_written_to_standard_output(place: Place) -> None:
    request = {"name": "assistant", "arguments": {"query": "who keeps the secret zebra"}}
    sent: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": request},
        {"id": 3, "method": "tools/call", "params": {"name": "retriever", "arguments": {"x": 1}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in sent)
    with subprocess.Popen(
        COMMAND,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(3)]
        out, log = process.communicate(timeout=60)
    assert {reply["id"] for reply in replies} == {1, 2, 3}
    assert out == ""
    assert process.returncode == 0
    assert log == ""  # the question least of all
