"""The picture of how a response came about says what its explanation says."""

import re
from dataclasses import replace
from typing import Any

from lexichord.serve.page import fill
from lexichord.serve.page.explain import show_explanation
from lexichord.serve.page.results import show_results
from lexichord.types import Explanation, HitScores, Response, Step
from tests.builders import HIT, RESPONSE

BOTH = replace(
    HIT,
    chunk_id="chunk_7",
    score=0.0326,
    scores=HitScores(0.91, 7.5, 2.5, 0.0326, {"original": 0.0164, "file 1": 0.0162}),
    ranks={"dense": 2, "keyword": 14, "original": 1, "file 1": 2},
)
ONE = replace(
    HIT,
    chunk_id="chunk_8",
    document_id="doc_3",
    title="<b>Licence",
    score=0.0161,
    scores=HitScores(None, 3.5, 0.5, 0.0161, {"original": 0.0161}),
    ranks={"dense": None, "keyword": 1, "original": 2},
)
TRACE = [
    Step("embed", {}, ms=30.0),
    Step("search", {"variants": ["original"], "boost": {}}, [], ms=9.5),
    Step("search", {"variants": ["original"], "boost": {"doc_2": 0.25}}, [], ms=0.5),
    Step("confidence", {}, {"value": 0.9, "error": "at 10.0.0.7"}, ms=0.0),
]
FOUND = replace(RESPONSE, hits=[BOTH, ONE], trace=TRACE)


def drawn(response: Response) -> str:
    return fill("explain.html", view=show_results(response, 10), response=response, seconds=0.05)


def rows(page: str, table: str) -> list[list[str]]:
    """Return the texts of a table's cells, row by row, without its head."""
    body = page.partition(f'class="{table}"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in body.split("<tr>")[1:]]
    return [[" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in row] for row in cells]


def widths(svg: str) -> list[float]:
    return [
        float(width) for width in re.findall(r'<rect class="hue-\d" x[^>]* width="([\d.]+)%', svg)
    ]


def test_each_stage_is_drawn_with_the_milliseconds_of_the_explanation() -> None:
    page, told = drawn(FOUND), Explanation(FOUND).to_dict()["steps"]
    assert [row[:2] for row in rows(page, "stages")] == [
        [step["stage"], f"{step['ms']:.1f}"] for step in told
    ]
    cost = page.partition('class="cost"')[2].partition("</svg>")[0]
    shares = [100 * step["ms"] / 40 for step in told if step["ms"]]
    assert widths(cost) == [round(share, 2) for share in shares]
    assert "40.0 ms" in cost
    assert "10.0.0.7" not in page


def test_each_hit_is_drawn_with_the_ranks_and_the_sum_of_the_explanation() -> None:
    page, told = drawn(FOUND), Explanation(FOUND).to_dict()["hits"]

    def ranks(hit: dict[str, Any]) -> list[str]:
        return [str(one["rank"] or "–") for one in hit["lists"].values()]

    first, second = rows(page, "origins")
    assert [*first[1:3], *first[4:6]] == ranks(told[0]) == ["2", "14", "1", "2"]
    assert [*second[1:3], *second[4:6]] == ranks(told[1]) == ["–", "1", "2", "–"]
    assert [row[6] for row in (first, second)] == [f"{hit['score']:.4f}" for hit in told]
    assert [first[3], second[3]] == ["+0.25", "–"]  # of the last search
    assert second[0] == "2 &lt;b&gt;Licence"


def test_the_ways_of_asking_stand_in_the_order_in_which_they_were_asked() -> None:
    late = replace(ONE, ranks={"file 2": 1, "other": 1, "file 1": 2})
    search = Step("search", {"variants": ["original", "file 1", "file 2"]}, [], ms=1.0)
    view = show_explanation(replace(FOUND, hits=[late, BOTH], trace=[search]), 10)
    assert view.ways == [("original", 0), ("file 1", 1), ("file 2", 2), ("other", 3)]
    assert [[one.rank for one in hit.ways] for hit in view.hits] == [
        [None, 2, 1, 1],
        [1, 2, None, None],
    ]


def test_a_sum_is_drawn_by_what_each_list_adds_beside_the_best() -> None:
    first, second = show_explanation(FOUND, 10).hits
    assert [(one.start, one.width) for one in first.segments] == [(0, 50.31), (50.31, 49.69)]
    assert [(one.start, one.width) for one in second.segments] == [(0, 49.39)]
    assert [one.tone for one in [*first.channels, *second.channels]] == [
        "first",
        "far",
        "absent",
        "first",
    ]


def test_only_the_hits_that_are_shown_are_drawn_and_a_reranker_is_told() -> None:
    reranked = replace(ONE, scores=replace(ONE.scores, rerank=0.75))
    view = show_explanation(replace(FOUND, hits=[reranked, BOTH]), 1)
    assert [hit.title for hit in view.hits] == ["<b>Licence"]
    assert view.is_reranked
    page = drawn(replace(FOUND, hits=[reranked]))
    assert rows(page, "origins")[0][-1] == "0.750"
    assert "A reranker then orders" in page


def test_a_response_without_hits_has_its_stages_drawn() -> None:
    page = drawn(replace(FOUND, hits=[]))
    assert len(rows(page, "stages")) == len(TRACE)
    assert 'class="origins"' not in page
