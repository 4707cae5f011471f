"""What readers see otherwise than as text: marked, kept or left out, and told."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import xlsxwriter
from pptx import Presentation

from lexichord.ingest.files import FileSources
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions, load_options
from lexichord.ingest.sandbox import Sandbox
from lexichord.settings import load_settings
from lexichord.types import LoadedText
from lexichord.types.query_options import Marking


def make_xlsx(file: Path) -> Path:
    book = xlsxwriter.Workbook(str(file))
    book.add_worksheet("Shown").write_row(0, 0, ["harbour", "open"])
    hidden = book.add_worksheet("Old")
    hidden.hide()
    hidden.write_row(0, 0, ["lantern", "dim"])
    book.close()
    return file


def make_pptx(file: Path) -> Path:
    deck = Presentation()
    for number, title in enumerate(("harbour", "lantern")):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
        if number:
            slide.element.set("show", "0")
    deck.save(str(file))
    return file


KINDS = [(make_xlsx, "a.xlsx"), (make_pptx, "a.pptx")]


def marked_by(load_with: Callable[[LoadOptions], LoadedText]) -> dict[Marking, LoadedText]:
    return {choice: load_with(LoadOptions(hidden=choice)) for choice in get_args(Marking)}


@pytest.mark.parametrize(("make", "name"), KINDS)
def test_a_hidden_part_is_marked_kept_or_left_out(
    tmp_path: Path, make: Callable[[Path], Path], name: str
) -> None:
    file = make(tmp_path / name)
    loaded = marked_by(lambda options: load(file, options))
    assert "(hidden)" in loaded["mark"].text.partition("lantern")[0]
    assert "lantern" in loaded["keep"].text
    assert "hidden" not in loaded["keep"].text
    assert "lantern" not in loaded["drop"].text
    assert [loaded[choice].metadata.get("flags") for choice in ("mark", "keep")] == [None, None]
    assert loaded["drop"].metadata["flags"][0].startswith("left out: 1 hidden s")
    assert all("harbour" in each.text for each in loaded.values())
    assert load(file).text == loaded["mark"].text


def test_a_setting_and_the_recipe_say_how_files_are_marked() -> None:
    assert load_options(load_settings()) == LoadOptions()
    options = load_options(load_settings(hidden="drop", comments="keep"))
    assert (options.hidden, options.comments) == ("drop", "keep")
    with Sandbox(options) as sandbox, Sandbox() as usual:
        sources = FileSources("d", "context=none", sandbox)
        assert " hidden=drop comments=keep context=none" in sources.recipe("a.pptx", {})
        unmarked = FileSources("d", "context=none", usual).recipe("a.pptx", {})
        assert sources.recipe("a.py", {}) == unmarked
        assert "hidden" not in unmarked
