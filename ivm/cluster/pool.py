"""The pool of a cluster: sends each command to all members in one order, and merges the answers.

Rows that are fed go to the owners of their primary key, and rows of a dataflow lie with the owners
of the key by which it is installed. An exchange moves rows wherever a dataflow needs them by
another key (`ivm.dataflow.distribution`).
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from threading import Lock
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster import member, merging
from ivm.cluster.replies import Done, Refused, Reply, broken
from ivm.dataflow.arguments import LAST_TIME, diffs_of_rows, key_positions, one_time, times_of_rows
from ivm.dataflow.nodes import Node
from ivm.errors import (
    DataflowFailed,
    InsertOnly,
    PoolFailed,
    SchemaMismatch,
    TimeInPast,
    UnknownCollection,
    Unsupported,
)
from ivm.results import ArrangementInfo, Deltas, Installed, Snapshot
from ivm.rows.owners import owners_of

LOOPBACK = "127.0.0.1"
PATIENCE = 10.0
"""Seconds in which a member is to end once the cluster is over."""


class ClusterPool:
    """A pool of `members` processes on this machine; its methods are those of `ivm.pool.Pool`.

    The `bounds` are Pool's, of each member. Calls exclude one another. A member that is lost takes
    the pool with it: every call after that raises PoolFailed. Close the pool to end its processes.

    >>> from ivm.dataflow.nodes import Get, project
    >>> schema = pa.schema([pa.field(n, pa.int64(), nullable=False) for n in ("id", "city")])
    >>> with ClusterPool(members=2) as pool:
    ...     pool.create_input("guests", schema, ["id"])
    ...     _ = pool.install("cities", project(Get("guests", schema), (1,)), key=["city"])
    ...     rows = pa.record_batch([[1, 2, 3], [7, 8, 7]], schema=schema)
    ...     pool.feed("guests", rows, diffs=np.array([1, 1, 1]), times=0)
    ...     pool.advance(1)
    ...     pool.peek("cities", {"city": 7}).counts.tolist()
    [2]
    """

    def __init__(self, members: int, **bounds: float) -> None:
        if members < 1:
            raise ValueError(f"members is {members}: at least one is needed")
        self._lock = Lock()
        self._frontier = 0
        self._inputs: dict[str, _Input] = {}
        self._failure: str | None = None
        self._processes: list[BaseProcess] = []
        self._members: list[Connection] = []
        secret = secrets.token_bytes(32)
        try:
            for number in range(members):
                ours, theirs = Pipe()
                self._members.append(ours)
                self._start((theirs, LOOPBACK, secret, number, bounds))
            addresses = [connection.recv() for connection in self._members]
            for connection in self._members:
                connection.send(addresses)
        except (EOFError, OSError) as error:
            self.close()
            raise PoolFailed("a member of the cluster ended before it was connected") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes of all members."""
        for connection in self._members:
            connection.close()
        for process in self._processes:
            process.join(PATIENCE)
            process.kill()  # one that does not end by itself, as it stands still
            process.join()

    @property
    def frontier(self) -> int:
        """The frontier: every time below it is complete."""
        return self._frontier

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids of the members, by number."""
        return tuple(process.pid or 0 for process in self._processes)

    def create_input(
        self, name: str, schema: pa.Schema, key: Sequence[str], *, insert_only: bool = False
    ) -> None:
        """Declare an input; see `Pool.create_input`."""
        with self._lock:
            self._all("create_input", name, schema, tuple(key), insert_only=insert_only)
            places = key_positions(name, schema, tuple(key))
            self._inputs[name] = _Input(schema, places, insert_only)

    def drop_input(self, name: str) -> None:
        """Forget an input; see `Pool.drop_input`."""
        with self._lock:
            self._all("drop_input", name)
            del self._inputs[name]

    def feed(
        self,
        name: str,
        rows: pa.RecordBatch,
        diffs: NDArray[np.int64],
        times: NDArray[np.uint64] | int,
    ) -> None:
        """Queue changes of an input's rows at their owners; see `Pool.feed`."""
        with self._lock:
            for number, part in self._dealt(name, rows, diffs, times):
                self._one(number, "feed", name, *part)

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier` on all members; see `Pool.advance`."""
        with self._lock:
            wanted = one_time(frontier, LAST_TIME + 1)
            try:
                self._all("advance", wanted)
            finally:
                if self._failure is None:
                    self._frontier = max(self._frontier, wanted)

    def install(self, name: str, node: Node, key: Sequence[str] | None) -> Installed:
        """Maintain `node` as collection `name` on all members; see `Pool.install`.

        It catches up between two steps, however much there is.
        """
        with self._lock:
            columns = None if key is None else tuple(key)
            replies = self._replies("install", name, node, columns)
            refusals = _refusals(replies)
            if refusals and self._failure is None:
                for number, reply in enumerate(replies):
                    if isinstance(reply, Done):
                        self._one(number, "drop", name)
            installed = self._values(replies)[0]
            assert isinstance(installed, Installed)
            return installed

    def drop(self, name: str) -> None:
        """Stop a dataflow; see `Pool.drop`."""
        with self._lock:
            self._all("drop", name)

    def drain(self, name: str) -> Deltas:
        """Take the deltas of a dataflow of all members; see `Pool.drain`."""
        with self._lock:
            replies = self._replies("drain", name)
            for refusal in _refusals(replies):
                # A member drops a dataflow whose counts it finds to have overflowed; so do all.
                reasons = refusal.argument if isinstance(refusal.argument, dict) else {}
                for failed in reversed(reasons):
                    self._drop_where_it_is(failed)
            return merging.deltas(self._values(replies))

    def peek(self, name: str, key: Mapping[str, object], *, as_of: int | None = None) -> Snapshot:
        """The rows of an input or dataflow with these column values; see `Pool.peek`."""
        with self._lock:
            return merging.snapshot(self._all("peek", name, dict(key), as_of=as_of))

    def scan(self, name: str, *, as_of: int | None = None) -> Snapshot:
        """All rows of an input or dataflow, each with its count; see `Pool.scan`."""
        with self._lock:
            return merging.snapshot(self._all("scan", name, as_of=as_of))

    def arrangements(self) -> list[ArrangementInfo]:
        """Accounts of all arrangements and states of dataflows; see `Pool.arrangements`.

        Records and bytes are those of all members together.
        """
        with self._lock:
            return merging.arrangements(self._all("arrangements"))

    def _start(self, arguments: tuple[Any, ...]) -> None:
        """Start the process of a member, which runs `member.run` with `arguments`."""
        process = get_context("spawn").Process(target=member.run, args=arguments, daemon=True)
        process.start()
        arguments[0].close()
        self._processes.append(process)

    # --- commands ---

    def _drop_where_it_is(self, name: str) -> None:
        for number in range(len(self._members)):
            with suppress(UnknownCollection):
                self._one(number, "drop", name)

    def _dealt(
        self,
        name: str,
        rows: pa.RecordBatch,
        diffs: NDArray[np.int64],
        times: NDArray[np.uint64] | int,
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """The members that own some of the `rows`, by number, with the arguments of their feeds."""
        declared = self._inputs.get(name)
        if declared is None:
            raise UnknownCollection(f"there is no input {name!r}")
        if not isinstance(rows, pa.RecordBatch):
            raise SchemaMismatch(f"input {name!r} takes a RecordBatch, not {type(rows)}")
        when, earliest = times_of_rows(times, rows.num_rows)
        each = diffs_of_rows(diffs, rows.num_rows)
        if earliest < self._frontier:
            raise TimeInPast(
                f"time {earliest} of input {name!r} is behind the frontier {self._frontier}"
            )
        if declared.insert_only and np.min(each, initial=0) < 0:
            raise InsertOnly(f"input {name!r} only grows: a diff is {np.min(each)}")
        owners = owners_of(rows, declared.schema, declared.key, len(self._members))
        dealt = []
        for number in range(len(self._members)):
            own = np.flatnonzero(owners == number)
            if len(own) > 0:
                own_times = when if isinstance(when, int) else when[own]
                dealt.append((number, (rows.take(own), each[own], own_times)))
        return dealt

    def _all(self, method: str, *arguments: object, **named: object) -> list[Any]:
        """What a command to all members gives, by number; raises what one of them raises."""
        return self._values(self._replies(method, *arguments, **named))

    def _one(self, number: int, method: str, *arguments: object) -> object:
        """What a command to one member gives."""
        return self._values(self._replies_of([number], method, arguments, {}))[0]

    def _replies(self, method: str, *arguments: object, **named: object) -> list[Reply]:
        """The replies to a command to all members."""
        return self._replies_of(range(len(self._members)), method, arguments, named)

    def _replies_of(
        self,
        numbers: Sequence[int],
        method: str,
        arguments: tuple[object, ...],
        named: dict[str, object],
    ) -> list[Reply]:
        """The replies of some members; raises Unsupported for what cannot be sent to any."""
        self._refuse_failed()
        try:
            command = ForkingPickler.dumps((method, arguments, named))
        except (PicklingError, AttributeError, TypeError) as error:
            raise Unsupported(
                f"a cluster's processes cannot be sent this: {error}. Define functions at the top "
                "of a module that all processes can import"
            ) from error
        try:
            for number in numbers:
                with suppress(OSError):  # the member has gone: there is no reply, and that is told
                    self._members[number].send_bytes(command)
            replies = [self._receive(number) for number in numbers]
        except BaseException as error:  # an interrupt: the next reply would be taken for another
            self._failure = f"a call to the members of the cluster did not end: {error!r}"
            raise
        self._note_failure(replies)
        return replies

    def _values(self, replies: Sequence[Reply]) -> list[Any]:
        self._note_failure(replies)
        self._refuse_failed()
        if refusals := _refusals(replies):
            raise _together(refusals)
        return [reply.value for reply in replies if isinstance(reply, Done)]

    def _receive(self, number: int) -> Reply:
        try:
            reply: Reply = self._members[number].recv()
        except (EOFError, OSError) as error:
            return broken(ConnectionError(f"member {number} has gone: {error}"))
        return reply

    def _note_failure(self, replies: Sequence[Reply]) -> None:
        for refusal in _refusals(replies):
            if refusal.kind == PoolFailed.__name__:
                self._failure = self._failure or str(refusal.argument)

    def _refuse_failed(self) -> None:
        if self._failure is not None:
            raise PoolFailed(self._failure)


class _Input:
    """An input's columns, the places of its key among them, and whether it only grows."""

    def __init__(self, schema: pa.Schema, key: Sequence[int], insert_only: bool) -> None:
        self.schema = schema
        self.key = key
        self.insert_only = insert_only


def _refusals(replies: Sequence[Reply]) -> list[Refused]:
    return [reply for reply in replies if isinstance(reply, Refused)]


def _together(refusals: Sequence[Refused]) -> Exception:
    """One error for the refusals of several members; of failed dataflows, with all reasons."""
    errors = [refusal.error() for refusal in refusals]
    failed = [error for error in errors if isinstance(error, DataflowFailed)]
    if len(failed) < len(errors):
        return next(error for error in errors if not isinstance(error, DataflowFailed))
    reasons: dict[str, str] = {}
    for error in sorted(failed, key=lambda error: type(error) is DataflowFailed):
        reasons = {**error.reasons, **reasons}
    kinds = {type(error) for error in failed if type(error) is not DataflowFailed}
    return (kinds.pop() if len(kinds) == 1 else DataflowFailed)(reasons)
