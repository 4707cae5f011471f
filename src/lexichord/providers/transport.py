"""Replies of services up to a size, by whichever library they are asked.

Imports httpx: import this module only where a service is asked.
"""

import zlib
from collections.abc import AsyncIterator

import httpx

from lexichord.errors import BadResponseError

MAX_REPLY_BYTES = 16_000_000  # 100 vectors of 4,096 numbers are 9 MB; as objects 25 times as many
PIECE_BYTES = 65_536  # that are unpacked at a time: a thousandth of it may have come
CODINGS = ("gzip", "deflate")  # which are asked for


class BoundedTransport(httpx.AsyncHTTPTransport):
    """Raises BadResponseError where a reply is longer, unpacked, than any that is meant."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the reply, which is unpacked as it is read."""
        request.headers["accept-encoding"] = ", ".join(CODINGS)
        reply = await super().handle_async_request(request)
        assert isinstance(reply.stream, httpx.AsyncByteStream)
        coding = reply.headers.get("content-encoding", "identity").lower()
        body = _Body(reply.stream, coding, request.url.host)
        headers = [
            (name, value)
            for name, value in reply.headers.raw
            if coding == "identity" or name.lower() not in (b"content-encoding", b"content-length")
        ]
        return httpx.Response(
            reply.status_code, headers=headers, stream=body, extensions=reply.extensions
        )


class _Body(httpx.AsyncByteStream):
    """The bytes of a reply, unpacked."""

    def __init__(self, stream: httpx.AsyncByteStream, coding: str, host: str) -> None:
        self._stream, self._coding, self._host = stream, coding, host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_REPLY_BYTES
        async for piece in self._pieces():
            left -= len(piece)
            if left < 0:
                limit = MAX_REPLY_BYTES // 10**6
                raise BadResponseError(f"{self._host} gave a reply of more than {limit} MB")
            yield piece

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
