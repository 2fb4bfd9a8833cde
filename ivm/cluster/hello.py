"""The hello of a member: its first message on each connection.

It is read before it is known what release of ivm the member runs. So it is JSON, of which every
release can tell whether it is one of its own.
"""

import json
from typing import NamedTuple

from ivm.cluster.identity import Identity
from ivm.cluster.links import Address

COMMANDS, READS, PULSE = KINDS = ("commands", "reads", "pulse")
"""The connections of each member: by what they are for."""

MOST_BYTES = 1 << 16
"""Bytes of a hello, at most."""


class Hello(NamedTuple):
    """A member's number, and what the connection is for.

    `entrance` is where other members find it, `parcels` where rows are brought to it.
    """

    number: int
    kind: str
    entrance: Address
    parcels: Address
    identity: Identity

    def message(self) -> bytes:
        """The message that says it."""
        return json.dumps({**self._asdict(), "identity": self.identity._asdict()}).encode()


def heard(message: bytes | bytearray) -> Hello:
    """The hello that a message says (raises ValueError for one of another release).

    >>> from ivm.cluster.identity import identity
    >>> hello = Hello(3, READS, ("10.0.0.7", 4711), ("10.0.0.7", 4712), identity())
    >>> heard(hello.message()) == hello
    True
    """
    match json.loads(message):
        case {
            "number": int(number),
            "kind": str(kind),
            "entrance": [str(host), int(port)],
            "parcels": [str(door_host), int(door_port)],
            "identity": {
                "host": str(name),
                "process": int(process),
                "source": str(source),
                "python": str(python),
                "owners": [*owners],
            },
        } if kind in KINDS:
            its = Identity(name, process, source, python, tuple(owners))
            return Hello(number, kind, (host, port), (door_host, door_port), its)
    raise ValueError("no hello of this release")
