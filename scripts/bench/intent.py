"""Is the intent right? 80 written questions by half; with --data, what linking does to search."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from common import ENGINES, opened
from lexichord import SyncLexichord
from lexichord.retrieve.understand.intent import find_intent, read_intent
from lexichord.types import Scope
from lexichord.types.questions import Intent
from quality import BUDGETS, _evidence, _legal_tests, _row, _uri

SAMPLES = Path(__file__).parents[2] / "samples"
PARTS = ("kind", "entities", "sub_questions", "documents")

type Test = dict[str, Any]


def questions(halves: str) -> list[Test]:
    with (SAMPLES / "intents.jsonl").open() as lines:
        tests = [json.loads(line) for line in lines]
    return [test for test in tests if test["half"] in halves]


def judged(test: Test, intent: Intent, files: set[str] | None) -> dict[str, bool]:
    """Say of each part whether it is right; `files` are those linked, None if nothing was."""
    right = {
        "kind": intent.kind == test["kind"],
        "entities": {*intent.entities} == {*test["entities"]},
        "sub_questions": [*intent.sub_questions] == test["sub_questions"],
    }
    return right if files is None else right | {"documents": files == {*test["hint_files"]}}


def report(tests: Sequence[Test], readings: dict[str, tuple[Intent, set[str] | None]]) -> None:
    scores = {test["id"]: judged(test, *readings[test["id"]]) for test in tests}
    groups: dict[str, Callable[[Test], bool]] = {
        "all": lambda _: True,
        "traps": lambda test: bool(test["trap"]),
    }
    print(f"{'':16}" + "".join(f"{part:>14}" for part in PARTS))
    for half in sorted({test["half"] for test in tests}):
        for name, belongs in groups.items():
            chosen = [scores[t["id"]] for t in tests if t["half"] == half and belongs(t)]
            print(f"half {half}, {name:8}" + "".join(_share(chosen, part) for part in PARTS))
        kinds = Counter(test["kind"] for test in tests if test["half"] == half)
        for kind, count in kinds.items():
            of_kind = [t for t in tests if t["half"] == half and t["kind"] == kind]
            right = sum(scores[test["id"]]["kind"] for test in of_kind)
            print(f"  {kind:14} {right:3} of {count}")
    confused = Counter((t["kind"], readings[t["id"]][0].kind) for t in tests)
    print("confusion (written, read, how often)")
    for (written, read), count in sorted(confused.items()):
        print(f"  {written:14} {read:14} {count:3}{'' if written == read else '  <'}")


def _share(scores: Iterable[dict[str, bool]], part: str) -> str:
    known = [score[part] for score in scores if part in score]
    return f"{f'{sum(known)}/{len(known)}':>14}"


def list_faults(tests: Sequence[Test], readings: dict[str, tuple[Intent, set[str] | None]]) -> None:
    for test in tests:
        intent, files = readings[test["id"]]
        wrong = [part for part, right in judged(test, intent, files).items() if not right]
        if wrong:
            read = {part: getattr(intent, part) for part in PARTS} | {"documents": files}
            shown = {part: read[part] for part in wrong}
            print(f"{test['id']} {test['query']}\n     {shown}\n     {intent.reason}")


def link(lexichord: SyncLexichord, test: Test, root: Path) -> tuple[Intent, set[str]]:
    intent = linked(lexichord, test["query"])
    uris = {row.document_id: row.uri for row in lexichord.list()}
    return intent, {Path(uris[n]).relative_to(root).as_posix() for n in intent.documents}


def linked(lexichord: SyncLexichord, query: str) -> Intent:
    return lexichord.run(find_intent(lexichord.core.database, query, None, Scope()))


def contracts(data: Path, engine: str, server: str | None) -> None:
    """Document @1 and evidence: raw against hint and question as linked, by half of documents."""
    tests = _legal_tests(data)
    files = sorted({test["snippets"][0]["file_path"] for test in tests})
    parity = [files.index(test["snippets"][0]["file_path"]) % 2 for test in tests]
    with opened("contracts-clauses", engine, server) as lexichord:
        lexichord.ingest([data / "legalbenchrag/corpus/contractnli"])
        intents = {test["query"]: linked(lexichord, test["query"]) for test in tests}
        uris = {row.document_id: row.uri for row in lexichord.list()}
        named = [[uris[n] for n in intents[test["query"]].documents] for test in tests]
        golden = [_uri(test["snippets"][0], data) for test in tests]
        right = mean(gold in files for gold, files in zip(golden, named, strict=True) if files)
        print(f"contracts: {100 * mean(map(bool, named)):.2f} % linked, {100 * right:.2f} % right")
        print(f"  document @1 and evidence within {'/'.join(map(str, BUDGETS))} and 8: all | A | B")
        for name, asks in ways(intents).items():
            rows = [_row_of(lexichord, *asks(t["query"]), t, data) for t in tests]
            halves = [[r for r, p in zip(rows, parity, strict=True) if p == n] for n in (0, 1)]
            print(f"  {name:10}", " | ".join(map(_row, (rows, *halves))), flush=True)


def ways(intents: dict[str, Intent]) -> dict[str, Callable[[str], tuple[str, str | None]]]:
    return {
        "raw": lambda query: (query, None),
        "linked": lambda query: (intents[query].question, intents[query].hint),
        "hint alone": lambda query: (query, intents[query].hint),
    }


def _row_of(
    lexichord: SyncLexichord, question: str, hint: str | None, test: Test, data: Path
) -> list[float]:
    first = lexichord.files(question, hint=hint, k=1).files[0].uri
    document_at_1 = float(first == _uri(test["snippets"][0], data))
    return [document_at_1, *_evidence(lexichord, question, hint, test, data)]


def codebase(data: Path, engine: str, server: str | None) -> None:
    """How many questions about code are linked at all: plain search must not lose by it."""
    with (data / "codebase/evaluation_set.jsonl").open() as lines:
        queries = [json.loads(line) for line in lines]
    with opened("codebase", engine, server) as lexichord:
        intents = [linked(lexichord, query["query"]) for query in queries]
    print(f"codebase: {sum(bool(i.documents) for i in intents)} of {len(queries)} linked")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument("--halves", default="AB", help="A while building")
    parser.add_argument("--faults", action="store_true", help="print what is wrong")
    parser.add_argument("--search", action="store_true", help="with --data: measure search as well")
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--server", help="a server's DSN; by default the embedded one")
    arguments = parser.parse_args()
    tests = questions(arguments.halves)
    readings: dict[str, tuple[Intent, set[str] | None]] = {
        test["id"]: (read_intent(test["query"]), None) for test in tests
    }
    place = (arguments.engine, arguments.server)
    with opened("samples", *place) as lexichord:
        lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
        of_samples = [test for test in tests if test["corpus"] == "samples"]
        readings |= {test["id"]: link(lexichord, test, SAMPLES) for test in of_samples}
    if arguments.data:
        corpus = arguments.data.resolve() / "legalbenchrag/corpus"
        with opened("contracts-clauses", *place) as lexichord:
            lexichord.ingest([corpus / "contractnli"])
            of_ndas = [test for test in tests if test["corpus"] == "ndas"]
            readings |= {test["id"]: link(lexichord, test, corpus) for test in of_ndas}
    report(tests, readings)
    if arguments.faults:
        list_faults(tests, readings)
    if arguments.data and arguments.search:
        contracts(arguments.data.resolve(), *place)
        codebase(arguments.data.resolve(), *place)


if __name__ == "__main__":
    main()
