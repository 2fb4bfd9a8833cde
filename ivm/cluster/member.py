"""A member: a pool that carries out the commands of its cluster, wherever its process runs.

A command is the name of a method of `LendingPool` with its arguments. All members get the same
commands in the same order, and so agree on every plan and on the numbers of all stages. Reads come
by a connection of their own, so that they need not wait for a step; and so does the cluster's
question whether the process goes on at all. At a door of its own a member takes parcels
of rows.
"""

from collections.abc import Callable
from contextlib import closing
from threading import Thread
from typing import Any

from ivm.cluster.credentials import Credentials
from ivm.cluster.hello import COMMANDS, PULSE, READS, Hello
from ivm.cluster.identity import identity
from ivm.cluster.lending import LendingPool
from ivm.cluster.links import Address, Entrance, Link, enter
from ivm.cluster.mesh import connect
from ivm.cluster.parcels import Receiving
from ivm.cluster.replies import Done, Reply, broken, refused
from ivm.errors import IvmError, OutOfMemory, PoolFailed

Command = tuple[str, tuple[Any, ...], dict[str, Any]]


def run(address: Address, credentials: Credentials, number: int) -> None:
    """Be member `number` of the cluster whose entrance is at `address`, until that is over.

    Raises OSError where nobody listens there, and EOFError once it is not wanted.
    """
    with (
        enter(address, credentials) as commands,
        Entrance(commands.local_host, credentials) as entrance,
        Entrance(commands.local_host, credentials) as door,
    ):
        hello = Hello(number, COMMANDS, entrance.address, door.address, identity())
        commands.send_bytes(hello.message())
        reads = enter(address, credentials)
        reads.send_bytes(hello._replace(kind=READS).message())
        pulse = enter(address, credentials)
        pulse.send_bytes(hello._replace(kind=PULSE).message())
        _aside(pulse, _echo)
        addresses, bounds = commands.recv()
        mesh, beside = connect(number, entrance, addresses, credentials, count=2)
        try:
            pool = LendingPool(mesh, beside, **bounds)
            with closing(Receiving(door, pool.parcels)):
                _aside(reads, lambda link: _serve(link, pool, meets=False))
                _serve(commands, pool)
        finally:
            mesh.close()
            beside.close()


def _aside(link: Link, serve: Callable[[Link], None]) -> None:
    """Serve a connection on a thread of its own, until the cluster ends it."""

    def run_and_close() -> None:
        with link:
            serve(link)

    Thread(target=run_and_close, daemon=True).start()


def _serve(link: Link, pool: LendingPool, *, meets: bool = True) -> None:
    """Carry out commands until the cluster is over, or this member has failed.

    For them a member `meets` the others, or only reads.
    """
    while True:
        try:
            command: Command = link.recv()
        except (EOFError, OSError):
            return
        reply, goes_on = carried_out(pool, command, meets)
        try:
            link.send(reply)
        except OSError:
            return
        if not goes_on:
            return


def _echo(link: Link) -> None:
    """Answer each message with itself."""
    while True:
        try:
            link.send_bytes(link.recv_bytes())
        except (EOFError, OSError):
            return


def carried_out(pool: LendingPool, command: Command, meets: bool) -> tuple[Reply, bool]:
    """The reply to a command, and whether the member can go on after it.

    It cannot once it may have left a meeting that others still wait for, if it `meets` them. What
    is filled beside commands all have left together.
    """
    method, arguments, named = command
    meets = meets and method != "take_over"
    try:
        return Done(getattr(pool, method)(*arguments, **named)), True
    except IvmError as error:
        if isinstance(error, PoolFailed) or (meets and isinstance(error, OutOfMemory)):
            return broken(error), False
        return refused(error), True
    except Exception as error:  # a lost connection, or an error that is not foreseen
        return broken(error), False
