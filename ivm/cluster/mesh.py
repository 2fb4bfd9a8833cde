"""The mesh: a connection between each two members of a cluster, over which they meet.

At a meeting every member sends every other one a header, and a block of bytes behind it that may be
empty. A member goes on when it has heard all: so nobody is ever ahead by more than one meeting, and
what arrives is of the meeting at which one stands, or of the next one. All sockets are written and
read in turn as they are ready, so that two that send much to each other do not wait for each other.

Where sockets are encrypted, a record of TLS holds bytes of one meeting alone: with the last byte of
a meeting all of its record is read, and nothing is left that polling the socket would not show.
"""

import logging
import select
import socket
import ssl
import struct
from collections.abc import Sequence

from ivm.cluster.credentials import Credentials
from ivm.cluster.links import AT_ONCE, SMALL, Address, Entrance, Link, enter
from ivm.operators.base.mesh import MeetingLeft

HEADER = struct.Struct("<QQQQ")
"""The number of the meeting, its place, the value that is said, and the bytes of the block."""

GREETING = struct.Struct("<II")
"""The number of a member that connects, and which of their meshes that is for."""

BUFFERED = 4 << 20
"""Bytes that a socket may hold, as far as the system allows: so that a block takes few turns."""

KEPT = 16 << 20
"""Bytes of memory to receive into that are kept for the next block, for each other member."""

LEFT = (1 << 64) - 1
"""The place at which a member says that it leaves."""

PATIENCE = 30_000
"""Milliseconds after which a member says for whom it waits."""

NOT_READY = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""Raised by a socket that can take or give nothing at present."""

_log = logging.getLogger(__name__)


class MeshBroken(ConnectionError):
    """A member has gone, or stands at another meeting."""


class Mesh:
    """The connections of `member` to the `sockets` of the other members, by their numbers.

    It counts its `meetings`, the `blocks` that it has sent at them, and all bytes sent.
    """

    def __init__(self, member: int, sockets: dict[int, socket.socket]) -> None:
        self.member = member
        self.members = len(sockets) + 1
        self.meetings = 0
        self.blocks = 0
        self.sent_bytes = 0
        self._peers = {peer: _Peer(peer, its) for peer, its in sockets.items()}

    def meet(
        self, place: int, value: int, blocks: Sequence[bytes] | None
    ) -> tuple[int, Sequence[memoryview]]:
        """Say `value` to all, with a block for each, and hear the others; see `ivm.operators.base`.

        Raises MeetingLeft, and MeshBroken.
        """
        self.meetings += 1
        heard = self._exchange(place, value, blocks)
        left = [peer for peer, (_, at, _) in heard.items() if at == LEFT]
        if left:
            raise MeetingLeft(f"member {left[0]} has left")
        for peer, (meeting, at, _) in heard.items():
            if (meeting, at) != (self.meetings, place):
                raise MeshBroken(
                    f"member {self.member} is at meeting {self.meetings} at {place}, member {peer} "
                    f"at meeting {meeting} at {at}: they do not run the same dataflows"
                )
        least = min((said for _, _, said in heard.values()), default=value)
        return min(value, least), [peer.block for peer in self._peers.values()]

    def leave(self) -> None:
        """Let the others leave what they are at, at their next meeting (raises MeshBroken)."""
        self.meetings += 1
        self._exchange(LEFT, 0, None)

    def close(self) -> None:
        """Close all connections, at which the other members find that this one has gone."""
        for peer in self._peers.values():
            peer.socket.close()

    def _exchange(
        self, place: int, value: int, blocks: Sequence[bytes] | None
    ) -> dict[int, tuple[int, int, int]]:
        """Send to all and receive of all: the meeting, place and value that each has said."""
        poll, pending = select.poll(), {}
        for peer in self._peers.values():
            block = b"" if blocks is None else blocks[peer.number]
            self.blocks += len(block) > 0
            self.sent_bytes += HEADER.size + len(block)
            peer.begin(HEADER.pack(self.meetings, place, value, len(block)), block)
            peer.send()
            if not peer.is_done:
                poll.register(peer.socket, peer.events)
                pending[peer.socket.fileno()] = peer
        while pending:
            ready = poll.poll(PATIENCE)
            if not ready:
                waited = ", ".join(str(peer.number) for peer in pending.values())
                _log.warning("member %d still waits for members %s", self.member, waited)
            for fileno, events in ready:
                peer = pending[fileno]
                if events & select.POLLOUT:
                    peer.send()
                if events & ~select.POLLOUT:
                    peer.receive()
                if peer.is_done:
                    poll.unregister(fileno)
                    del pending[fileno]
                else:
                    poll.modify(fileno, peer.events)
        return {number: peer.said for number, peer in self._peers.items()}


class _Peer:
    """Another member: what is still to be sent to it, and to be received of it, at one meeting.

    Blocks are received into memory that is kept: to touch new memory costs more than to receive.
    """

    def __init__(self, number: int, connected: socket.socket) -> None:
        connected.setblocking(False)
        self.number = number
        self.socket = connected
        self.said = (0, 0, 0)
        self.block = memoryview(b"")
        self._unsent: list[memoryview] = []
        self._header = memoryview(bytearray(HEADER.size))
        self._kept = memoryview(b"")
        self._awaited = memoryview(b"")  # the rest of the header or the block
        self._in_header = False

    @property
    def is_done(self) -> bool:
        """Whether all was sent and received."""
        return not self._unsent and not self._awaited

    @property
    def events(self) -> int:
        """The events that it waits for."""
        return (select.POLLIN if self._awaited else 0) | (select.POLLOUT if self._unsent else 0)

    def begin(self, header: bytes, block: bytes) -> None:
        """Begin a meeting: there are a header and a block to send, and to receive."""
        parts = (header + block,) if len(block) <= SMALL else (header, block)
        self._unsent = [memoryview(part) for part in parts]
        self._awaited = self._header
        self._in_header = True
        self.block = memoryview(b"")

    def send(self) -> None:
        """Send as much as can be sent at once (raises MeshBroken)."""
        try:
            while self._unsent:
                sent = self._sent()
                while self._unsent and sent >= len(self._unsent[0]):
                    sent -= len(self._unsent.pop(0))
                if self._unsent:
                    self._unsent[0] = self._unsent[0][sent:]
        except NOT_READY:
            return
        except OSError as error:
            raise MeshBroken(f"member {self.number} has gone: {error}") from error

    def _sent(self) -> int:
        """The bytes of what is unsent that the socket takes at once."""
        if isinstance(self.socket, ssl.SSLSocket):
            return self.socket.send(self._unsent[0][:AT_ONCE])
        return self.socket.sendmsg(self._unsent)

    def receive(self) -> None:
        """Receive as much of the header and the block as is there (raises MeshBroken)."""
        try:
            while self._awaited:
                got = self.socket.recv_into(self._awaited[:AT_ONCE])
                if got == 0:
                    raise MeshBroken(f"member {self.number} has gone")
                self._awaited = self._awaited[got:]
                if not self._awaited and self._in_header:
                    self._begin_block()
        except NOT_READY:
            return
        except MeshBroken:
            raise
        except OSError as error:
            raise MeshBroken(f"member {self.number} has gone: {error}") from error

    def _begin_block(self) -> None:
        self._in_header = False
        meeting, place, value, length = HEADER.unpack(self._header)
        self.said = (meeting, place, value)
        if length > len(self._kept) or len(self._kept) > KEPT:
            self._kept = memoryview(bytearray(length))
        self.block = self._awaited = self._kept[:length]


def connect(
    member: int,
    entrance: Entrance,
    addresses: Sequence[Address],
    credentials: Credentials,
    count: int = 1,
) -> list[Mesh]:
    """Connect `member` with all others, whose entrances are at `addresses`, by so many meshes.

    Of each two the one with the greater number connects. Raises OSError where nobody listens.
    """
    links: list[dict[int, Link]] = [{} for _ in range(count)]
    for peer in range(member):
        for number, found in enumerate(links):
            found[peer] = enter(addresses[peer], credentials)
            found[peer].send_bytes(GREETING.pack(member, number))
    while any(len(found) < len(addresses) - 1 for found in links):
        link = entrance.accept()
        peer, number = GREETING.unpack(link.recv_bytes(GREETING.size))
        links[number][peer] = link
    return [
        Mesh(member, {peer: _roomy(found[peer].socket) for peer in sorted(found)})
        for found in links
    ]


def _roomy(connected: socket.socket) -> socket.socket:
    """The socket, with room for large blocks."""
    for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        connected.setsockopt(socket.SOL_SOCKET, buffer, BUFFERED)
    return connected
