"""Readers of a folder: small ONNX graphs that the tests build, in a real onnxruntime."""

from pathlib import Path

import numpy as np
import pytest

from lexichord.errors import ConfigError, ProviderError
from lexichord.providers import Reader
from lexichord.providers.embed.local import LOCAL_SPACE
from lexichord.providers.reader import MAX_WINDOW_TOKENS, OVERLAP_TOKENS, Window, join_windows
from lexichord.providers.registry import find_reader, list_providers
from lexichord.settings import load_settings
from lexichord.types.questions import Passage, ReaderFit
from tests.providers.tiny_models import node, save_graph, save_tokenizer

# How well an answer starts and ends at each word; [CLS] stands for "not here".
STARTS = {
    "[PAD]": 90.0,
    "[CLS]": 2.0,
    "[SEP]": 90.0,
    "[UNK]": -9.0,
    "fourteen": 6.0,
    "days": 0.0,
    "rent": 1.0,
}
ENDS = {**STARTS, "fourteen": 1.0, "days": 6.0}
TEXT = "the rent is due\nnotice is fourteen days before"
SENTENCES = ((0, 15), (16, len(TEXT)))


def build(folder: Path, *, here: bool = False, spans: bool = True) -> None:
    """Write a model that looks up how well each word starts and ends an answer."""
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    special = ("[CLS]", "[SEP]")
    save_tokenizer(folder, STARTS, special, single="[CLS] $A [SEP]", pair=pair)
    nodes = [
        node("Gather", "starts input_ids", "start_logits" if spans else "logits"),
        node("Gather", "ends input_ids", "end_logits"),
        node("ReduceMax", "kept tokens", "here_logits", keepdims=0),
        node("Gather", "worths input_ids", "kept"),
    ]
    constants = {
        name: np.array([*worths.values()], np.float32)
        for name, worths in (("starts", STARTS), ("ends", ENDS))
    }
    worths = np.array([3.0 if word == "fourteen" else -3.0 for word in STARTS], np.float32)
    constants |= {"worths": worths, "tokens": np.array([1])}
    outputs: dict[str, list[str | int]] = {
        "start_logits" if spans else "logits": ["batch", "tokens"],
        "end_logits": ["batch", "tokens"],
    }
    if here:
        outputs["here_logits"] = ["batch"]
        nodes = [nodes[0], nodes[1], nodes[3], nodes[2]]
    else:
        nodes = nodes[:2]
        del constants["worths"], constants["tokens"]
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    save_graph(folder / "model.onnx", nodes, outputs, constants, inputs)


def build_package(site: Path) -> Path:
    """Write a package like ours into a folder, and return where its files are."""
    package = site / "lexichord_reader"
    build(package)
    (package / "__init__.py").touch()
    return package


def find(home: Path, name: str | None = "local/tiny") -> Reader:
    reader, _ = find_reader(load_settings(home=home, reader=name))
    assert reader is not None
    return reader


def passage(text: str = TEXT, title: str = "") -> Passage:
    return Passage(title, text, SENTENCES if text == TEXT else ((0, len(text)),))


def test_the_sentence_and_the_phrase_that_answer(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    (reading,) = find(tmp_path).read("how long", [passage()])
    first, second = reading.sentences
    assert second.share > 0.9 > 0.1 > first.share
    assert TEXT[second.start : second.end] == "fourteen days"
    assert reading.here > 0.9


def test_a_passage_without_an_answer_is_known_by_the_first_token(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    lacking, holding = find(tmp_path).read("how long", [passage("it rains"), passage()])
    assert lacking.here < 0.01 < 0.9 < holding.here


def test_a_graph_that_says_whether_an_answer_is_here_is_heard(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny", here=True)
    lacking, holding = find(tmp_path).read("how long", [passage("it rains"), passage()])
    assert lacking.here == pytest.approx(1 / (1 + np.exp(3.0)))
    assert holding.here == pytest.approx(1 / (1 + np.exp(-3.0)))


def test_a_title_is_read_and_never_the_answer(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    text = "notice is fourteen days before"
    (reading,) = find(tmp_path).read("how long", [passage(text, title="fourteen rent")])
    (sentence,) = reading.sentences
    assert text[sentence.start : sentence.end] == "fourteen days"


@pytest.mark.parametrize("before", [0, 150, MAX_WINDOW_TOKENS, 1000])
def test_a_long_passage_is_read_in_windows(tmp_path: Path, before: int) -> None:
    build(tmp_path / "models/tiny", here=True)
    text = "it " * before + "fourteen days" + " it" * OVERLAP_TOKENS
    (reading,) = find(tmp_path).read("how long", [passage(text)])
    (sentence,) = reading.sentences
    assert text[sentence.start : sentence.end] == "fourteen days"
    assert reading.here > 0.9


def test_what_is_read_beside_it_changes_nothing(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny", here=True)
    texts = ["rent " * (number % 7) + "fourteen days" for number in range(20)]
    together = find(tmp_path).read("how long", [passage(text) for text in texts])
    alone = [find(tmp_path).read("how long", [passage(text)])[0] for text in texts]
    assert [one.here for one in together] == pytest.approx([one.here for one in alone])


def test_a_question_is_read_alike_with_its_mark_and_without(tmp_path: Path) -> None:
    build(tmp_path / "models" / "tiny", here=True)
    reader = find(tmp_path)
    typed = [
        reader.read(f"is it fourteen{mark}", [passage()]) for mark in ("", "?", " ?", "!", ".")
    ]
    assert all(each == typed[0] for each in typed)


def test_a_phrase_goes_to_the_end_of_its_last_word() -> None:
    text = "It needs Python 3.9+. See [the page](https://example.org/a)."
    for last, wanted in [("3", "Python 3.9+"), ("needs", "It needs")]:
        places = np.array([(0, 2), (3, 8), (9, 15), (16, 17)])
        at = next(n for n, (start, end) in enumerate(places.tolist()) if text[start:end] == last)
        starts, ends = np.full(4, 0.01), np.full(4, 0.01)
        starts[2 if last == "3" else 0], ends[at] = 0.9, 0.9
        window = Window(0.9, places, starts, ends)
        (said,) = join_windows(Passage("", text, ((0, 21),)), [window]).sentences
        assert text[said.start : said.end] == wanted


@pytest.mark.parametrize("question", ["", "how " * 500, "\ud800"])
@pytest.mark.parametrize("text", ["", "\ud800 days", "🙂" * 300, "e\u0301 days"])
def test_no_text_is_too_odd(tmp_path: Path, question: str, text: str) -> None:
    build(tmp_path / "models/tiny")
    (reading,) = find(tmp_path).read(question, [passage(text)])
    (sentence,) = reading.sentences
    assert 0 <= sentence.start <= sentence.end <= len(text)


@pytest.mark.parametrize("here", [False, True])
def test_what_is_no_number_is_no_answer(tmp_path: Path, here: bool) -> None:
    folder = tmp_path / "models" / "tiny"
    build(folder, here=here)
    graph = folder / "model.onnx"
    damaged = graph.read_bytes().replace(np.float32(6).tobytes(), np.float32("nan").tobytes())
    assert damaged != graph.read_bytes()
    graph.write_bytes(damaged)
    with pytest.raises(ProviderError, match="gives what is no number: it is damaged"):
        find(tmp_path).read("is it fourteen", [passage()])


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"put model\.onnx and tokenizer\.json into"):
        find(tmp_path)
    with pytest.raises(ConfigError, match="there is no reader squad: local/FOLDER, none"):
        find(tmp_path, "squad")
    build(tmp_path / "models/tiny", spans=False)
    with pytest.raises(ProviderError, match="take one that was made for extracting answers"):
        find(tmp_path).read("how long", [passage()])
    (tmp_path / "models/tiny/model.onnx").write_bytes(b"no graph")
    with pytest.raises(ProviderError, match="onnxruntime cannot load the model in"):
        find(tmp_path).read("how long", [passage()])


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ('{"sentence": {"here": NaN}}', "sentence.here"),
        ('{"right": {"constant": 1e999}}', "right.constant"),
        ('{"confidence": {"here": "much"}}', "confidence.here"),
        ('{"sentence": {"heer": 1}}', "sentence.heer"),
        ('{"hold": [0.5]}', "hold"),
        ('{"holds": [0.5, 1.5]}', "holds.1"),
        ('{"lacks": [-0.1]}', "lacks.0"),
        ('{"lacks": [NaN]}', "lacks.0"),
        ('{"confidence": {"here": 1e300}}', "confidence.here"),
        ('{"languages": []}', "languages"),
        ('{"languages": ["English"]}', "languages.0"),
    ],
)
def test_what_was_fitted_is_refused_by_file_and_field(
    tmp_path: Path, written: str, field: str
) -> None:
    file = tmp_path / "models/tiny/reader.json"
    build(file.parent)
    file.write_text(written)
    with pytest.raises(ProviderError) as refused:
        _ = find(tmp_path).fit
    assert str(refused.value).startswith(f"'{file}' is wrong, correct or remove it: {field}: ")
    assert "\n" not in str(refused.value)


def test_no_json_is_refused_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "models/tiny/reader.json"
    build(file.parent)
    file.write_text("languages")
    with pytest.raises(ProviderError, match=r"correct or remove it: Invalid JSON: [^\n]*$"):
        _ = find(tmp_path).fit


def test_what_was_fitted_is_read(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    assert find(tmp_path).fit == ReaderFit()
    (tmp_path / "models/tiny/reader.json").write_text('{"languages": ["de"], "lacks": [0, 1]}')
    assert find(tmp_path).fit == ReaderFit(languages=("de",), lacks=(0.0, 1.0))


def test_none_is_no_reader(tmp_path: Path) -> None:
    assert find_reader(load_settings(home=tmp_path, reader="none")) == (None, [])


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_half_installed_package_is_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    settings = load_settings(home=tmp_path)
    package = build_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_reader(settings)[1] == []
    (package / missing).unlink()
    reader, reasons = find_reader(settings)
    assert reader is None
    assert reasons == [
        f"no reader: words and vectors judge; lexichord-reader in '{package}' lacks {missing}, "
        "run: pip install --force-reinstall lexichord-reader"
    ]
    listed = list_providers(settings, str(LOCAL_SPACE))
    (own,) = (provider for provider in listed if provider.name == "lexichord-reader")
    assert own.missing == [reasons[0].partition("; ")[2]]
