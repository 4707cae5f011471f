"""API keys: their secrets are kept nowhere, and none reaches further than it says."""

from datetime import datetime

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import AccessError, ConfigError, NotFoundError
from lexichord.types import Rights


def stored(lexichord: SyncLexichord) -> str:
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        rows = connection.execute("select k::text from lexichord_data.api_key k").fetchall()
    return " ".join(row for (row,) in rows)


def test_a_key_gives_the_rights_that_it_was_made_with(plain: SyncLexichord) -> None:
    created = plain.create_key("Ann", datasets=["nda", "lease", "nda"], writes=True)
    assert plain.check_key(created.secret) == Rights(
        ("nda", "lease"), True, created.key.key_id, deletes=False
    )
    assert plain.check_key(plain.create_key("all").secret).datasets is None
    assert not plain.check_key(plain.create_key("reads").secret).writes


def test_the_secret_is_in_no_table_and_in_no_list(plain: SyncLexichord) -> None:
    created = plain.create_key("Ann")
    secret = created.secret.removeprefix("lx_")
    listed = [key.to_dict() for key in plain.list_keys()]
    assert len(secret) >= 43  # 256 bits
    assert secret not in stored(plain) + str(listed)
    assert secret.encode().hex() not in stored(plain)
    assert datetime.fromisoformat(listed[-1]["created_at"]).tzinfo is not None


@pytest.mark.parametrize("change", [str.upper, lambda s: s[:-1], lambda s: s + "a", lambda s: ""])
def test_another_secret_is_refused(plain: SyncLexichord, change: object) -> None:
    assert callable(change)
    secret = plain.create_key("Ann").secret
    with pytest.raises(AccessError, match="unknown or revoked"):
        plain.check_key(change(secret))


def test_a_revoked_key_opens_nothing_and_cannot_be_revoked_again(plain: SyncLexichord) -> None:
    created = plain.create_key("Ann")
    plain.revoke_key(created.key.key_id)
    with pytest.raises(AccessError):
        plain.check_key(created.secret)
    with pytest.raises(NotFoundError, match="no valid key"):
        plain.revoke_key(created.key.key_id)
    assert next(key for key in plain.list_keys() if key.key_id == created.key.key_id).revoked_at


@pytest.mark.parametrize(("name", "datasets"), [("", None), ("Ann", []), ("Ann", [""])])
def test_a_key_for_nobody_or_nothing_is_not_made(
    plain: SyncLexichord, name: str, datasets: list[str] | None
) -> None:
    with pytest.raises(ConfigError, match="needs a name"):
        plain.create_key(name, datasets=datasets)
