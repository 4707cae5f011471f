"""Lay out the broad set: everyday questions beside all the documents they are asked of.

python scripts/data/everyday.py DATA FOLDER

DATA holds the public sets (fetch_datasets.py, PolicyQA, XQuAD, a documentation, files). FOLDER gets
a folder of documents a kind, and two files of questions for `lexichord eval`: chosen.jsonl to build
with, held-back.jsonl to look at once, at the end. A kind whose data is absent is left out, and that
is said. Questions written by hand are those of tests/everyday; more are drawn from the spans of
PolicyQA and XQuAD, always the same. What is wrong with a question is printed, and exits with 1.
"""

import argparse
import json
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import sentencex  # type: ignore[import-untyped]

from lexichord.errors import ConfigError, IngestError
from lexichord.evaluate.datasets import NativeQuestion
from lexichord.evaluate.datasets.reading import read_document, read_json_lines
from lexichord.evaluate.metrics import holds
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "tests" / "everyday"
SEED = 20261122
CONTRACTS = 60
CONTRACT_CHARS = range(8_000, 40_000)
PAPER_ENDINGS = {".pdf", ".docx", ".html", ".txt", ".md"}
PAPER_CHARS = range(500, 200_000)
FILE_ENDINGS = {
    "sheets": (".xlsx", ".xls", ".csv", ".tsv"),
    "slides": (".pptx",),
    "mail": (".eml", ".msg"),
    "records": (".xml", ".json", ".ndjson"),
    "books": (".epub",),
    "scans": (".pdf",),
}
SCANS_OCR = "tesseract/eng"
SPAN_QUESTIONS = {
    "policies": 700,
    "encyclopedia-en": 300,
    "encyclopedia-de": 200,
    "encyclopedia-es": 200,
    "encyclopedia-zh": 200,
}
MIN_POLICY_ANSWER_CHARS = 20  # shorter ones are single words such as "collect"
NEAR_CHARS = 300  # around a quote, where what a first sentence says has to stand

# Which kinds rules may be made with. No document stands in both halves: of the articles, which come
# in four languages, those at even places are asked about in English, the others in the rest.
CHOSEN = ("fastapi", "samples", "encyclopedia-en", "ndas")
HELD_BACK = (
    "contracts",
    "policies",
    "encyclopedia-de",
    "encyclopedia-es",
    "encyclopedia-zh",
    "code",
    "papers",
    "sheets",
    "slides",
    "mail",
    "records",
    "books",
    "scans",
)
SPLITS = {"chosen": CHOSEN, "held-back": HELD_BACK}
TYPES = {
    *("look-up", "how-to", "definition", "list", "summary", "comparison", "named"),
    *("near-miss", "foreign", "span"),
}

type Files = Iterator[tuple[str, bytes]]
type Json = dict[str, Any]


def fastapi(data: Path) -> Files:
    yield from _folder(data / "docs-fastapi", "*.md")


def samples(_: Path) -> Files:
    for folder in ("agreements", "policies"):
        for name, content in _folder(ROOT / "samples" / folder, "*"):
            yield f"{folder}/{name}", content


def contracts(data: Path) -> Files:
    """A choice of contracts of a middling length, spread over their names."""
    files = [
        (name, content)
        for name, content in _folder(data / "legalbenchrag/corpus/cuad", "*.txt")
        if len(content) in CONTRACT_CHARS
    ]
    yield from (files[number * len(files) // CONTRACTS] for number in range(CONTRACTS))


def ndas(data: Path) -> Files:
    yield from _folder(data / "legalbenchrag/corpus/contractnli", "*.txt")


def policies(data: Path) -> Files:
    for site in _json(data / "policyqa/dev.json")["data"]:
        heading = f"# {site['title']}: privacy policy"
        yield f"{site['title']}.md", _joined(heading, site)


def encyclopedia(data: Path, language: str) -> Files:
    for article in _articles(data, language):
        heading = f"# {article['title'].replace('_', ' ')}"
        yield _article_name(article), _joined(heading, article)


def code(data: Path) -> Files:
    """Files put together again from their chunks; the set does not say what they were called."""
    for file in _json(data / "codebase/codebase_chunks.json"):
        content = "".join(chunk["content"] for chunk in file["chunks"])
        yield f"{file['doc_id']}{_ending(content)}", content.encode()


def papers(data: Path) -> Files:
    """Readable files of many makes, each text once."""
    seen = set[str]()
    for name, content in _folder(data / "real-files", "*"):
        path = data / "real-files" / name
        if path.suffix.lower() not in PAPER_ENDINGS or "test_evaluate_files" in name:
            continue
        try:
            text = load(path).text
        except IngestError:
            continue
        if len(text) in PAPER_CHARS and text not in seen:
            seen.add(text)
            yield name, content


def real_files(kind: str, data: Path) -> Files:
    """Files of a kind by their endings, each text once; with OCR if it is of scans alone."""
    seen = set[str]()
    options = LoadOptions(ocr=SCANS_OCR if kind == "scans" else None)
    if kind == "scans" and not shutil.which("tesseract"):
        raise FileNotFoundError("there is no tesseract on PATH")
    for name, content in _folder(data / "real-files", "*"):
        path = data / "real-files" / name
        if path.suffix.lower() not in FILE_ENDINGS[kind] or "test_evaluate_files" in name:
            continue
        try:
            loaded = load(path, options)
        except IngestError:
            continue
        if kind == "scans" and "ocr_confidence" not in loaded.metadata:
            continue
        if loaded.text not in seen:
            seen.add(loaded.text)
            yield name, content


DOCUMENTS: Mapping[str, Callable[[Path], Files]] = {
    "fastapi": fastapi,
    "samples": samples,
    "contracts": contracts,
    "ndas": ndas,
    "policies": policies,
    "encyclopedia-en": lambda data: encyclopedia(data, "en"),
    "encyclopedia-de": lambda data: encyclopedia(data, "de"),
    "encyclopedia-es": lambda data: encyclopedia(data, "es"),
    "encyclopedia-zh": lambda data: encyclopedia(data, "zh"),
    "code": code,
    "papers": papers,
    **{kind: partial(real_files, kind) for kind in FILE_ENDINGS},
}


def _folder(folder: Path, pattern: str) -> Files:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    for file in sorted(folder.rglob(pattern)):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), file.read_bytes()


def _json(file: Path) -> Any:  # noqa: ANN401
    return json.loads(file.read_text(encoding="utf-8"))


def _joined(heading: str, article: Json) -> bytes:
    paragraphs = [paragraph["context"].strip() for paragraph in article["paragraphs"]]
    return "\n\n".join([heading, *paragraphs]).encode() + b"\n"


def _articles(data: Path, language: str) -> list[Json]:
    return _json(data / f"xquad/xquad.{language}.json")["data"]  # type: ignore[no-any-return]


def _article_name(article: Json) -> str:
    return f"{article['title']}.md"


def _ending(content: str) -> str:
    if re.search(r"^#include|^#define", content, re.M):
        return ".c"
    if re.search(r"^(pub |use |impl |fn |#\[)", content, re.M):
        return ".rs"
    return ".py" if re.search(r"^(import|from|def|class) ", content, re.M) else ".txt"


# Questions from the spans of public sets


@dataclass(frozen=True)
class Answer:
    """Where a public set says that a question is answered."""

    file: str
    question: str
    sentence: str
    parts: list[str]  # the span, sentence by sentence


def span_questions(kind: str, data: Path) -> list[Json]:
    """Draw a kind's questions from its set's spans, always the same."""
    if kind not in SPAN_QUESTIONS:
        return []
    answers = _policy_answers(data) if kind == "policies" else _article_answers(kind, data)
    asked: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        asked.setdefault((answer.file, answer.question), []).append(answer)
    drawn = random.Random(f"{SEED} {kind}").sample(sorted(asked), SPAN_QUESTIONS[kind])
    return [
        _span_question(f"{kind}-spans-{number:03}", f"{kind}-spans", asked[pair])
        for number, pair in enumerate(drawn, 1)
    ]


def _span_question(name: str, kind: str, answers: list[Answer]) -> Json:
    quotes = dict.fromkeys(answer.sentence for answer in answers)
    first = dict.fromkeys(part for answer in answers for part in answer.parts)
    file = answers[0].file
    return {
        "id": name,
        "kind": kind,
        "type": "span",
        "query": answers[0].question,
        "relevant_files": [file],
        "relevant_spans": [{"file": file, "quote": quote} for quote in quotes],
        "first": list(first),
    }


def _policy_answers(data: Path) -> Iterator[Answer]:
    """Answers of privacy policies; a question is asked with the site's name, else all would fit."""
    for site in _json(data / "policyqa/dev.json")["data"]:
        file, name = f"policies/{site['title']}.md", f"{site['title']} privacy policy"
        for answer in _answers(site, file, "en"):
            if sum(map(len, answer.parts)) >= MIN_POLICY_ANSWER_CHARS:
                yield replace(answer, question=f"{name}: {answer.question}")


def _article_answers(kind: str, data: Path) -> Iterator[Answer]:
    language = kind.rpartition("-")[2]
    for place, article in enumerate(_articles(data, language)):
        if (place % 2 == 0) == (kind in CHOSEN):
            yield from _answers(article, f"{kind}/{_article_name(article)}", language)


def _answers(article: Json, file: str, language: str) -> Iterator[Answer]:
    """Yield a document's answers, but for those whose sentence stands in it more than once."""
    text = "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])
    for paragraph in article["paragraphs"]:
        context = paragraph["context"]
        for asked in paragraph["qas"]:
            start, end = _span(context, asked["answers"][0])
            touched = [
                (first, last)
                for first, last in _sentences(context, language)
                if first < end and last > start
            ]
            sentence = context[touched[0][0] : touched[-1][1]].strip()
            parts = [context[max(a, start) : min(b, end)].strip() for a, b in touched]
            if text.count(sentence) == 1:
                yield Answer(file, asked["question"].strip(), sentence, [*filter(None, parts)])


def _span(context: str, answer: Json) -> tuple[int, int]:
    """Return where an answer stands; words that it cuts, as PolicyQA's do, are whole."""
    start = answer["answer_start"]
    end = start + len(answer["text"])
    while start > 0 and re.fullmatch(r"[A-Za-z]{2}", context[start - 1 : start + 1]):
        start -= 1
    while end < len(context) and re.fullmatch(r"[A-Za-z]{2}", context[end - 1 : end + 1]):
        end += 1
    return start, end


def _sentences(context: str, language: str) -> list[tuple[int, int]]:
    borders = sentencex.get_sentence_boundaries(language, context)
    return [(border["start_index"], border["end_index"]) for border in borders]


# Layout


def lay_out(data: Path, folder: Path) -> Iterator[str]:
    """Write the documents and questions of all kinds there is data for; yield what is left out."""
    questions: dict[str, list[Json]] = {}
    for kind, documents in DOCUMENTS.items():
        try:
            for name, content in documents(data):
                file = folder / kind / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            questions[kind] = [*_written(kind), *span_questions(kind, data)]
        except FileNotFoundError as error:
            yield f"{kind} is left out: {error}"
    for split, kinds in SPLITS.items():
        rows = [row for kind in kinds for row in questions.get(kind, [])]
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")


def _written(kind: str) -> list[Json]:
    file = QUESTIONS / f"{kind}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


# Faults


def faults(folder: Path) -> Iterator[str]:
    """Yield a line for each thing that is wrong with a question."""
    seen = set[str]()
    texts: dict[str, str] = {}
    for split, kinds in SPLITS.items():
        for place, question in read_json_lines(folder / f"{split}.jsonl", NativeQuestion):
            if question.id in seen:
                yield f"{place}: the id {question.id} was there before"
            seen.add(question.id)
            for fault in (*_shape_faults(question, kinds), *_file_faults(question, texts, folder)):
                yield f"{question.id}: {fault}"


def _shape_faults(question: NativeQuestion, kinds: Iterable[str]) -> Iterator[str]:
    if question.kind.removesuffix("-spans") not in kinds or not question.id.startswith(
        f"{question.kind}-"
    ):
        yield f"it stands among the questions of another kind than {question.kind}"
    if question.type not in TYPES:
        yield f"there is no type {question.type}: {', '.join(sorted(TYPES))}"
    if question.answerable == (question.type in ("near-miss", "foreign")):
        yield f"a question of type {question.type} has answerable {question.answerable}"
    if question.answerable and not (question.relevant_spans and (question.first or question.cells)):
        yield "it has no quote, or not what a right first sentence holds, nor cells"


def _file_faults(question: NativeQuestion, texts: dict[str, str], folder: Path) -> Iterator[str]:
    for file in question.files:
        if file not in texts and (folder / file).is_file():
            texts[file] = read_document(file, folder / file)["text"]
        if file not in texts:
            yield f"there is no file {file}"
    if all(file in texts for file in question.files):
        yield from _quote_faults(question, texts)


def _quote_faults(question: NativeQuestion, texts: Mapping[str, str]) -> Iterator[str]:
    around = []
    for span in question.relevant_spans:
        text, quote = texts[span.file], span.quote or ""
        if (count := text.count(quote)) != 1:
            yield f"{span.file} holds the quote {quote[:60]!r} {count} times, not once"
        start = max(0, text.find(quote) - NEAR_CHARS)
        around.append(text[start : start + len(quote) + 2 * NEAR_CHARS])
    for first in question.first:
        if not any(holds(near, first) for near in around):
            yield f"no quote is near the first sentence's {first!r}"
    for cell in question.cells:
        if cell.value is not None and not holds(texts[cell.file], cell.value):
            yield f"{cell.file} does not hold the cell {cell.value!r}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with the public sets")
    parser.add_argument("folder", type=Path, help="where the set is put; a new or empty folder")
    options = parser.parse_args()
    if options.folder.exists() and any(options.folder.iterdir()):
        sys.exit(f"{options.folder} is not empty: name a new folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    for line in lay_out(options.data, options.folder):
        print(line, file=sys.stderr)
    try:
        wrong = list(faults(options.folder))
    except ConfigError as error:
        wrong = [str(error)]
    for split in SPLITS:
        count = len((options.folder / f"{split}.jsonl").read_text().splitlines())
        print(f"lexichord eval {options.folder / split}.jsonl  # {count} questions")
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
