"""What is asked of all surfaces, and what each must make of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Of a caller: a key that reaches all datasets, one that reaches dataset "policies" only, a revoked
# one, none at all.
Caller = Literal["all", "policies", "revoked", "nobody"]
Surface = Literal["Python", "CLI", "SQL", "HTTP", "MCP"]
Refused = Literal["not found", "invalid", "forbidden", "unauthorised"]

NO_KEYS = "roles and their grants are what it knows, not keys of datasets"
NO_FILTER = "kbbridge's tools take none"
NO_HINT = "kbbridge's tools take none"


@dataclass(frozen=True, eq=False)
class Case:
    """`options` are those of Python; `not_on` says which surfaces cannot be asked this, and why.

    `outcome`: rows, none, or why it is refused.
    """

    name: str
    query: str
    options: Mapping[str, Any] = field(default_factory=dict)
    what: Literal["search", "files"] = "search"
    caller: Caller = "all"
    outcome: Literal["rows", "nothing"] | Refused = "rows"
    not_on: Mapping[Surface, str] = field(default_factory=dict)
    nearest: str = ""  # what its refusal names first


NOTICE = "What notice ends the master services agreement for convenience?"
LOGS = "how long are customer support logs kept"
UNHINTED: Mapping[Surface, str] = {"SQL": "a hint is the pipeline's", "MCP": NO_HINT}
UNFILTERED: Mapping[Surface, str] = {"MCP": NO_FILTER}
ROLES_ONLY: Mapping[Surface, str] = {"SQL": NO_KEYS, "CLI": NO_KEYS}
LONG: Mapping[Surface, str] = dict.fromkeys(("Python", "CLI", "SQL"), "who asks pays for it alone")

CASES = [
    Case("hybrid", NOTICE),
    Case("another question", LOGS),
    Case("by meaning alone", LOGS, {"mode": "dense"}),
    Case("by words alone", LOGS, {"mode": "keyword"}),
    Case("one result", NOTICE, {"k": 1}),
    Case("many results", NOTICE, {"k": 60}),
    Case("more than there are", NOTICE, {"k": 1000, "depth": 1000}),
    Case("with a hint", "who pays for a late delivery", {"hint": "the lease"}, not_on=UNHINTED),
    Case("in another language", "Kündigungsfrist, § 5 – «délai» 通知"),
    Case("with signs that SQL and shells know", "'; drop table chunk; -- $(id) \\ %s \" \t &"),
    Case("in one dataset", NOTICE, {"datasets": ["policies"]}),
    Case(
        "in two datasets",
        LOGS,
        {"datasets": ["agreements", "policies"]},
        not_on={"MCP": "its retriever takes one, as kbbridge's does"},
    ),
    Case("in one document", "liability", {"documents": ["office-lease-saltpan-house.md"]}),
    Case("under a prefix", LOGS, {"uri_prefix": "handbook/"}),
    Case("with metadata", LOGS, {"filter": {"year": 2024}}, not_on=UNFILTERED),
    Case(
        "with metadata compared",
        LOGS,
        {
            "filter": {
                "or": [
                    {"key": "year", "op": "gt", "value": 2024},
                    {"key": "kind", "op": "is", "value": "note"},
                ]
            }
        },
        not_on=UNFILTERED,
    ),
    Case(
        "with all of that",
        LOGS,
        {
            "datasets": ["notes"],
            "uri_prefix": "handbook/",
            "documents": ["handbook/a.md", "handbook/b.md"],
            "filter": {"year": 2024},
            "k": 2,
        },
        not_on=UNFILTERED,
    ),
    Case("words that are nowhere", "qwzx vbnjk", {"mode": "keyword"}, outcome="nothing"),
    Case(
        "a prefix that nothing has",
        LOGS,
        {"uri_prefix": "nowhere/"},
        outcome="nothing",
        not_on={"MCP": "an agent is told that the folder is not there"},
    ),
    Case("a dataset that is not there", LOGS, {"datasets": ["nowhere"]}, outcome="not found"),
    Case("a document that is not there", LOGS, {"documents": ["nowhere.md"]}, outcome="not found"),
    Case(
        "a dataset's name misspelt",
        LOGS,
        {"datasets": ["polices"]},
        outcome="not found",
        nearest="'policies'",
    ),
    Case(
        "a document's name misspelt",
        LOGS,
        {"documents": ["ofice-lease-saltpan-hose.md"]},
        outcome="not found",
        not_on={"SQL": "it takes ids"},
        nearest="office-lease-saltpan-house.md",
    ),
    Case(
        "a key's name misspelt",
        LOGS,
        {"filter": {"yaer": 2024}},
        outcome="invalid",
        not_on=UNFILTERED,
        nearest="'year'",
    ),
    Case(
        "a key that no document has",
        LOGS,
        {"filter": {"colour": "red"}},
        outcome="invalid",
        not_on=UNFILTERED,
    ),
    Case(
        "an operator that is none",
        LOGS,
        {"filter": {"key": "year", "op": "~", "value": 1}},
        outcome="invalid",
        not_on=UNFILTERED,
    ),
    Case("no result wanted", LOGS, {"k": 0}, outcome="invalid"),
    Case(
        "more results than candidates",
        LOGS,
        {"k": 101, "depth": 100},
        outcome="invalid",
        not_on={"MCP": "kbbridge's tools take no depth: it follows k"},
    ),
    Case("a question too long", "zebra " * 10_000, outcome="invalid", not_on=LONG),
    Case("files", "Which agreement provides for escrow of source code?", what="files"),
    Case(
        "files of a dataset", "retention of data", {"datasets": ["policies"], "k": 3}, what="files"
    ),
    Case("without a key or a right", LOGS, caller="nobody", outcome="unauthorised"),
    Case(
        "with a key that was revoked",
        LOGS,
        caller="revoked",
        outcome="unauthorised",
        not_on=ROLES_ONLY,
    ),
    Case(
        "with a key of another dataset",
        LOGS,
        {"datasets": ["agreements"]},
        caller="policies",
        outcome="forbidden",
        not_on=ROLES_ONLY,
    ),
    Case(
        "with a key of one dataset",
        NOTICE,
        {"datasets": ["policies"]},
        caller="policies",
        not_on=ROLES_ONLY,
    ),
]
