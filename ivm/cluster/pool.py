"""The pool of a cluster: sends each command to all members in one order, and merges the answers.

Rows that are fed go to the owners of their primary key, and rows of a dataflow lie with the owners
of the key by which it is installed. An exchange moves rows wherever a dataflow needs them by
another key (`ivm.dataflow.distribution`), as one member decides for all
(`ivm.cluster.distributing`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from time import sleep
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster import merging
from ivm.cluster.calls import Calls, refusals_of
from ivm.cluster.credentials import Credentials
from ivm.cluster.dealing import Owners
from ivm.cluster.lending import Most
from ivm.cluster.lent import LentBatch, LentHold
from ivm.cluster.rendezvous import Member
from ivm.cluster.replies import Done
from ivm.dataflow.arguments import LAST_TIME, diffs_of_rows, key_positions, one_time, times_of_rows
from ivm.dataflow.nodes import Node
from ivm.errors import (
    BudgetExceeded,
    CountOverflow,
    DataflowFailed,
    InsertOnly,
    SchemaMismatch,
    TimeInPast,
    UnknownCollection,
)
from ivm.operators.base.budget import Budget
from ivm.pool import Pool
from ivm.results import (
    ArrangementInfo,
    Deltas,
    Forecast,
    Found,
    Hydrating,
    Installed,
    Operators,
    Snapshot,
    Spent,
)
from ivm.rows.owners import owners_of

READ_ATTEMPTS = 20
"""How often members are asked for the same read beside steps that come between."""

SHORTEST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
"""Seconds between two looks whether a dataflow has caught up."""

LOST_SECONDS = 30.0
"""The time after which a member that says nothing is given up."""


class ClusterPool:
    """A pool whose members run in other processes; its methods are those of `ivm.pool.Pool`.

    `start` gives it the members that have come; before that it knows inputs alone, which it
    declares then. The `bounds` are Pool's, of each member. Calls that change something exclude one
    another; reads go beside them, one at a time. A member that is lost, or has said nothing for
    `lost_seconds`, takes the pool with it: every call after that raises PoolFailed, and
    `when_failed` hears why. Close the pool to end its members. `owners` are these as those know
    them that bring rows; None before it is started.

    >>> from ivm.cluster.processes import Processes
    >>> from ivm.dataflow.nodes import Get, project
    >>> schema = pa.schema([pa.field(n, pa.int64(), nullable=False) for n in ("id", "city")])
    >>> with Processes(members=2) as pool:
    ...     pool.create_input("guests", schema, ["id"])
    ...     _ = pool.install("cities", project(Get("guests", schema), (1,)), key=["city"])
    ...     rows = pa.record_batch([[1, 2, 3], [7, 8, 7]], schema=schema)
    ...     pool.feed("guests", rows, diffs=np.array([1, 1, 1]), times=0)
    ...     pool.advance(1)
    ...     pool.peek("cities", {"city": 7}).counts.tolist()
    [2]
    """

    def __init__(self, *, lost_seconds: float = LOST_SECONDS, **bounds: float) -> None:
        self._calls = Calls(lost_seconds)
        self._bounds = bounds
        self._frontier = 0
        self._inputs: dict[str, _Input] = {}
        self._unchanged: dict[str, Deltas] = {}
        self._changing = Lock()  # held by one that adds or drops collections, ahead of calls.lock
        self._filled: str | None = None
        self.owners: Owners | None = None

    def start(self, members: Sequence[Member], credentials: Credentials) -> None:
        """Begin with these members, by number, which a `Rendezvous` has met (raises PoolFailed)."""
        with self._calls.lock:
            self._calls.start(members, self._bounds)
            doors = tuple(member.hello.parcels for member in members)
            self.owners = Owners(doors, credentials)
            for name, declared in self._inputs.items():
                self._declare(name, declared)

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
        """End all members; every call after this raises PoolFailed."""
        self._calls.close()

    def fail(self, reason: str) -> None:
        """Be failed from now on, unless it is so already: nobody waits for a member any more."""
        self._calls.fail(reason)

    def when_failed(self, call: Callable[[str], None]) -> None:
        """Call `call` with the reason, once, when the pool has failed."""
        self._calls.when_failed = call

    @property
    def failure(self) -> str | None:
        """Why it failed, if it did."""
        return self._calls.failure

    @property
    def is_started(self) -> bool:
        """Whether it has members."""
        return bool(self._calls.members)

    @property
    def frontier(self) -> int:
        """The frontier: every time below it is complete."""
        return self._frontier

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids of the members on their hosts, by number."""
        return tuple(member.hello.identity.process for member in self._calls.members)

    @property
    def names(self) -> frozenset[str]:
        """The names of all inputs and dataflows."""
        if not self._calls.members:
            return frozenset(self._inputs)
        names: frozenset[str] = self._calls.read_one("known")
        return names

    @property
    def string_bytes(self) -> int:
        """The bytes of the strings longer than seven bytes, of all members; see `Pool`."""
        return sum(share.string_bytes for share in self.shares())

    @property
    def hydrating(self) -> Hydrating | None:
        """The dataflow that an `install` hydrates beside steps just now; see `Pool.hydrating`."""
        if (name := self._filled) is None or (found := self._calls.read_one("filled")) is None:
            return None
        return Hydrating(name, *found)

    def shares(self) -> list[merging.MemberShare]:
        """The share of each member: what its arrangements and its process hold."""
        shares = self._calls.read_all("share") if self._calls.members else []
        found = zip(self._calls.members, shares, strict=True)
        return [
            merging.MemberShare(at, who.hello.identity.host, who.hello.identity.process, *share)
            for at, (who, share) in enumerate(found)
        ]

    def used_bytes(self) -> list[int]:
        """The memory that each member's process uses, by number; of none before it has members.

        It is asked between two steps, so that a long read does not hold it up.
        """
        with self._calls.lock:
            return self._calls.all("used_bytes") if self._calls.members else []

    # --- inputs ---

    def create_input(
        self, name: str, schema: pa.Schema, key: Sequence[str], *, insert_only: bool = False
    ) -> None:
        """Declare an input; see `Pool.create_input`."""
        with self._changing, self._calls.lock:
            declared = _Input(schema, tuple(key), insert_only)
            if self._calls.members:
                self._declare(name, declared)
            self._inputs[name] = declared

    def _declare(self, name: str, declared: "_Input") -> None:
        only_grows = declared.insert_only
        self._calls.all("create_input", name, declared.schema, declared.key, insert_only=only_grows)

    def drop_input(self, name: str) -> None:
        """Forget an input; see `Pool.drop_input`."""
        with self._changing, self._calls.lock:
            self._calls.all("drop_input", name)
            del self._inputs[name]

    def feed(
        self,
        name: str,
        rows: pa.RecordBatch,
        diffs: NDArray[np.int64],
        times: NDArray[np.uint64] | int,
    ) -> None:
        """Queue changes of an input's rows at their owners; see `Pool.feed`."""
        with self._calls.lock:
            for number, part in self._dealt(name, rows, diffs, times):
                self._calls.post(number, "feed", name, *part)

    def carry_out(self, function: Callable[..., Any], each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The answers of a `function` on all members, given their pools and `each` one's arguments.

        It is of a module that all processes know, and may be told to read parcels, and to feed and
        look up what its member owns; it meets no other.
        """
        with self._calls.lock:
            return self._calls.each("carry_out", [(function, *given) for given in each])

    def post(self, function: Callable[..., Any], each: Sequence[tuple[Any, ...] | None]) -> None:
        """Let members carry out a `function`, those that have arguments; nobody waits for them.

        What it raises, a later call does.
        """
        with self._calls.lock:
            for number, given in enumerate(each):
                if given is not None:
                    self._calls.post(number, "carry_out", function, *given)

    def batches(self, name: str) -> list[LentBatch]:
        """The batches that hold an input, of all members; see `Pool.batches`."""
        with self._calls.lock:
            parts = self._calls.all("lend_batches", name)
        return [
            LentBatch(self._rows_of, self._calls.give_back, number, lent, len(parts))
            for number, part in enumerate(parts)
            for lent in part
        ]

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier` on all members; see `Pool.advance`."""
        with self._calls.lock:
            wanted = one_time(frontier, LAST_TIME + 1)
            try:
                changed = self._calls.all("step", wanted)
            except DataflowFailed:
                self._unchanged.clear()
                raise
            finally:
                if self._calls.failure is None:
                    self._frontier = max(self._frontier, wanted)
            for name in set().union(*changed) & self._unchanged.keys():
                del self._unchanged[name]

    def install(
        self,
        name: str,
        node: Node,
        key: Sequence[str] | None,
        *,
        budget: Budget | None = None,
    ) -> Installed:
        """Maintain `node` as collection `name` on all members; see `Pool.install`.

        The `budget` is that of each member.
        """
        given = Budget() if budget is None else budget
        names = None if key is None else tuple(key)
        with self._changing:
            made = self._calls.read_one("distributed", name, node, names, self._counted(node))
            wanted = name, made, names
            try:
                return self._install(*wanted, given)
            except CountOverflow:
                # Copies that came and went may count at once in it, until batches are merged.
                with self._calls.lock:
                    compacted = self._calls.all("compact_sources", *wanted)
                if not any(compacted):
                    raise
                return self._install(*wanted, given)

    def _install(
        self, name: str, node: Node, key: tuple[str, ...] | None, budget: Budget
    ) -> Installed:
        most = Most(budget.seconds, budget.bytes, budget.process_bytes)
        installed = self._installed(name, "begin_install", name, node, key, most)
        self._filled = name
        try:
            while installed is None:
                self._await_caught_up(budget)
                installed = self._installed(name, "take_over")
            return installed
        except BudgetExceeded as exceeded:
            raise BudgetExceeded(f"{name!r} was stopped: {exceeded}") from None
        finally:
            self._filled = None

    def _installed(self, name: str, method: str, *arguments: object) -> Installed | None:
        """The installation, once members have it; where one has not, the others do not keep it."""
        with self._calls.lock:
            replies = self._calls.replies(method, *arguments)
            if refusals_of(replies) and self._calls.failure is None:
                for number, reply in enumerate(replies):
                    if isinstance(reply, Done) and reply.value is not None:
                        self._calls.one(number, "drop", name)
            installed: Installed | None = self._calls.values(replies)[0]
            return installed

    def _await_caught_up(self, budget: Budget) -> None:
        """Wait until all members have caught up with what the dataflow has taken over."""
        pause = SHORTEST_PAUSE
        while not all(self._calls.read_all("has_caught_up")):
            if budget.stopped:
                self._calls.read_all("stop_filling")
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def drop(self, name: str) -> None:
        """Stop a dataflow; see `Pool.drop`."""
        with self._changing, self._calls.lock:
            self._unchanged.pop(name, None)
            self._calls.all("drop", name)

    def drain(self, name: str) -> Deltas:
        """Take the deltas of a dataflow of all members; see `Pool.drain`."""
        with self._calls.lock:
            if (nothing := self._unchanged.get(name)) is not None:
                self._calls.refuse_failed()
                return nothing
            replies = self._calls.replies("drain", name)
            for refusal in refusals_of(replies):
                # A member drops a dataflow whose counts it finds to have overflowed; so do all.
                reasons = refusal.argument if isinstance(refusal.argument, dict) else {}
                for failed in reversed(reasons):
                    self._drop_where_it_is(failed)
            deltas = merging.deltas(self._calls.values(replies))
            self._unchanged[name] = merging.none_of(deltas)
            return deltas

    def replace(self, names: Mapping[str, str], frontier: int) -> None:
        """Let dataflows take other names at one time; see `Pool.replace`."""
        with self._changing, self._calls.lock:
            wanted = one_time(frontier, LAST_TIME + 1)
            self._unchanged.clear()
            try:
                self._calls.all("replace", dict(names), wanted)
            finally:
                if self._calls.failure is None:
                    self._frontier = max(self._frontier, wanted)

    # --- readers ---

    def hold(self, name: str, time: int | None = None) -> LentHold:
        """Keep a collection readable as of each time from `time` on; see `Pool.hold`."""
        with self._calls.lock:
            replies = self._calls.replies("lend_hold", name, time)
            lent = [
                (number, *cast(tuple[int, int], reply.value))
                for number, reply in enumerate(replies)
                if isinstance(reply, Done)
            ]
            if refusals_of(replies):
                for number, hold, _ in lent:
                    self._calls.give_back(number, hold)
            self._calls.values(replies)
        holds = [(number, hold) for number, hold, _ in lent]
        return LentHold(name, max(at for *_, at in lent), holds, self._calls.give_back)

    def peek(self, name: str, key: Mapping[str, object], *, as_of: int | None = None) -> Snapshot:
        """The rows of an input or dataflow with these column values; see `Pool.peek`."""
        return self._snapshot("peek", name, dict(key), as_of=as_of)

    def scan(self, name: str, *, as_of: int | None = None) -> Snapshot:
        """All rows of an input or dataflow, each with its count; see `Pool.scan`."""
        return self._snapshot("scan", name, as_of=as_of)

    def look_up(self, name: str, keys: pa.RecordBatch) -> Found:
        """The rows of an input or dataflow with each of many keys; see `Pool.look_up`.

        To be called between two steps: only then all members are at one time.
        """
        with self._calls.lock:
            return merging.found(self._calls.all("look_up", name, keys))

    def arrangements(self) -> list[ArrangementInfo]:
        """Accounts of all arrangements and states of dataflows; see `Pool.arrangements`.

        Records and bytes are those of all members together.
        """
        return (
            merging.arrangements(self._calls.read_all("arrangements"))
            if self._calls.members
            else []
        )

    def arranged(self) -> frozenset[str]:
        """The names of the arrangements; see `Pool.arranged`."""
        arranged: frozenset[str] = self._calls.read_one("arranged")
        return arranged

    def operators(self, name: str, *, shown: str | None = None) -> Operators:
        """The operators of a dataflow, over all members; see `Pool.operators`."""
        with self._calls.lock:
            return merging.operators(self._calls.all("operators", name, shown=shown))

    def spent(self, name: str) -> Spent:
        """The cost of a dataflow: the seconds of all members, the rounds of one; `Pool.spent`."""
        return merging.spent(self._calls.read_all("spent", name))

    def explain(self, node: Node, key: Sequence[str] | None) -> Forecast:
        """The forecast of an installation, over all members; see `Pool.explain`."""
        forecast: Forecast = self._calls.read_one("foretold", node, key, self._counted(node))
        return forecast

    def plan_text(self, node: Node, key: Sequence[str] | None) -> str:
        """The physical plan that each member would build now; see `Pool.plan_text`."""
        text: str = self._calls.read_one("shown", node, key, self._counted(node))
        return text

    def _counted(self, node: Node) -> dict[str, int]:
        """The rows of the collections that `node` reads, of all members together."""
        return merging.counted(self._calls.read_all("counted", node))

    def _snapshot(self, method: str, *arguments: object, as_of: int | None) -> Snapshot:
        """The rows of all members as of one time.

        A step may come between their answers; then all are asked again, and at last between two
        steps.
        """
        for _ in range(READ_ATTEMPTS):
            parts: list[Snapshot] = self._calls.read_all(method, *arguments, as_of=as_of)
            if len({part.time for part in parts}) == 1:
                return merging.snapshot(parts)
        with self._calls.lock:
            return merging.snapshot(self._calls.all(method, *arguments, as_of=as_of))

    def _rows_of(self, number: int, batch: int, at_once: int) -> Any:
        """The next rows of a batch that a member has lent."""
        return self._calls.read_one("lent_rows", batch, at_once, number=number)

    def _drop_where_it_is(self, name: str) -> None:
        for number in range(len(self._calls.members)):
            self._unchanged.pop(name, None)
            with suppress(UnknownCollection):
                self._calls.one(number, "drop", name)

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
        places = key_positions(name, declared.schema, declared.key)
        owners = owners_of(rows, declared.schema, places, len(self._calls.members))
        dealt = []
        for number in range(len(self._calls.members)):
            own = np.flatnonzero(owners == number)
            if len(own) > 0:
                own_times = when if isinstance(when, int) else when[own]
                dealt.append((number, (rows.take(own), each[own], own_times)))
        return dealt


AnyPool: TypeAlias = Pool | ClusterPool
"""A pool, wherever its workers are."""


class _Input(NamedTuple):
    """An input's columns, those of its key, and whether it only grows."""

    schema: pa.Schema
    key: tuple[str, ...]
    insert_only: bool
