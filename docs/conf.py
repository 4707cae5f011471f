"""Sphinx' settings, for `scripts/docs`. The pages of reference/ are made from the code."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts/site"))

project = "lexichord"
version = release = installed("lexichord")
extensions = ["myst_parser", "sphinx.ext.autodoc", "reference.extension"]
html_theme = "furo"
html_title = f"lexichord {release}"
html_copy_source = False
html_show_copyright = False
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# The names of types in signatures lead to their descriptions; those of others have none here.
nitpick_ignore_regex = [("py:.*", r"(?!lexichord\b).*")]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
default_role = "literal"
