"""Links: connections between processes that know the secret of a cluster.

The standard library authenticates each, both ways (`multiprocessing.connection`); nothing is
encrypted.
"""

import os
import socket
import struct
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from time import monotonic
from types import TracebackType
from typing import Self

CHALLENGE_SECONDS = 10
"""The time in which a stranger is to have shown that it knows the secret."""

ENTRY_SECONDS = 60
"""The time in which who enters is to be let in: others may be ahead of it."""

SILENT_MILLISECONDS = 30_000
"""The time after which a connection breaks whose other end acknowledges nothing."""

KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 4))
"""When an idle connection is probed, in seconds, and how often before it breaks."""

Address = tuple[str, int]


class Entrance:
    """Listens at a free port of `host`, and lets in who knows the `secret`; close it.

    >>> with Entrance("127.0.0.1", b"a secret") as entrance:
    ...     entrance.accept(seconds=0.01)
    Traceback (most recent call last):
    TimeoutError: nobody came
    """

    def __init__(self, host: str, secret: bytes) -> None:
        self._listener = socket.create_server((host, 0), backlog=64)
        self._secret = secret

    @property
    def address(self) -> Address:
        """The host and the port that it listens at."""
        host, port = self._listener.getsockname()[:2]
        return host, port

    def accept(self, seconds: float | None = None) -> Connection:
        """The next connection of one who knows the secret; others are passed over.

        Raises TimeoutError once `seconds` are over (None: never).
        """
        until = None if seconds is None else monotonic() + seconds
        while True:
            self._listener.settimeout(None if until is None else max(until - monotonic(), 1e-3))
            try:
                connected, _ = self._listener.accept()
            except TimeoutError:
                raise TimeoutError("nobody came") from None
            with suppress(AuthenticationError, OSError, EOFError):
                return _admitted(connected, self._secret, asks_first=True)

    def close(self) -> None:
        """Listen no more; who was let in stays."""
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def enter(address: Address, secret: bytes) -> Connection:
    """Connect with the entrance at `address` (raises OSError, AuthenticationError, EOFError)."""
    return _admitted(socket.create_connection(address), secret, asks_first=False)


def local_host(connection: Connection) -> str:
    """The address by which this process reaches the other end."""
    with socket.socket(fileno=os.dup(connection.fileno())) as connected:
        host: str = connected.getsockname()[0]
        return host


def cut(connection: Connection) -> None:
    """End a connection, whoever waits for something of it."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as connected:
        connected.shutdown(socket.SHUT_RDWR)


def _admitted(connected: socket.socket, secret: bytes, *, asks_first: bool) -> Connection:
    """The connection, once both ends have shown that they know the secret."""
    connected.settimeout(None)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_MILLISECONDS)
    for option, value in KEEPALIVE:
        connected.setsockopt(socket.IPPROTO_TCP, option, value)
    _bound_receiving(connected, CHALLENGE_SECONDS if asks_first else ENTRY_SECONDS)
    connection = Connection(os.dup(connected.fileno()))
    try:
        steps = [deliver_challenge, answer_challenge]
        for step in steps if asks_first else reversed(steps):
            step(connection, secret)
        _bound_receiving(connected, 0)
    except BaseException:
        connection.close()
        raise
    finally:
        connected.close()
    return connection


def _bound_receiving(connected: socket.socket, seconds: int) -> None:
    """Bound how long a byte is waited for, also by who reads the descriptor (0: no bound)."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))
