"""Names that people give: to datasets, keys, tenants."""

import pytest

from lexichord.errors import ConfigError
from lexichord.types.base import check_name


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "naïve",
        "nai\u0308ve",
        "日本語",
        "契約\u3000書",
        "نامه\u200cها",  # noqa: RUF001
        "\u200fעברית",  # noqa: RUF001
        "📚",
        "group:x",
        "\ue000",
    ],
)
def test_what_can_be_read_is_a_name(name: str) -> None:
    check_name("the dataset", name)


@pytest.mark.parametrize(
    "name",
    ["", " ", "\u3000", "\u200b", "\u202e ", "a\nb", "a\x9bb", "a\u2028b", "a\ud800", "é" * 1001],
)
def test_what_nobody_could_read_is_none(name: str) -> None:
    with pytest.raises(ConfigError, match=r"^the dataset needs a name"):
        check_name("the dataset", name)
