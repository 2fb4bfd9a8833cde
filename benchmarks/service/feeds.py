"""Follows a view over many connections at once, and counts the deltas that each of them got."""

import selectors
import socket
import time
from types import TracebackType
from typing import Self

_MARK = b'"id":'  # each row of the view has it once


class Feeds:
    """Connections to the change feed of `view`, from its present moment on."""

    def __init__(self, port: int, view: str, count: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._got: dict[socket.socket, int] = {}
        self._last: dict[socket.socket, bytes] = {}
        request = f"GET /v1/views/{view}/changes?snapshot=false HTTP/1.1\r\nhost: localhost\r\n\r\n"
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(request.encode())
            head = connection.recv(1 << 12)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise SystemExit(f"a feed failed: {head!r}")
            self._selector.register(connection, selectors.EVENT_READ)
            self._got[connection], self._last[connection] = 0, b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection in self._got:
            connection.close()
        self._selector.close()

    def counted(self, expected: int, patience: float) -> list[int]:
        """The deltas of each, once all have as many as expected, or after some seconds."""
        deadline = time.monotonic() + patience
        while min(self._got.values()) < expected and time.monotonic() < deadline:
            for found, _ in self._selector.select(1):
                assert isinstance(found.fileobj, socket.socket)
                self._read(found.fileobj)
        return list(self._got.values())

    def _read(self, connection: socket.socket) -> None:
        part = connection.recv(1 << 18)
        if not part:
            self._selector.unregister(connection)  # it was dropped; its count tells
            return
        seen = self._last[connection] + part
        self._got[connection] += seen.count(_MARK)
        self._last[connection] = seen[-len(_MARK) + 1 :]
