"""The rendezvous of a cluster: where its members come, and are told of one another."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import NamedTuple

from ivm.cluster.credentials import Credentials
from ivm.cluster.hello import KINDS, MOST_BYTES, Hello, heard
from ivm.cluster.identity import identity
from ivm.cluster.links import Address, Entrance, Link
from ivm.errors import PoolFailed

HELLO_SECONDS = 10.0
"""The time in which one that was let in is to say who it is."""

LOOK_SECONDS = 0.2
"""The pause between two looks whether members can still come."""


class Member(NamedTuple):
    """A member that has come: who it is, and its connections by kind."""

    hello: Hello
    links: Mapping[str, Link]


class Rendezvous:
    """An entrance at `host` for the members of one cluster, with new credentials; close it."""

    def __init__(self, host: str, *, encrypted: bool = False) -> None:
        self.credentials = Credentials.new(encrypted=encrypted)
        self._entrance = Entrance(host, self.credentials)

    @property
    def address(self) -> Address:
        """Where members are to come."""
        return self._entrance.address

    def close(self) -> None:
        """Let nobody in any more."""
        self._entrance.close()

    def members(
        self, count: int, seconds: float, over: Callable[[], str | None] = lambda: None
    ) -> list[Member]:
        """The `count` members, by number, once all have come.

        Raises PoolFailed when `seconds` are over, when `over` says why nobody comes any more, and
        where a member is not what this process is.
        """
        links: dict[int, dict[str, Link]] = {}
        hellos: dict[int, Hello] = {}
        try:
            self._await(count, monotonic() + seconds, over, links, hellos)
        except BaseException:
            for connection in (one for its in links.values() for one in its.values()):
                connection.close()
            raise
        return [Member(hellos[number], links[number]) for number in range(count)]

    def _await(
        self,
        count: int,
        until: float,
        over: Callable[[], str | None],
        links: dict[int, dict[str, Link]],
        hellos: dict[int, Hello],
    ) -> None:
        own = identity()
        while sum(map(len, links.values())) < count * len(KINDS):
            if (reason := over()) is not None:
                raise PoolFailed(f"the members of the cluster did not come: {reason}")
            if monotonic() > until:
                missing = sorted(set(range(count)) - hellos.keys())
                raise PoolFailed(f"members {missing} of the cluster did not come in time")
            try:
                link = self._entrance.accept(LOOK_SECONDS)
                hello = _greeted(link, count)
            except (EOFError, OSError):  # nobody came, or one that has gone again
                continue
            hellos[hello.number] = hello
            links.setdefault(hello.number, {})[hello.kind] = link
            if (differing := own.differs(hello.identity)) is not None:
                raise PoolFailed(
                    f"member {hello.number} on host {hello.identity.host} differs from this "
                    f"process in {differing}: all hosts need the same image"
                )


def _greeted(link: Link, count: int) -> Hello:
    """The hello of one of `count` members, within a time (raises EOFError, OSError, PoolFailed).

    The link stays open only where there is one.
    """
    host = link.socket.getpeername()[0]
    try:
        link.socket.settimeout(HELLO_SECONDS)
        hello = heard(link.recv_bytes(MOST_BYTES))
        if not 0 <= hello.number < count:
            raise ValueError(f"member {hello.number} of {count}")
        link.socket.settimeout(None)
    except ValueError as error:
        link.close()
        raise PoolFailed(
            f"the executor at {host} runs another release of ivm than the service, which does not "
            "understand what it says first: all hosts need the same image"
        ) from error
    except (EOFError, OSError):
        link.close()
        raise
    return hello
