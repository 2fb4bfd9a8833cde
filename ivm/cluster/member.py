"""A member's process: connects with its cluster, and carries out its commands one after another.

A command is the name of a method of `Pool` with its arguments. All members get the same commands
in the same order, and so agree on every plan and on the numbers of all stages.
"""

from multiprocessing.connection import Connection
from typing import Any

from ivm.cluster.mesh import connect, listen
from ivm.cluster.replies import Done, Reply, broken, refused
from ivm.errors import IvmError, OutOfMemory, PoolFailed
from ivm.pool import Pool

Command = tuple[str, tuple[Any, ...], dict[str, Any]]


def run(
    commands: Connection, host: str, secret: bytes, member: int, bounds: dict[str, Any]
) -> None:
    """Be member number `member` of a cluster, which sends `commands`, until it is over.

    It tells the cluster the address at `host` where it listens for other members, and is told
    those of all.
    """
    with commands:
        with listen(host, secret) as listener:
            commands.send(listener.address)
            mesh = connect(member, listener, commands.recv(), secret)
        try:
            _serve(commands, Pool(mesh=mesh, **bounds))
        finally:
            mesh.close()


def _serve(commands: Connection, pool: Pool) -> None:
    """Carry out commands until the cluster is over, or this member has failed."""
    while True:
        try:
            command: Command = commands.recv()
        except EOFError:
            return
        reply, goes_on = carried_out(pool, command)
        commands.send(reply)
        if not goes_on:
            return


def carried_out(pool: Pool, command: Command) -> tuple[Reply, bool]:
    """The reply to a command, and whether the member can go on after it.

    It cannot once it may have left a meeting that others still wait for.
    """
    method, arguments, named = command
    try:
        return Done(getattr(pool, method)(*arguments, **named)), True
    except (OutOfMemory, PoolFailed) as error:
        return broken(error), False
    except IvmError as error:
        return refused(error), True
    except Exception as error:  # a lost connection, or an error that is not foreseen
        return broken(error), False
