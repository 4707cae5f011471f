"""Replies of services up to a size, by whichever library they are asked.

Imports httpx: import this module only where a service is asked.
"""

import zlib
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import httpx

from lexichord.errors import BadResponseError

MAX_REPLY_BYTES = 16_000_000  # 100 vectors of 4,096 numbers are 9 MB; as objects 25 times as many
PIECE_BYTES = 65_536  # that are unpacked at a time: a thousandth of it may have come
CODINGS = ("gzip", "deflate")  # which are asked for


class BoundedClient(httpx.AsyncClient):
    """Raises BadResponseError where a reply is longer, unpacked, than any that is meant."""

    def __init__(self, most: int | None = None, **options: Any) -> None:  # noqa: ANN401 - of httpx
        super().__init__(**options)
        self._most = MAX_REPLY_BYTES if most is None else most

    async def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        **options: Any,  # noqa: ANN401 - of httpx
    ) -> httpx.Response:
        """As `AsyncClient.send`; a reply is unpacked here as it is read."""
        request.headers["accept-encoding"] = ", ".join(CODINGS)
        reply = await super().send(request, stream=True, **options)
        assert isinstance(reply.stream, httpx.AsyncByteStream)
        coding = reply.headers.pop("content-encoding", "identity").lower()
        reply.stream = _Body(reply.stream, coding, request.url.host, self._most)
        if not stream:
            try:
                await reply.aread()
            finally:
                await reply.aclose()
        return reply


async def bounded_pieces(
    pieces: AsyncIterable[bytes], host: str, most: int
) -> AsyncIterator[bytes]:
    """Yield the pieces of a host's reply. Raises BadResponseError where they are more bytes."""
    left = most
    async for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise BadResponseError(f"{host} gave a reply of more than {most // 10**6} MB")
        yield piece


class _Body(httpx.AsyncByteStream):
    """The bytes of a reply, unpacked."""

    def __init__(self, stream: httpx.AsyncByteStream, coding: str, host: str, most: int) -> None:
        self._stream, self._coding, self._host, self._most = stream, coding, host, most

    def __aiter__(self) -> AsyncIterator[bytes]:
        return bounded_pieces(self._pieces(), self._host, self._most)

    async def _pieces(self) -> AsyncIterator[bytes]:
        if self._coding == "identity":
            async for packed in self._stream:
                yield packed
            return
        if self._coding not in CODINGS:
            raise httpx.DecodingError(f"{self._coding} was not asked for")
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # whichever of the two it is
        try:
            async for packed in self._stream:
                while piece := unpacker.decompress(packed, PIECE_BYTES):
                    yield piece
                    packed = unpacker.unconsumed_tail
                if unpacker.unused_data:
                    raise httpx.DecodingError("more comes than what is packed")
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from None

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._stream.aclose()
