"""A TCP proxy before a broker that knows requests from one another, and can lose or delay them.

The broker advertises the proxy's address, so that every client comes through it:
`Broker(directory, settings=proxy.advertised())`.
"""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

END_TXN = 26

# What becomes of a request: it goes on; its connection is cut, with the request kept, to be
# released later; or it goes on, and its connection is cut in place of the answer.
Fate = Literal["pass", "hold", "lose answer"]


@dataclass
class Request:
    """One request of a client."""

    kind: int
    frame: bytes

    def release(self, broker: str) -> int:
        """Send it to the broker after all; returns the error code of an EndTxn's answer.

        Brokers do not care over which connection an EndTxn comes.
        """
        host, _, port = broker.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            upstream.sendall(self.frame)
            answer = _frame(upstream)
        assert answer is not None
        _, _, _, code = struct.unpack(">iiih", answer[:14])
        return int(code)


@dataclass
class Proxy:
    """Forwards to `127.0.0.1:upstream`; `fate` decides on every request."""

    upstream: int = 0
    fate: Callable[[Request], Fate] = field(default=lambda _: "pass")
    held: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"

    def advertised(self) -> dict[str, str]:
        """The broker's setting that leads its clients here."""
        return {"advertised.listeners": f"PLAINTEXT://{self.address}"}

    @contextmanager
    def running(self, address: str) -> Iterator[None]:
        """Forward to the broker at `address`, whose port this sets."""
        self.upstream = int(address.rpartition(":")[2])
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield
        finally:
            self._listener.close()

    def next(self, kind: int, fate: Fate) -> threading.Event:
        """The next request of this kind has this fate; the event says that it came."""
        came = threading.Event()

        def decide(request: Request) -> Fate:
            if request.kind != kind or came.is_set():
                return "pass"
            came.set()
            return fate

        self.fate = decide
        return came

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(("127.0.0.1", self.upstream))
            except OSError:
                client.close()
                continue
            _Pair(self, client, broker).start()


class _Pair:
    """A client's connection, and the one to the broker for it."""

    def __init__(self, proxy: Proxy, client: socket.socket, broker: socket.socket) -> None:
        self._proxy, self._client, self._broker = proxy, client, broker
        self._lost: set[bytes] = set()

    def start(self) -> None:
        for work in (self._requests, self._answers):
            threading.Thread(target=work, daemon=True).start()

    def _requests(self) -> None:
        with suppress(OSError):
            while (frame := _frame(self._client)) is not None:
                request = Request(struct.unpack(">h", frame[4:6])[0], frame)
                fate = self._proxy.fate(request)
                if fate == "hold":
                    self._proxy.held.append(request)
                    break
                if fate == "lose answer":
                    self._lost.add(frame[8:12])
                self._broker.sendall(frame)
        self._cut()

    def _answers(self) -> None:
        with suppress(OSError):
            while (frame := _frame(self._broker)) is not None:
                if frame[4:8] in self._lost:
                    break
                self._client.sendall(frame)
        self._cut()

    def _cut(self) -> None:
        for end in (self._client, self._broker):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _frame(connection: socket.socket) -> bytes | None:
    """The next message with its length before it; None at the end."""
    head = _exactly(connection, 4)
    if head is None:
        return None
    body = _exactly(connection, struct.unpack(">i", head)[0])
    return None if body is None else head + body


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            return None
        data += part
    return bytes(data)
