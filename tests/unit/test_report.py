import re
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lexichord.display.record_text import comparison_table
from lexichord.errors import ConfigError
from lexichord.evaluate.metrics import compute_metrics, mean_of_judged
from lexichord.evaluate.report import write_report
from lexichord.types.evaluation import (
    Change,
    Difference,
    EvalQuery,
    Evaluation,
    EvaluationRun,
    EvidenceSpan,
    Outcome,
    RankedPassage,
)

pytest.importorskip("matplotlib")

KS = (1, 5)
HOSTILE = (
    "<script>alert(1)</script> **bold** a|b [x](javascript:alert(1)) `c` & \x1b[31m\u202e\ud800"
)
QUERIES = tuple(
    EvalQuery(f"q{n}", f"Question {n}?", spans=(EvidenceSpan(f"doc-{n}.txt", 100, 200),))
    for n in range(20)
)


def find(query: EvalQuery, rank: int, **known: Any) -> Outcome:
    """Make an outcome with the gold span at a rank, other files before it."""
    span = query.spans[0]
    others = [RankedPassage(f"other-{n}.txt", 0, 50, n, 1 / n) for n in range(1, rank)]
    gold = RankedPassage(span.file, span.start, span.end, 7, 1 / rank)
    return Outcome(query.id, (*others, gold), **{"milliseconds": 10.0, **known})


def run_of(
    strategy: str,
    outcomes: Sequence[Outcome],
    queries: tuple[EvalQuery, ...] = QUERIES,
    qps: Mapping[int, float] | None = None,
) -> EvaluationRun:
    metrics = compute_metrics(queries, outcomes, KS)
    started = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    settings = {"k": 5, "rewrite": False}
    return EvaluationRun(
        None, "a set", strategy, settings, KS, queries, tuple(outcomes), metrics, qps or {}, started
    )


def first_at(strategy: str, ranks: Sequence[int], **known: Any) -> EvaluationRun:
    pairs = zip(QUERIES, ranks, strict=True)
    return run_of(strategy, [find(query, rank, **known) for query, rank in pairs])


def write(runs: Sequence[EvaluationRun], folder: Path) -> tuple[str, str]:
    markdown, html = write_report(runs, folder)
    assert (markdown.name, html.name) == ("report.md", "report.html")
    return markdown.read_text("utf-8"), html.read_text("utf-8")


def rows(markdown: str, caption: str) -> dict[str, list[str]]:
    """Read the table under a caption: the cells of a row by its first one."""
    table = markdown.split(f"{caption}:\n\n")[1].split("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return {first: rest for first, *rest in lines}


class Reader(HTMLParser):
    """Collects what a page consists of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "img", "wbr"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def pictures(page: str) -> list[str]:
    images = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    return [b64decode(each).decode() for each in images]


def test_the_numbers_are_those_of_the_metrics(tmp_path: Path) -> None:
    runs = [first_at("vector", [1, 2, 6, 1] * 5), first_at("hybrid", [1, 1, 2, 1] * 5)]
    markdown, html = write(runs, tmp_path)
    means = rows(markdown, "Means of all metrics")
    assert means["metric"] == ["vector", "hybrid"]
    judged = {
        name for name, values in runs[0].metrics.items() if any(v is not None for v in values)
    }
    assert means.keys() - {"metric", "---"} == judged
    for name in judged:
        assert means[name] == [f"{mean_of_judged(run.metrics[name]):.4f}" for run in runs]
    quality = rows(markdown, "Means by strategy, and their intervals")
    assert quality["strategy"][:2] == ["pass@1", "pass@5"]
    assert quality["vector"][0].startswith("0.5000 (")
    assert quality["hybrid"][0].startswith("0.7500 (")
    assert "0.7500 (" in Reader(html).text


def test_a_difference_beyond_noise_is_told_from_noise(tmp_path: Path) -> None:
    """Ten of twenty better is one, two of twenty is noise, the same is the same."""
    ranks = [2] * 20
    runs = [
        first_at("base", ranks),
        first_at("much", [1] * 10 + [2] * 10),
        first_at("little", [1] * 2 + [2] * 18),
        first_at("none", ranks),
    ]
    markdown, _ = write(runs, tmp_path)
    assert re.search(r"much is better than base by pass@1: \+0.5000 \(\+0\.\d+ to", markdown)
    assert "little and base do not differ beyond noise by pass@1: +0.1000" in markdown
    assert "none and base do not differ beyond noise by pass@1: no difference." in markdown
    table = rows(markdown, "Difference to base over the same questions, and its interval")
    assert "noise" not in table["much"][0]
    assert table["little"][0].startswith("+0.1000, noise (")
    assert table["none"][0] == "no difference"


def test_questions_to_one_document_are_not_independent(tmp_path: Path) -> None:
    """The same change of ten of twenty questions is noise if all are about two documents."""
    queries = tuple(
        replace(query, spans=(replace(query.spans[0], file=f"doc-{n // 10}.txt"),))
        for n, query in enumerate(QUERIES)
    )
    runs = [
        run_of(
            name, [find(query, rank) for query, rank in zip(queries, ranks, strict=True)], queries
        )
        for name, ranks in {"base": [2] * 20, "other": [1] * 10 + [2] * 10}.items()
    ]
    assert "other and base do not differ beyond noise" in write(runs, tmp_path)[0]


def test_text_is_never_markup(tmp_path: Path) -> None:
    queries = (
        EvalQuery("q<b>0", HOSTILE, hint=HOSTILE, spans=(EvidenceSpan(HOSTILE, 0, 9),)),
        EvalQuery(
            "q1", HOSTILE, entities={"TIME": [HOSTILE]}, spans=(EvidenceSpan("a.txt", 0, 9),)
        ),
    )
    outcomes = [
        Outcome("q<b>0", (RankedPassage(HOSTILE, 50, 60, 0, 1.0),), answer=HOSTILE),
        Outcome("q1", (), error=HOSTILE),
    ]
    run = replace(run_of(HOSTILE, outcomes, queries), set_name=HOSTILE, settings={HOSTILE: HOSTILE})
    markdown, html = write([run, run], tmp_path)
    page = Reader(html)
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "ul"),
        *("li", "figure", "img", "figcaption", "div", "table", "caption", "thead", "tbody", "tr"),
        *("th", "td", "wbr"),
    }
    assert "<script>alert(1)</script> **bold** a|b [x](javascript:alert(1)) `c` &" in page.text
    assert not re.search(r"<(?!/?)|[\x1b\u202e]", markdown + html)
    assert "<" not in markdown
    assert r"&lt;script&gt;alert(1)&lt;/script&gt; \*\*bold\*\* a\|b \[x\](javascript" in markdown


ODD_NAME = "a$b$ <i> 漢字"


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with all plots, of a strategy whose name looks like a formula."""
    run = replace(first_at(ODD_NAME, [1, 6] * 10, confidence=0.7), qps={1: 20.0, 4: 55.5})
    return write([run], tmp_path_factory.mktemp("report"))[1]


def test_the_page_needs_nothing_else(html: str) -> None:
    page = Reader(html)
    names = {name for _, attributes in page.tags for name in attributes}
    assert not names & {"href", "srcset", "action", "data", "poster", "background"}
    sources = [attributes["src"] or "" for _, attributes in page.tags if "src" in attributes]
    assert sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert not re.search(r"url\(|@import", html)
    assert "default-src 'none'" in html
    for svg in pictures(html):
        linked = re.findall(r'(?:href="|url\()([^")]*)', svg)
        assert all(link.startswith("#") for link in linked)
        assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_plots_and_tables_say_what_they_are(html: str) -> None:
    page = Reader(html)
    alts = [attributes["alt"] for tag, attributes in page.tags if tag == "img"]
    assert len(alts) == 5
    assert all(alts)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table") > 0
    assert {attributes["scope"] for tag, attributes in page.tags if tag == "th"} == {"col", "row"}
    assert ("html", {"lang": "en"}) in page.tags
    assert ODD_NAME in [each.text for each in ElementTree.fromstring(pictures(html)[0]).iter()]


def test_one_run_is_compared_with_nothing(tmp_path: Path) -> None:
    markdown, _ = write([first_at("vector", [1] * 20)], tmp_path)
    assert "Compared with" not in markdown
    assert "Entities" not in markdown
    assert "None is below 1 by pass@1 of vector" in markdown


def test_what_is_missing_is_shown_as_missing(tmp_path: Path) -> None:
    """No judgment but for one question, no time, no confidence, no throughput; a metric lacks."""
    queries = (EvalQuery("a", "A?", files=("a.txt",)), EvalQuery("b", "B?"))
    outcomes = [Outcome("a", (), files=("b.txt", "a.txt")), Outcome("b", ())]
    run = run_of("files", outcomes, queries)
    older = replace(run, strategy="older", metrics={"mrr": [0.25, None]}, qps={4: 3.0})
    markdown, html = write([run, older], tmp_path)
    means = rows(markdown, "Means of all metrics")
    assert means["mrr"] == ["0.5000", "0.2500"]
    assert means["ndcg@5"] == ["0.6309", "–"]
    assert "pass@5" not in means
    speed = rows(markdown, "Latency of questions that did not fail; queries/s at 1 or more clients")
    assert speed["files"] == ["–", "–", "–"]
    assert speed["older"] == ["–", "–", "3.0"]
    assert "older cannot be compared with files by ndcg@1." in markdown
    assert "## Calibration" not in markdown
    assert len(pictures(html)) == 3


def test_a_set_without_judgments_is_judged_by_abstaining(tmp_path: Path) -> None:
    queries = (EvalQuery("a", "A?"), EvalQuery("b", "B?", answerable=False))
    run = run_of("all", [Outcome("a", ()), Outcome("b", (), abstained=False)], queries)
    markdown, _ = write([run], tmp_path)
    assert rows(markdown, "Means of all metrics")["abstain"] == ["0.5000"]
    assert "### B?" in markdown


def test_errors_are_shown_and_count_nothing(tmp_path: Path) -> None:
    outcomes = [find(query, 1) for query in QUERIES]
    outcomes[3] = Outcome("q3", (), error="the server is gone", milliseconds=5000.0)
    outcomes[4] = replace(outcomes[4], abstained=True, confidence=0.1)
    markdown, html = write([run_of("vector", outcomes)], tmp_path)
    failures = rows(markdown, "Questions that failed or were not answered")
    assert failures["vector"] == ["1", "1"]
    assert rows(markdown, "The most frequent errors")["vector"] == ["1", "the server is gone"]
    assert rows(markdown, "Means of all metrics")["pass@1"] == ["0.9500"]
    speed = rows(markdown, "Latency of questions that did not fail; queries/s at 1 or more clients")
    assert speed["vector"] == ["10.0", "10.0"]
    worst = markdown.split("### ")[1]
    assert worst.startswith("Question 3?")
    assert "- failed: the server is gone" in worst
    assert "not found, nor is its document" in worst
    assert "the server is gone" in Reader(html).text


def test_the_worst_questions_say_what_was_found_and_where(tmp_path: Path) -> None:
    outcomes = [find(query, 1) for query in QUERIES]
    outcomes[0] = find(QUERIES[0], 13)
    outcomes[1] = Outcome("q1", (RankedPassage("doc-1.txt", 500, 600, 4, 0.5),), abstained=True)
    outcomes[2] = Outcome("q2", (RankedPassage("doc-2.txt", 170, 300, 4, 0.5),))
    runs = [first_at("worse", [3] * 20), run_of("better", outcomes)]
    _, zero, one, two = write(runs, tmp_path)[0].split("\n### ")
    two = two.split("\n## ")[0]
    assert zero.startswith("Question 0?")
    assert "- pass@1: worse 0.0000, better 0.0000" in zero
    assert "| doc-0.txt, characters 100 to 200 | found at rank 13, past the first 1; " in zero
    assert "| 13 | doc-0.txt | 100 to 200 | 7 | 0.0769 | yes |" in zero
    assert "| 10 | other-10.txt |" in zero
    assert "| 11 |" not in zero
    assert "not found; of the documents found, its own is number 1" in one
    assert "- abstained" in one
    assert "found at rank 1; the first 1 hold 30% of it" in two


def test_chunks_and_documents_are_gold_too(tmp_path: Path) -> None:
    queries = (
        EvalQuery("a", "A?", chunks=(("a.txt", 3), ("a.txt", 8))),
        EvalQuery("b", "B?", grades={"b.txt": 2, "not.txt": 0}),
    )
    outcomes = [
        Outcome(
            "a", (RankedPassage("a.txt", 0, 9, 1, 0.9), RankedPassage("a.txt", 20, 29, 3, 0.8))
        ),
        Outcome("b", (), files=("not.txt", "b.txt")),
    ]
    runs = [run_of("x", outcomes, queries), run_of("x", outcomes, queries)]
    markdown, _ = write(runs, tmp_path)
    places = rows(markdown, "What is gold, and what became of it")
    assert places["a.txt, chunk 3"] == ["found at rank 2, past the first 1"]
    assert places["a.txt, chunk 8"] == ["not found; of the documents found, its own is number 1"]
    assert "### B?" not in markdown  # judged by documents alone, it has no pass@k


def test_runs_of_one_strategy_are_told_apart(tmp_path: Path) -> None:
    markdown, _ = write([first_at("x", [1] * 20), first_at("x", [2] * 20)], tmp_path)
    assert rows(markdown, "How the runs were made").keys() >= {"x (1)", "x (2)"}
    assert "x (2) is worse than x (1) by pass@1: -1.0000" in markdown


def test_calibration_is_that_of_the_outcomes(tmp_path: Path) -> None:
    """Half is right; where it says .9 all is, where it says .1 nothing."""
    right = [find(query, 1, confidence=0.9) for query in QUERIES[:10]]
    wrong = [Outcome(query.id, (), confidence=0.1) for query in QUERIES[10:]]
    markdown, _ = write([run_of("sure", [*right, *wrong]), first_at("mute", [1] * 20)], tmp_path)
    table = rows(
        markdown,
        "Whether confidence can be believed: error 0 is best; AUROC 1 is best, .5 is chance",
    )
    assert table["sure"] == ["20", "0.1000", "1.0000"]
    assert "mute" not in table


def test_many_strategies_fit_the_page(tmp_path: Path) -> None:
    runs = [first_at(f"s{n}", [1 + n % 6] * 20) for n in range(10)]
    markdown, _ = write(runs, tmp_path)
    tables = markdown.split("Means of all metrics:\n\n")[1:]
    widths = [table.splitlines()[0].count("|") - 2 for table in tables]
    assert widths == [8, 2]


def test_runs_over_different_questions_are_refused(tmp_path: Path) -> None:
    run = first_at("a", [1] * 20)
    other = replace(run, queries=(replace(run.queries[0], text="Another?"), *run.queries[1:]))
    with pytest.raises(ConfigError, match="different questions"):
        write_report([run, other], tmp_path)
    with pytest.raises(ConfigError, match="no run"):
        write_report([], tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"cannot write the report to .*file'"):
        write_report([first_at("a", [1] * 20)], tmp_path / "file")


def test_without_the_library_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"pip install 'lexichord\[eval\]'"):
        write_report([first_at("a", [1] * 20)], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def naming(strategy: str, answers: Sequence[str]) -> EvaluationRun:
    """A run whose questions expect a time and a condition of two documents each."""
    entities = {"TIME": ["30 days"], "CONDITION": ["in writing"]}
    queries = tuple(replace(query, entities=entities, critical=("TIME",)) for query in QUERIES)
    outcomes = [
        replace(find(query, 1), answer=answer)
        for query, answer in zip(queries, answers, strict=True)
    ]
    return run_of(strategy, outcomes, queries)


def test_entities_are_compared_in_points_and_relatively(tmp_path: Path) -> None:
    """Of 20 times 4 are named by the first, 12 by the second; half of what it names is wrong."""
    few = naming("base", ["within 30 days"] * 4 + ["nothing"] * 16)
    more = naming("much", ["30 days in writing, not 2 years"] * 12 + ["nothing"] * 8)
    same = naming("same", ["within 30 days"] * 4 + ["nothing"] * 16)
    markdown, _ = write([few, more, same], tmp_path)
    table = rows(markdown, "Expected entities in answers, micro-averaged: much and base")
    assert table["metric"][2:] == ["improvement, points", "95 % interval", "improvement, relative"]
    assert table["precision"][:3] == ["100.00%", "50.00%", "-50.00"]
    assert table["recall"][:3] == ["20.00%", "60.00%", "+40.00"]
    assert table["recall"][4] == "+200.0%"
    assert table["recall, all types"][:3] == ["10.00%", "60.00%", "+50.00"]
    assert table["recall, critical types"][:3] == ["20.00%", "60.00%", "+40.00"]
    low, high = map(float, table["recall"][3].split(" to "))
    assert 0 < low < 40 < high
    table = rows(markdown, "Expected entities in answers, micro-averaged: same and base")
    assert table["recall"][2:] == ["+0.00", "+0.0 to +0.0, noise", "+0.0%"]
    none, _ = write([naming("base", ["nothing"] * 20), more], tmp_path)
    table = rows(none, "Expected entities in answers, micro-averaged: much and base")
    assert table["recall"][2:] == ["+60.00", table["recall"][3], "–"]


@pytest.mark.parametrize(
    ("mean", "is_noise", "verdict"),
    [(0.1, False, "better"), (-0.1, False, "worse"), (0, True, "noise")],
)
def test_what_came_of_a_change_is_said_in_a_word(mean: float, is_noise: bool, verdict: str) -> None:
    change = Change(1, 2, "base", "mrr", Difference(mean, mean - 0.1, mean + 0.1, is_noise))
    assert comparison_table(Evaluation((), comparisons=(change,)))[1][-1] == verdict
