"""A server that goes away without a word is noticed, by probes of TCP that connections ask for."""

import os
import socket

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from lexichord.db.pool import TCP_OPTIONS, Database

SOCKET_OPTIONS = {
    "keepalives_idle": "TCP_KEEPIDLE",
    "keepalives_interval": "TCP_KEEPINTVL",
    "keepalives_count": "TCP_KEEPCNT",
    "tcp_user_timeout": "TCP_USER_TIMEOUT",
}


@pytest.fixture
def over_tcp(dsn: str) -> str:
    """The address of a database that is reached over a network."""
    with psycopg.connect(dsn) as connection:
        if not connection.info.host.startswith("/"):
            return dsn
    pytest.skip("the server listens on a socket alone, which does not go silent")


async def asked(dsn: str) -> dict[str, int]:
    """Return what the system was asked for on a connection of the pool."""
    async with Database(dsn, 1) as database, database.transaction() as connection:
        with socket.socket(fileno=os.dup(connection.fileno())) as end:
            return {
                name: end.getsockopt(socket.IPPROTO_TCP, getattr(socket, option))
                for name, option in SOCKET_OPTIONS.items()
            }


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has all four")
async def test_a_connection_asks_whether_the_server_is_there(over_tcp: str) -> None:
    assert await asked(over_tcp) == TCP_OPTIONS
    own = make_conninfo(over_tcp, keepalives_idle=77, tcp_user_timeout=9000)
    wanted = TCP_OPTIONS | {"keepalives_idle": 77, "tcp_user_timeout": 9000}
    assert await asked(own) == wanted
