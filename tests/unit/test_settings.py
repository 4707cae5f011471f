"""Arguments > environment > .env > TOML > defaults."""

import os
from pathlib import Path

import pytest

from lexichord.errors import ConfigError
from lexichord.settings import default_home, load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and nothing set in the environment."""
    for name in [name for name in os.environ if name.startswith("LEXICHORD_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_place_yields_to_the_one_above(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().pool_size == 4
    (folder / "lexichord.toml").write_text("pool_size = 5\n")
    assert load_settings().pool_size == 5
    (folder / ".env").write_text("LEXICHORD_POOL_SIZE=6\n")
    assert load_settings().pool_size == 6
    monkeypatch.setenv("LEXICHORD_POOL_SIZE", "7")
    assert load_settings().pool_size == 7
    assert load_settings(pool_size=8).pool_size == 8


def test_the_dsn_has_two_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place has its own way of writing the dsn; the order of places is the same."""
    assert load_settings().dsn is None
    (folder / "lexichord.toml").write_text('dsn = "toml"\n')
    assert load_settings().dsn == "toml"
    (folder / ".env").write_text("DATABASE_URL=file\n")
    assert load_settings().dsn == "file"
    monkeypatch.setenv("DATABASE_URL", "environment")
    assert load_settings().dsn == "environment"
    monkeypatch.setenv("LEXICHORD_DSN", "own name")
    assert load_settings().dsn == "own name"
    assert load_settings(dsn="argument").dsn == "argument"


def test_an_argument_that_is_none_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXICHORD_TEXT_CONFIG", "german")
    assert load_settings(text_config=None).text_config == "german"


def test_other_programs_settings_are_left_alone(folder: Path) -> None:
    (folder / ".env").write_text("SOMETHING=else\nLEXICHORD_POOL_SIZE=6\n")
    assert load_settings().pool_size == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool_size": 0}, "setting pool_size: "),
        ({"pool_size": 101}, "setting pool_size: "),
        ({"pool_size": "many"}, "setting pool_size: "),
        ({"engine": "sqlite"}, "setting engine: .*'pgvector' or 'vectorchord'"),
        ({"record": "yes"}, "setting record: .*'off', 'on' or 'text'"),
        ({"home": 3}, "setting home: "),
        ({"hoem": "x"}, "there is no setting hoem"),
    ],
)
def test_a_wrong_value_is_named_in_one_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_settings(**arguments)
    assert "\n" not in str(caught.value)


def test_a_wrong_value_of_the_environment_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXICHORD_ENGINE", "sqlite")
    with pytest.raises(ConfigError, match="engine"):
        load_settings()


@pytest.mark.parametrize("name", ["lexichord.toml", ".env"])
def test_a_file_that_cannot_be_read_is_named(name: str, folder: Path) -> None:
    (folder / name).write_bytes(b"pool_size = \xff\n")
    with pytest.raises(ConfigError, match=r"lexichord\.toml or .env cannot be read"):
        load_settings()


def test_home_is_a_whole_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert load_settings(home="~/data").home == folder.resolve() / "data"
    assert load_settings(home="data/../more").home == folder.resolve() / "more"
    monkeypatch.setenv("LEXICHORD_HOME", "elsewhere")
    assert load_settings().home == folder.resolve() / "elsewhere"


def test_the_default_home_can_be_reached_by_the_server() -> None:
    """Root's server runs as another user, to whom /root is closed."""
    home = default_home()
    assert load_settings().home == home.resolve()
    assert home.is_absolute()
    if os.geteuid() == 0:
        assert home == Path("/var/lib/lexichord")
    else:
        assert home.is_relative_to(Path.home())
