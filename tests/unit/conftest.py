"""What is written into by the tests of loaders."""

from pathlib import Path
from typing import Any

import docx
import pytest
from reportlab.pdfgen.canvas import Canvas


@pytest.fixture
def document() -> Any:
    return docx.Document()


@pytest.fixture
def canvas(tmp_path: Path) -> Canvas:
    return Canvas(str(tmp_path / "a.pdf"))
