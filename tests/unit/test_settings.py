"""Arguments > environment > .env > TOML > defaults."""

import json
import os
from pathlib import Path

import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError
from lexichord.settings import default_home, load_settings, origins, read_secret, shown
from lexichord.types.questions import Price

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool_size": 0}, "setting pool_size: "),
        ({"engine": "sqlite"}, "setting engine: .*'plain', 'textsearch', 'vectorchord' or 'citus'"),
        ({"record": "yes"}, "setting record: .*'off', 'on' or 'text'"),
        ({"hoem": "x"}, "there is no setting hoem"),
        ({"ocr": "tesseractt"}, "setting ocr: there is no 'tesseractt': take rapidocr, tess"),
        ({"ocr": "tesseract/"}, "setting ocr: there is no 'tesseract/': take "),
        ({"page_url": "x.example"}, "setting page_url: write http:// or https://, a host"),
        ({"prices": {"x": -1}}, r"setting prices\.x: a price is a number of dollars"),
    ],
)
def test_a_wrong_value_is_named_in_one_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_settings(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("application", [Lexichord, SyncLexichord])
def test_an_application_takes_settings_by_name_or_as_one_object(
    application: type[Lexichord] | type[SyncLexichord],
) -> None:
    with pytest.raises(ConfigError, match=r"by name, such as Lexichord\(dsn="):
        application("postgresql://localhost/db")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="give dsn, home in the Settings, not beside them"):
        application(load_settings(), home="x", dsn="postgresql://localhost/db")
    application(load_settings(), dsn=None)


BROKEN = b"pool_size = \xff\n"
DEEP = b"a = " + b"[" * 200_000


@pytest.mark.parametrize(
    ("name", "content"),
    [("lexichord.toml", BROKEN), (".env", BROKEN), ("lexichord.toml", DEEP)],
    ids=["TOML", ".env", "deep"],
)
def test_a_file_that_cannot_be_read_is_named(name: str, content: bytes, folder: Path) -> None:
    (folder / name).write_bytes(content)
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


@pytest.fixture
def secret(folder: Path) -> Path:
    """A file that holds a key and that its owner alone may read."""
    file = folder / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(0o600)
    return file


def key_of(name: str) -> str:
    value = getattr(load_settings(), name)
    return str(value.get_secret_value())


@pytest.mark.parametrize("name", ["embedding_api_key", "llm_api_key", "reranker_api_key"])
def test_a_key_may_stand_in_a_file(
    name: str, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"LEXICHORD_{name.upper()}_FILE", str(secret))
    assert key_of(name) == KEY
    monkeypatch.setenv(f"LEXICHORD_{name.upper()}", "other")
    with pytest.raises(ConfigError, match=f"{name} and {name}_file are both set") as caught:
        load_settings()
    assert KEY not in str(caught.value)


def test_a_file_that_is_not_named_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXICHORD_LLM_API_KEY_FILE", "")
    assert load_settings().llm_api_key is None


def test_what_a_container_was_given_may_be_read_by_all_in_it(folder: Path, secret: Path) -> None:
    secret.chmod(0o444)
    link = folder / "link"
    link.symlink_to(secret)
    container = folder.resolve()
    assert read_secret("llm_api_key_file", link, container_secrets=container) == KEY
    (container / "elsewhere").mkdir()
    outside = container / "elsewhere" / ".." / "key"
    with pytest.raises(ConfigError, match="others may read"):
        read_secret("llm_api_key_file", outside, container_secrets=container / "elsewhere")


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (KEY.encode(), 0o640, r"others may read .* chmod 600"),
        (KEY.encode(), 0o620, r"others may read .* chmod 600"),
        (b"", 0o600, "is empty"),
        (b"\xff", 0o600, "cannot be read"),
        (None, 0o600, "cannot be read"),
    ],
)
def test_a_file_that_is_open_to_others_or_without_a_key_is_refused(
    content: bytes | None, mode: int, message: str, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret.write_bytes(content or b"")
    secret.chmod(mode)
    if content is None:
        secret.unlink()
    monkeypatch.setenv("LEXICHORD_LLM_API_KEY_FILE", str(secret))
    with pytest.raises(ConfigError, match=message) as caught:
        load_settings()
    assert "\n" not in str(caught.value)


DSNS = [
    "postgresql://me:sk-very-secret@host/db",
    "postgresql://me:with@sk-very-secret@host/db?sslmode=require",
    "postgresql://host/db?user=me&password=sk-very-secret&sslmode=require",
    "host=h password = 'a \\' sk-very-secret' dbname=d",
    "host=h PASSWORD='sk-very-secret",
]


@pytest.mark.parametrize("dsn", DSNS)
def test_no_secret_is_shown(dsn: str) -> None:
    settings = load_settings(
        dsn=dsn,
        llm_api_key=KEY,
        embedding_api_key=KEY,
        embedding_base_url=f"http://me:{KEY}@host:1/v1",
        reranker_base_url=f"http://{KEY}@host:1/v1",
    )
    values = shown(settings)
    assert KEY not in repr(settings)
    assert KEY not in str(settings)
    assert KEY not in json.dumps(values)
    assert (values["llm_api_key"], values["reranker_api_key"]) == ("set", "not set")
    assert values["embedding_base_url"] == "http://***@host:1/v1"
    assert set(values) == set(type(settings).model_fields)
    plain = shown(load_settings(dsn="postgresql://host:5432/db", pool_size=9))
    assert (plain["dsn"], plain["pool_size"]) == ("postgresql://host:5432/db", 9)


def test_each_setting_has_a_source(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "lexichord.toml").write_text('pool_size = 5\nllm = "x/y"\n[prices]\n"a/b" = 1.5\n')
    (folder / ".env").write_text("LEXICHORD_POOL_SIZE=6\nLEXICHORD_RECORD=on\n")
    monkeypatch.setenv("LEXICHORD_RECORD", "text")
    monkeypatch.setenv("DATABASE_URL", "postgresql://h/d")
    sources = origins(home=folder, llm=None)
    expected = {
        **{"home": "argument", "dsn": "environment", "record": "environment"},
        **{"pool_size": ".env", "llm": "TOML", "prices": "TOML", "engine": "default"},
    }
    assert {name: sources[name] for name in expected} == expected
    assert load_settings().prices == {"a/b": Price(1.5, 0.0)}
