"""Links: connections between processes that have the credentials of a cluster.

The standard library lets each end show that it knows the secret
(`multiprocessing.connection`); with a certificate all that is said is encrypted.
"""

import pickle
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import answer_challenge, deliver_challenge
from multiprocessing.reduction import ForkingPickler
from time import monotonic
from types import TracebackType
from typing import Any, Self

from ivm.cluster.credentials import Credentials

CHALLENGE_SECONDS = 10
"""The time in which a stranger is to have shown that it is none, at each thing that it says."""

ENTRY_SECONDS = 60
"""The time in which who enters is to be let in: others may be ahead of it."""

SILENT_MILLISECONDS = 30_000
"""The time after which a connection breaks whose other end acknowledges nothing."""

KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 4))
"""When an idle connection is probed, in seconds, and how often before it breaks."""

LENGTH = struct.Struct("!Q")
"""The bytes of a message, which come before it."""

SMALL = 16_000
"""Bytes that are copied in order to be sent at once, and encrypted as one record of TLS."""

AT_ONCE = 1 << 30
"""Bytes that are received by one call, at most: TLS takes no more than an int says."""

Address = tuple[str, int]


class Link:
    """Messages over a connected `socket`, for one thread at a time; any may `cut` it."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected

    @property
    def local_host(self) -> str:
        """The address by which this process reaches the other end."""
        host: str = self.socket.getsockname()[0]
        return host

    def send(self, value: object) -> None:
        """Send a value, pickled."""
        self.send_bytes(ForkingPickler.dumps(value))

    def recv(self) -> Any:
        """The value that comes next (raises EOFError at the end, and OSError)."""
        return pickle.loads(self.recv_bytes())

    def send_bytes(self, message: bytes | bytearray | memoryview) -> None:
        """Send a message."""
        header = LENGTH.pack(len(message))
        if len(message) <= SMALL:
            self.socket.sendall(header + message)
        else:
            self.socket.sendall(header)
            self.socket.sendall(message)

    def recv_bytes(self, most: float = float("inf")) -> bytearray:
        """The message that comes next (raises EOFError at the end, and OSError).

        One of more than `most` bytes is an OSError.
        """
        [length] = LENGTH.unpack(self._received(LENGTH.size))
        if length > most:
            raise OSError(f"a message of {length} bytes, where {most} are the most")
        return self._received(length)

    def cut(self) -> None:
        """End the connection, whoever waits for something of it."""
        with suppress(OSError):
            # TLS would end before, so that another thread read what is encrypted as if it was not.
            socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _received(self, count: int) -> bytearray:
        """The next `count` bytes."""
        received = bytearray(count)
        missing = memoryview(received)
        while missing:
            got = self.socket.recv_into(missing[:AT_ONCE])
            if got == 0:
                raise EOFError("the other end has gone")
            missing = missing[got:]
        return received


class Entrance:
    """Listens at a free port of `host`, and lets in who has the credentials; close it.

    >>> with Entrance("127.0.0.1", Credentials.new(encrypted=True)) as entrance:
    ...     entrance.accept(seconds=0.01)
    Traceback (most recent call last):
    TimeoutError: nobody came
    """

    def __init__(self, host: str, credentials: Credentials) -> None:
        self._listener = socket.create_server((host, 0), backlog=64)
        self._credentials = credentials

    @property
    def address(self) -> Address:
        """The host and the port that it listens at."""
        host, port = self._listener.getsockname()[:2]
        return host, port

    def accept(self, seconds: float | None = None) -> Link:
        """The next connection of one who has the credentials; others are passed over.

        Raises TimeoutError once `seconds` are over (None: never), and OSError once it is closed.
        """
        until = None if seconds is None else monotonic() + seconds
        while True:
            self._listener.settimeout(None if until is None else max(until - monotonic(), 1e-3))
            try:
                connected, _ = self._listener.accept()
            except TimeoutError:
                raise TimeoutError("nobody came") from None
            connected.settimeout(CHALLENGE_SECONDS)
            with suppress(AuthenticationError, OSError, EOFError):
                return _admitted(connected, self._credentials, is_server=True)

    def close(self) -> None:
        """Listen no more, not even a thread that waits in `accept`; who was let in stays."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
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


def enter(address: Address, credentials: Credentials) -> Link:
    """Connect with the entrance at `address` (raises OSError, AuthenticationError, EOFError)."""
    connected = socket.create_connection(address, ENTRY_SECONDS)
    return _admitted(connected, credentials, is_server=False)


def _admitted(connected: socket.socket, credentials: Credentials, *, is_server: bool) -> Link:
    """The link, once both ends have shown their credentials within the socket's timeout."""
    link = Link(connected)
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_MILLISECONDS)
        for option, value in KEEPALIVE:
            connected.setsockopt(socket.IPPROTO_TCP, option, value)
        link.socket = credentials.secured(connected, is_server=is_server)
        steps: list[Callable[[Any, bytes], None]] = [deliver_challenge, answer_challenge]
        for step in steps if is_server else reversed(steps):
            step(link, credentials.secret)
        link.socket.settimeout(None)
    except BaseException:
        link.close()
        raise
    return link
