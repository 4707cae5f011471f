"""Entities that answers hold: a single pass by vectors against the pipeline, over contracts.

python scripts/bench/entities.py --data DIR [--folder FOLDER]

Our own 100 cases (contractnli_cases.json) on the 61 documents of ContractNLI dev, each asked of all
documents; with --folder they are laid out there, for `lexichord eval`. Every answer is the text of
the passages found, cut to one length; no LLM writes or reads it. What the cases quote is
ContractNLI's (Koreeda & Manning, 2021; CC BY 4.0).
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from common import opened
from lexichord.evaluate.datasets import CASES_FILE, DOCUMENTS_FILE, load_set
from lexichord.evaluate.entities import EntityScores, tabulate_entities
from lexichord.evaluate.metrics import mean_of_judged
from lexichord.evaluate.statistics import (
    IMPROVEMENT_COLUMNS,
    bootstrap_difference,
    compare_entities,
)
from lexichord.types.evaluation import EvalSet, Evaluation, EvaluationRun

CASES = Path(__file__).parent / "contractnli_cases.json"
BASELINES, OURS = ("vector", "hybrid"), "pipeline"
DEV = "contractnli/dev.json"
LENGTHS = (500, 1000, 2000, 4000)  # characters of an answer
MACRO = (
    *("entity_precision", "entity_recall", "entity_f1", "entity_recall_all", "entity_critical"),
    *("document@1", "evidence@1000"),
)


def beside(documents: Path, folder: Path) -> EvalSet:
    """Put our cases beside the documents of another set."""
    lines = (json.dumps(document) + "\n" for document in load_set(documents).documents)
    (folder / DOCUMENTS_FILE).write_text("".join(lines), encoding="utf-8")
    shutil.copy(CASES, folder / CASES_FILE)
    return load_set(folder)


def ask(data: Path) -> Evaluation:
    with TemporaryDirectory() as folder, opened("entities", "plain", None) as lexichord:
        eval_set = beside(data / DEV, Path(folder))
        names = (*BASELINES, OURS)
        return lexichord.evaluate(eval_set, strategies=names, ks=(1,), on_warning=_warn)


def print_micro(runs: Sequence[EvaluationRun]) -> None:
    """Print a row for each type, and precision, recall and F1 of each strategy."""
    tables = [tabulate_entities(run.queries, run.outcomes) for run in runs]
    _row("micro: precision, recall, F1", "entities", *(run.strategy for run in runs))
    _row(*["---"] * (len(runs) + 2))
    for name in tables[0]:
        number = sum(len(query.entities.get(name, ())) for query in runs[0].queries)
        _row(name, str(number or ""), *(_scores(table[name]) for table in tables))


def print_improvements(runs: Sequence[EvaluationRun]) -> None:
    """Print what the last strategy improves on each other, absolute and relative."""
    for run in runs[:-1]:
        _row("micro", run.strategy, OURS, *IMPROVEMENT_COLUMNS)
        _row(*["---"] * (3 + len(IMPROVEMENT_COLUMNS)))
        for improvement in compare_entities(run, runs[-1]):
            _row(*improvement.cells())
        print()


def print_lengths(runs: Sequence[EvaluationRun]) -> None:
    """Print how much of each answer is read, and what it is worth then."""
    _row("characters: micro, then critical recall", *(run.strategy for run in runs))
    _row(*["---"] * (len(runs) + 1))
    for length in LENGTHS:
        tables = [tabulate_entities(run.queries, run.outcomes, length) for run in runs]
        critical = (_percent(table["micro_critical"].recall) for table in tables)
        cells = zip(tables, critical, strict=True)
        _row(f"{length:,}", *(f"{_scores(table['micro'])}; {recall}" for table, recall in cells))


def print_macro(runs: Sequence[EvaluationRun]) -> None:
    """Print means over the questions, and what the last strategy differs by from each other."""
    ours = runs[-1]
    others = [f"{ours.strategy} less {run.strategy}" for run in runs[:-1]]
    _row("macro", *(run.strategy for run in runs), *others)
    _row(*["---"] * (len(runs) + 1 + len(others)))
    for name in MACRO:
        means = (_percent(mean_of_judged(run.metrics[name])) for run in runs)
        _row(name, *means, *(_difference(ours, run, name) for run in runs[:-1]))


def _difference(ours: EvaluationRun, other: EvaluationRun, metric: str) -> str:
    groups = [query.files[0] for query in ours.queries]
    difference = bootstrap_difference(ours.metrics[metric], other.metrics[metric], groups)
    interval = f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}"
    return f"{100 * difference.mean:+.1f} ({interval}{', noise' if difference.is_noise else ''})"


def _scores(scores: EntityScores) -> str:
    return ", ".join(map(_percent, (scores.precision, scores.recall, scores.f1)))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def _row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def _warn(line: str) -> None:
    print(f"entities: {line}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        beside(arguments.data / DEV, arguments.folder)
        return
    evaluation = ask(arguments.data)
    runs = evaluation.runs
    if evaluation.failures:
        raise SystemExit("\n".join(evaluation.failures))
    print_micro(runs)
    print()
    print_improvements(runs)
    print_macro(runs)
    print()
    print_lengths(runs)


if __name__ == "__main__":
    main()
