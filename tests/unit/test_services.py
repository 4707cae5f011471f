"""Which addresses are the same: scheme, host and port, and nothing that can be read in two ways."""

import pytest

from lexichord.errors import ConfigError
from lexichord.serve.services import allowed_origins, parse_origin
from lexichord.settings import load_settings


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:11434/v1", ("http", "localhost", 11434)),
        ("HTTPS://API.Example.com", ("https", "api.example.com", 443)),
        ("https://api.example.com:443/", ("https", "api.example.com", 443)),
        ("http://api.example.com", ("http", "api.example.com", 80)),
        ("http://[::1]:8000/v1", ("http", "[::1]", 8000)),
        ("http://10.0.0.5:8000/a/b_c-d.e/~x", ("http", "10.0.0.5", 8000)),
    ],
)
def test_an_address_is_where_it_leads(url: str, expected: tuple[str, str, int]) -> None:
    assert parse_origin(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "ftp://api.example.com",
        "file:///etc/passwd",
        "//api.example.com",
        "http:api.example.com",
        "http:///v1",
        "http://user@api.example.com",
        "http://user:password@api.example.com",
        "http://api.example.com@evil.com",
        "http://api.example.com\\@evil.com",
        "http://api.example.com\\.evil.com",
        "http://api.example.com%2eevil.com",
        "http://api.example.com#@evil.com",
        "http://api.example.com?@evil.com",
        "http://api.example.com/?next=http://evil.com",
        "http://api.example.com/%2e%2e",
        "http://api.exa mple.com",
        "http://api.exam\tple.com",
        "http://api.example.com\n",
        "http://api.example.com/\r\nHost: evil.com",
        "http://api.example.com:",
        "http://api.example.com:0",
        "http://api.example.com:65536",
        "http://api.example.com:80:90",
        "http://api.example.com:٨٠",
        "http://äpi.example.com",
        "http://\uff41pi.example.com",
        "http://[::1",
        "http://[api.example.com]",
    ],
)
def test_what_can_be_read_in_two_ways_is_no_address(url: str) -> None:
    assert parse_origin(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com:80",
        "http://api.example.com",
        "https://api.example.com.",
        "https://api.example.com.evil.com",
        "https://evil-api.example.com",
        "https://example.com",
        "https://api.example.com:8443",
    ],
)
def test_what_differs_in_scheme_host_or_port_is_another(url: str) -> None:
    allowed = allowed_origins(load_settings(allowed_addresses="https://api.example.com/v1, "))
    assert parse_origin("https://API.example.com:443/other") in allowed
    assert parse_origin(url) not in allowed


def test_none_is_allowed_by_default() -> None:
    assert allowed_origins(load_settings()) == set()


def test_a_setting_that_is_no_address_is_an_error() -> None:
    with pytest.raises(ConfigError, match="'localhost:11434' is no address"):
        allowed_origins(load_settings(allowed_addresses="http://a,localhost:11434"))
