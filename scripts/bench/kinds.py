"""Kinds of questions over the public sets, each with its gold places and the corpus it asks."""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from lexichord import SyncLexichord
from quality import _document as code_document
from train_reader.examples import Example, is_kept_back, read_set

LONGEST_PAGE = 60_000  # characters; release notes are longer


@dataclass(frozen=True)
class Question:
    """`gold` are places in files; without any character, a whole file. `file`: the scope."""

    text: str
    gold: Sequence[tuple[str, int, int]]
    file: str | None = None


def code(data: Path) -> Iterator[Question]:
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    stored = {document["original_uuid"]: document for document in documents}
    for line in (data / "codebase/evaluation_set.jsonl").read_text().splitlines():
        query = json.loads(line)
        gold = []
        for uri, number in query["golden_chunk_uuids"]:
            chunk = stored[uri]["chunks"][number]["content"]
            start = stored[uri]["content"].find(chunk)
            gold.append((uri, start, start + len(chunk)))
        yield Question(query["query"], gold)


def fill_code(lexichord: SyncLexichord, data: Path) -> None:
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    lexichord.ingest(documents=map(code_document, documents))


def contracts(data: Path) -> Iterator[Question]:
    file = data / "legalbenchrag/benchmarks/contractnli.json"
    for test in json.loads(file.read_text())["tests"]:
        yield Question(test["query"], [(s["file_path"], *s["span"]) for s in test["snippets"]])


def fill_contracts(lexichord: SyncLexichord, data: Path) -> None:
    files = sorted((data / "legalbenchrag/corpus/contractnli").glob("*.txt"))
    lexichord.ingest(
        documents=[{"uri": f"contractnli/{file.name}", "text": file.read_text()} for file in files]
    )


def hypotheses(data: Path) -> Iterator[Question]:
    """ContractNLI's hypotheses, each asked inside one contract."""
    stored = json.loads((data / "contractnli/dev.json").read_text())
    for document in stored["documents"]:
        for label, annotation in document["annotation_sets"][0]["annotations"].items():
            if annotation["spans"]:
                gold = [(document["file_name"], *document["spans"][n]) for n in annotation["spans"]]
                yield Question(stored["labels"][label]["hypothesis"], gold, document["file_name"])


def fill_hypotheses(lexichord: SyncLexichord, data: Path) -> None:
    stored = json.loads((data / "contractnli/dev.json").read_text())
    lexichord.ingest(
        documents=[
            {"uri": document["file_name"], "text": document["text"]}
            for document in stored["documents"]
        ]
    )


def policies(data: Path, *, named: bool) -> Iterator[Question]:
    """PolicyQA: each question of a policy once, with every passage that answers it."""
    for policy in json.loads((data / "policyqa/dev.json").read_text())["data"]:
        site, gold = policy["title"], defaultdict(list)
        starts = {p["index"]: start for p, start in _placed(policy)}
        for paragraph in policy["paragraphs"]:
            start = starts[paragraph["index"]]
            place = site, start, start + len(paragraph["context"])
            for asked in paragraph["qas"]:
                gold[asked["question"]].append(place)
        for text, places in gold.items():
            asked_of = f"Consider {site}'s privacy policy; {text}" if named else text
            yield Question(asked_of, sorted(set(places)), None if named else site)


def _answers(
    article: dict[str, Any], paragraph: dict[str, Any], start: int
) -> Iterator[tuple[str, tuple[str, int, int]]]:
    """Yield a paragraph's questions, each with an answer's place in the text that joins them."""
    for asked in paragraph["qas"]:
        for answer in asked["answers"]:
            first = start + answer["answer_start"]
            yield asked["question"], (article["title"], first, first + len(answer["text"]))


def fill_policies(lexichord: SyncLexichord, data: Path) -> None:
    _fill_paragraphs(lexichord, json.loads((data / "policyqa/dev.json").read_text())["data"])


def xquad(data: Path, language: str) -> Iterator[Question]:
    for article in _articles(data, language):
        for paragraph, start in _placed(article):
            place = article["title"], start, start + len(paragraph["context"])
            for asked in paragraph["qas"]:
                yield Question(asked["question"], [place])


def xquad_placed(data: Path, language: str = "en") -> Iterator[Question]:
    """XQuAD's questions in a language, each with the place of its answer."""
    for article in _articles(data, language):
        for paragraph, start in _placed(article):
            for text, place in _answers(article, paragraph, start):
                yield Question(text, [place])


def fill_xquad(lexichord: SyncLexichord, data: Path, language: str) -> None:
    _fill_paragraphs(lexichord, _articles(data, language))


def _articles(data: Path, language: str) -> list[dict[str, Any]]:
    return list(json.loads((data / f"xquad/xquad.{language}.json").read_text())["data"])


def _placed(article: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield an article's paragraphs with their place in the text that joins them."""
    start = 0
    for paragraph in article["paragraphs"]:
        yield paragraph, start
        start += len(paragraph["context"]) + 2


def _fill_paragraphs(lexichord: SyncLexichord, articles: Iterable[dict[str, Any]]) -> None:
    lexichord.ingest(
        documents=[
            {
                "uri": article["title"],
                "title": article["title"],
                "text": "\n\n".join(each["context"] for each in article["paragraphs"]),
                "chunks": [
                    {"content": paragraph["context"], "start": start}
                    for paragraph, start in _placed(article)
                ],
            }
            for article in articles
        ]
    )


def how_to(data: Path) -> Iterator[Question]:
    """Ask how to use and how to configure what each page's title names."""
    for file in _pages(data):
        if title := re.match(r"# ([^{\n]+)", file.read_text()):
            for form in ("how do I use {}?", "how do I configure {}"):
                yield Question(form.format(title[1].strip()), [(_page(file, data), 0, 0)])


def fill_how_to(lexichord: SyncLexichord, data: Path) -> None:
    lexichord.ingest(
        documents=[{"uri": _page(file, data), "text": file.read_text()} for file in _pages(data)]
    )


def kept_back(data: Path, name: str, *, pinned: bool = False) -> Iterator[Question]:
    """A training set's questions of the documents that the reader was not trained on.

    Where they are `pinned`, each is asked of its own document.
    """
    places = _kept_back_places(data, name)
    gold = defaultdict(list)
    for one in _kept_back_examples(data, name):
        start = places[one.title][one.passage]
        for a, b in one.answers:
            gold[one.title, one.question].append((one.title, start + a, start + b))
    for (title, text), where in gold.items():
        yield Question(text, where, title if pinned else None)


def fill_kept_back(lexichord: SyncLexichord, data: Path, name: str) -> None:
    lexichord.ingest(
        documents=[
            {"uri": title, "title": title, "text": "\n\n".join(passages)}
            for title, passages in _kept_back_places(data, name).items()
        ]
    )


def _kept_back_examples(data: Path, name: str) -> list[Example]:
    return [one for one in read_set(data / f"reader/{name}.jsonl.gz") if is_kept_back(one)]


def _kept_back_places(data: Path, name: str) -> dict[str, dict[str, int]]:
    """Return where each passage stands in the text of its document, by title."""
    places: dict[str, dict[str, int]] = {}
    for one in _kept_back_examples(data, name):
        own = places.setdefault(one.title, {})
        if one.passage not in own:
            own[one.passage] = sum(len(passage) + 2 for passage in own)
    return places


def _pages(data: Path) -> list[Path]:
    files = sorted((data / "docs-fastapi").rglob("*.md"))
    return [file for file in files if file.stat().st_size < LONGEST_PAGE]


def _page(file: Path, data: Path) -> str:
    return file.relative_to(data).as_posix()


@dataclass(frozen=True)
class Kind:
    database: str
    fill: Callable[[SyncLexichord, Path], None]
    questions: Callable[[Path], Iterable[Question]]


def _xquad_kind(language: str) -> Kind:
    return Kind(
        f"fusion-xquad-{language}",
        lambda lexichord, data: fill_xquad(lexichord, data, language),
        lambda data: xquad(data, language),
    )


def _kept_back_kind(name: str, *, pinned: bool = False) -> Kind:
    return Kind(
        f"kept-back-{name}",
        lambda lexichord, data: fill_kept_back(lexichord, data, name),
        lambda data: kept_back(data, name, pinned=pinned),
    )


KINDS = {
    "code": Kind("fusion-code", fill_code, code),
    "contracts, named": Kind("fusion-contracts", fill_contracts, contracts),
    "XQuAD en": _xquad_kind("en"),
    "contract, pinned": Kind("fusion-hypotheses", fill_hypotheses, hypotheses),
    "policies, named": Kind("fusion-policies", fill_policies, lambda d: policies(d, named=True)),
    "policy, pinned": Kind("fusion-policies", fill_policies, lambda d: policies(d, named=False)),
    "Natural Questions, kept back": _kept_back_kind("qed_nq.en"),
    "papers, kept back": _kept_back_kind("covidqa.en"),
    "policies, kept back": _kept_back_kind("policyqa_dev.en", pinned=True),
    "documentation": Kind("fusion-how-to", fill_how_to, how_to),
    "XQuAD de": _xquad_kind("de"),
    "XQuAD es": _xquad_kind("es"),
    "XQuAD zh": _xquad_kind("zh"),
    "Wikipedia fr, kept back": _kept_back_kind("piaf.fr"),
}
