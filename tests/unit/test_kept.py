"""What is made of a text once, for the one who asks."""

from lexichord.db.session import asking_for
from lexichord.retrieve.cache import cached_by_tenant
from lexichord.serve.page.routes import FoundResponses
from tests.builders import RESPONSE


def test_a_text_is_looked_at_once_for_each_who_asks() -> None:
    seen: list[str] = []

    @cached_by_tenant(2)
    def words(text: str) -> tuple[str, ...]:
        seen.append(text)
        return tuple(text.split())

    assert words("a b") == words("a b") == ("a", "b")
    assert seen == ["a b"]
    with asking_for("acme"):
        assert words("a b") == ("a", "b")
    assert seen == ["a b", "a b"]


def test_what_was_found_is_given_out_once() -> None:
    found = FoundResponses()
    found.keep("q", RESPONSE, 0.5)
    assert found.take("q") == (RESPONSE, 0.5)
    assert found.take("q") is None
