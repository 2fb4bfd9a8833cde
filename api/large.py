"""Large answers: made by few threads, and kept in a file while they are taken.

However slowly clients take them, or not at all, an answer is whole in memory only while it is made.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar, TypeVarTuple

import anyio
from anyio.to_thread import run_sync
from fastapi import Response
from starlette.responses import StreamingResponse

# Threads that make them: more would keep look-ups from the interpreter.
THREADS = 2
# Bytes that are read from a file at once.
CHUNK = 64 << 10

Args = TypeVarTuple("Args")
T = TypeVar("T")


class LargeAnswers:
    """Makes answers for one service; those of more than `most_bytes` stand in `directory`."""

    def __init__(self, directory: Path, most_bytes: int) -> None:
        self._directory = directory
        self._most_bytes = most_bytes
        self._making = anyio.CapacityLimiter(THREADS)

    async def make(self, call: Callable[[*Args], T], *arguments: *Args) -> T:
        """Call what makes an answer on one of the threads that they share."""
        return await run_sync(call, *arguments, limiter=self._making)

    def response(
        self, content: bytes, headers: dict[str, str], media: str = "application/json"
    ) -> Response:
        """Content of a media type as a response, out of a file without a name if it is large."""
        if len(content) <= self._most_bytes:
            return Response(content, 200, headers, media)
        file = TemporaryFile(dir=self._directory)  # noqa: SIM115  (closed with the chunks)
        file.write(content)
        file.seek(0)
        sized = {**headers, "content-length": str(len(content))}
        return StreamingResponse(self._chunks(file), 200, sized, media)

    async def _chunks(self, file: IO[bytes]) -> AsyncIterator[bytes]:
        with file:
            while chunk := await self.make(file.read, CHUNK):
                yield chunk
