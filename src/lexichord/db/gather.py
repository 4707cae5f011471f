"""Calls of SQL functions over shards: who is asked, and how the rows become one answer.

One rule a function; `db/ranked.py` has those of what ranks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from math import ceil

from lexichord.db.fanout import (
    CUT_OFF,
    FINISH,
    HOME,
    Call,
    Rule,
    add_dataset_files,
    by_document,
    by_ids,
    define_dataset,
    delete_dataset,
    delete_file,
    describe_datasets,
    joined,
    list_dataset_files,
    move_documents,
    of_all,
    of_each,
    of_home,
    on_all,
    rename_dataset,
)
from lexichord.db.pool import Database, Row
from lexichord.db.ranked import (
    discover_files,
    hybrid_search,
    relevance_feedback,
    similar_documents,
    variant_candidates,
)

DEFAULTS = ("default_k", "default_depth", "default_fusion")  # those that never change


async def read_defaults(database: Database) -> Row:
    """Return what the SQL functions take where nothing else is said."""
    rows = await asyncio.gather(*(database.call(name) for name in DEFAULTS))
    named = zip(DEFAULTS, rows, strict=True)
    return {name.removeprefix("default_"): row[0][name] for name, row in named}


async def _nothing(_: Call) -> list[Row]:
    return []


def _summed(*names: str) -> Rule:
    """Add columns up over the scope's shards."""

    async def rule(call: Call) -> list[Row]:
        rows = joined(await call.ask_in_scope())
        return [{name: sum(row[name] for row in rows) for name in names}]

    return rule


def _summed_by(key: str, *names: str) -> Callable[[Call], Awaitable[list[Row]]]:
    async def rule(call: Call) -> list[Row]:
        merged: dict[str, Row] = {}
        for row in joined(await call.ask_in_scope()):
            old = merged.setdefault(repr(row[key]), {**row, **dict.fromkeys(names, 0)})
            old |= {name: old[name] + row[name] for name in names}
        return list(merged.values())

    return rule


async def _delete(call: Call) -> list[Row]:
    parted = await call.shards.by_shard("doc", call.arguments["documents"])
    answers = await call.ask({n: {"documents": ids} for n, ids in parted.items()})
    call.deleted.append(sum(row["delete_documents"] for row in joined(answers)))
    return [{"delete_documents": sum(call.deleted)}]


async def _under(call: Call) -> list[Row]:
    return sorted(await of_all(call), key=lambda row: row["uri"])


async def _prune(call: Call) -> list[Row]:
    """Delete wherever the documents are; the home, which has the run, records it."""
    run, uris = call.arguments["run_id"], call.arguments["uris"]
    (listed,) = await call.shards.home.call("list_runs", latest=1, runs=[run])
    asked = {"dataset": listed["dataset"], "uris": uris}
    rows = await call.shards.call("document_digests", **asked)
    documents = [row["document_id"] for row in rows]
    (gone,) = await call.shards.write("delete_documents", documents=documents)
    await of_home(call)
    return [{"prune_documents": gone["delete_documents"]}]


async def _list_datasets(call: Call) -> list[Row]:
    rows = await _summed_by("dataset", "documents", "chunks")(call)
    return sorted(rows, key=lambda row: row["dataset"])


async def _count_by(call: Call) -> list[Row]:
    rows = await _summed_by("value", "documents_with")(call)
    return sorted(rows, key=lambda row: (-row["documents_with"], _in_order(row["value"])))


def _in_order(value: object) -> tuple[int, object]:
    """Return what sorts values of metadata as jsonb is sorted: texts, numbers, then the others."""
    if isinstance(value, str):
        return 0, value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 1, value
    return 2, repr(value)


async def _completions(call: Call) -> list[Row]:
    merged: dict[tuple[str, str], Row] = {}
    for row in joined(await call.ask_in_scope()):
        old = merged.setdefault((row["kind"], row["completion"]), {**row, "chunks": 0})
        old["chunks"] += row["chunks"]
    return sorted(merged.values(), key=lambda row: (row["kind"], -row["chunks"], row["completion"]))


async def _list_documents(call: Call) -> list[Row]:
    size, offset = call.arguments.get("page_size"), call.arguments.get("page_offset") or 0
    wanted = None if size is None else size + offset
    rows = joined(await call.ask_in_scope(page_size=wanted, page_offset=0))
    rows.sort(key=lambda row: (row["dataset"], row["uri"]))
    return rows[offset:wanted]


async def _find_documents(call: Call) -> list[Row]:
    if call.arguments.get("document") is not None:
        return await by_document()(call)
    return sorted(await of_all(call), key=lambda row: row["uri"])


async def _similar_uris(call: Call) -> list[Row]:
    rows = sorted(await of_all(call), key=lambda row: (-row["likeness"], row["uri"]))
    return rows[: call.arguments["most"]]


async def _status(call: Call) -> list[Row]:
    rows = await of_all(call)
    counts = ("documents", "chunks", "chunks_without_vector", "outdated_documents", "bytes")
    datasets = {row["dataset"] for row in await call.shards.call("list_datasets")}
    sums = {name: sum(row[name] for row in rows) for name in counts}
    return [rows[0] | sums | {"datasets": len(datasets)}]


async def _reembed_status(call: Call) -> list[Row]:
    """Give the home's change with the sums of all; one that only some have made goes on."""
    rows = await of_all(call)
    if not rows:
        return []
    is_cut_off = await call.shards.is_cut_off()
    unfinished = [row for row in rows if row["state"] == "filling" and is_cut_off]
    shown = (unfinished or rows)[0]
    held = [name for name in ("chunks", "missing", "embedded") if shown[name] is not None]
    sums = {name: sum(row[name] or 0 for row in rows) for name in held}
    return [shown | sums | {"running": any(row["running"] for row in rows)}]


async def _problems(call: Call) -> list[Row]:
    answers = await call.ask(dict.fromkeys(call.shards.numbers, call.arguments))
    is_cut_off = await call.shards.is_cut_off()
    return [{"problem": CUT_OFF, "remedy": FINISH}] * is_cut_off + [
        row if number == HOME else row | {"problem": f"shard {number}: {row['problem']}"}
        for number in sorted(answers)
        for row in answers[number]
    ]


async def _coverage(call: Call) -> list[Row]:
    merged: dict[str, Row] = {}
    for row in await by_ids("chunk_ids", "chunk")(call):
        old = merged.setdefault(row["lexeme"], {**row, "chunks": []})
        old["chunks"] = [*old["chunks"], *row["chunks"]]
    return list(merged.values())


async def _absent(call: Call) -> list[Row]:
    """Keep what no shard holds."""
    answers = await call.ask(dict.fromkeys(call.shards.numbers, call.arguments))
    rows = [row for answer in answers.values() for row in answer]
    return [row for row in answers[HOME] if rows.count(row) == len(answers)]


async def _mistyped(call: Call) -> list[Row]:
    """Keep what no shard can fulfil, with a value that one of them has."""
    answers = await call.ask_in_scope()
    rows: dict[str, list[Row]] = {}
    for row in joined(answers):
        rows.setdefault(f"{row['key']} {row['wanted']}", []).append(row)
    unfulfilled = (each for each in rows.values() if len(each) == len(answers))
    return [max(each, key=lambda row: row["stored"] is not None) for each in unfulfilled]


async def _spans(call: Call) -> list[Row]:
    """Part three arrays by the documents of the first; number the rows as they were.

    What lies on a shard that does not answer is null, like the text of a document that is gone.
    """
    documents, starts, ends = (call.arguments[name] for name in ("documents", "starts", "ends"))
    parted = await call.shards.by_shard("doc", documents)
    places = {
        number: [place for place, text in enumerate(documents) if text in set(ids)]
        for number, ids in parted.items()
    }
    asked = {
        number: {
            "documents": [documents[p] for p in own],
            "starts": [starts[p] for p in own],
            "ends": [ends[p] for p in own],
        }
        for number, own in places.items()
    }
    answers = await call.ask(asked)
    contents = {
        places[number][row["span_number"] - 1]: row["content"]
        for number, own in answers.items()
        for row in own
    }
    return [{"span_number": p + 1, "content": contents.get(p)} for p in range(len(documents))]


async def _search_each(call: Call) -> list[Row]:
    """A search a document: where that is, nothing is to be put together."""
    documents = call.arguments["documents"]
    places = {text: place for place, text in enumerate(documents)}
    rows = joined(await call.ask_in_scope())
    return sorted(rows, key=lambda row: (row["query_number"], places[row["document_id"]]))


async def _links(call: Call) -> list[Row]:
    """Keep the depth best documents by card, and as many of those named by initials alone."""
    depth = call.arguments.get("depth", 25)
    rows = joined(await call.ask_in_scope())
    rows.sort(key=lambda row: -row["score"])
    kept: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for row in rows:
        own = kept[row["score"] > 0]
        if len(own) < depth:
            own[row["document_id"]] = None
    return [row for row in rows if row["document_id"] in kept[row["score"] > 0]]


async def _related_words(call: Call) -> list[Row]:
    most = call.arguments.get("most", 8)
    merged: dict[str, Row] = {}
    for row in await by_ids("chunk_ids", "chunk")(call):
        old = merged.setdefault(row["lexeme"], {**row, "chunks": 0, "weight": 0.0})
        old |= {name: old[name] + row[name] for name in ("chunks", "weight")}
    return sorted(merged.values(), key=lambda row: (-row["weight"], row["lexeme"]))[:most]


async def _definitions(call: Call) -> list[Row]:
    rows = joined(await call.ask_in_scope())
    places = {term: place for place, term in enumerate(call.arguments["terms"])}
    return sorted(rows, key=lambda row: places[row["term"]])


async def _without_vector(call: Call) -> list[Row]:
    """Take the next chunks of all: what was moved keeps its number."""
    rows = await of_all(call)
    rows.sort(key=lambda row: call.shards.ids.read("chunk", row["chunk_id"]))
    return rows[: call.arguments["batch"]]


async def _set_vectors(call: Call) -> list[Row]:
    ids, vectors = call.arguments["chunk_ids"], call.arguments["vectors"]
    parted = await call.shards.by_shard("chunk", ids)
    by_id = dict(zip(ids, vectors, strict=True))
    asked = {
        n: call.arguments | {"chunk_ids": own, "vectors": [by_id[text] for text in own]}
        for n, own in parted.items()
    }
    return joined(await call.ask(asked))


async def _sample(call: Call) -> list[Row]:
    rows = await of_all(call)
    rows.sort(key=lambda row: (row["sha256"], row["uri"]))
    return rows[: call.arguments["documents"]]


async def _sample_sentences(call: Call) -> list[Row]:
    """Take every so many of all shards' sentences."""
    rows = await of_all(call)
    return rows[:: max(1, ceil(len(rows) / call.arguments["amount"]))]


RULES: Mapping[str, Rule] = {
    "hybrid_search": hybrid_search,
    "variant_candidates": variant_candidates,
    "discover_files": discover_files,
    "relevance_feedback": relevance_feedback,
    "similar_documents": similar_documents,
    "search_each": _search_each,
    "file_surrogates": by_ids("files", "doc", "document_id"),
    "read_hits": by_ids("chunk_ids", "chunk", "chunk_id"),
    "expand_context": by_ids("chunk_ids", "chunk", "chunk_id"),
    "chunk_places": by_ids("chunk_ids", "chunk"),
    "question_coverage": _coverage,
    "absent_identifiers": _absent,
    "mistyped_conditions": _mistyped,
    "related_words": _related_words,
    "find_definitions": _definitions,
    "link_documents": _links,
    "read_spans": _spans,
    "shared_headings": by_ids("documents", "doc"),
    # Of documents and datasets.
    "list_documents": _list_documents,
    "count_documents": _summed("count_documents"),
    "analyze_documents": _summed("analyze_documents"),
    "count_by": _count_by,
    "complete_word": _completions,
    "list_datasets": _list_datasets,
    "find_documents": _find_documents,
    "similar_uris": _similar_uris,
    "list_chunks": by_document(),
    "document_text": by_document(),
    "read_original": by_document(),
    "keep_original": by_document(),
    "set_metadata": by_document(),
    "delete_documents": _delete,
    "move_documents": move_documents,
    "rename_dataset": rename_dataset,
    "documents_under": _under,
    "prune_documents": _prune,
    # Of files that are sent before a dataset is named.
    "define_dataset": define_dataset,
    "delete_dataset": delete_dataset,
    "describe_datasets": describe_datasets,
    "add_dataset_files": add_dataset_files,
    "list_dataset_files": list_dataset_files,
    "delete_file": delete_file,
    **dict.fromkeys(
        ("document_digests", "list_originals", "document_hashes", "document_recipes", "index_use"),
        of_all,
    ),
    **dict.fromkeys(("turn_tenants_on", "add_tenant", "drop_tenant"), on_all),
    # Of ingests.
    "propose_candidates": _nothing,  # each search merges the shards' lists itself
    "question_terms": _nothing,
    "document_twins": _nothing,  # a vector is kept on its own shard only
    "reusable_chunks": by_ids("documents", "doc"),
    "chunks_without_vector": _without_vector,
    "set_vectors": _set_vectors,
    "sample_documents": _sample,
    "sample_sentences": _sample_sentences,
    **dict.fromkeys(("build_indexes", "seal_keywords", "rebuild_indexes"), of_each),
    # Of the database as a whole.
    "database_status": _status,
    "list_indexed_tables": of_all,
    "find_problems": _problems,
    "reembed_status": _reembed_status,
    "count_faults": _summed_by("kind", "amount"),
    **dict.fromkeys(
        (
            *("configuration", "database_identity", "server_versions", "extension_faults"),
            "server_facts",
            *("query_lexemes", "weigh_terms", "find_calibration", "set_calibration", "tenancy"),
            *("default_weights", "may_choose_space", "choose_space"),
            *("find_cosine_scale", "set_cosine_scale"),
            *("start_run", "touch_run", "interrupt_run", "record_files", "finish_run"),
            *("list_runs", "list_run_files", "failed_files"),
            *("known_contexts", "keep_contexts", "record_query", "judge_query", "written_position"),
            *("create_api_key", "rotate_api_key", "list_api_keys", "revoke_api_key"),
            *("find_api_key", "record_api_calls", "list_api_calls"),
            *("record_evaluation", "list_evaluations", "evaluation_results", "sample_queries"),
            *("record_comparison", "compare_evaluations", "forget_evaluations", "id_secret"),
            *("keep_file", "read_file", "list_files"),
            *(
                "list_tenants",
                "tenant_roles",
                "list_shards",
                "add_shard",
                "drop_shard",
                "shard_moves",
            ),
        ),
        of_home,
    ),
}
# Whose answers do not depend on where a document is, or that see to it themselves.
WHEREVER = (of_home, of_each, on_all, _prune, move_documents, rename_dataset)
