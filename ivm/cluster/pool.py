"""The pool of a cluster: sends each command to all members in one order, and merges the answers.

Rows that are fed go to the owners of their primary key, and rows of a dataflow lie with the owners
of the key by which it is installed. An exchange moves rows wherever a dataflow needs them by
another key (`ivm.dataflow.distribution`).
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster import merging
from ivm.cluster.lent import LentBatch, LentHold
from ivm.cluster.links import cut
from ivm.cluster.pulse import Pulse
from ivm.cluster.rendezvous import COMMANDS, PULSE, READS, Member
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

MOST_UNANSWERED = 64
"""Commands whose replies have not been read: what replies take has room in any socket."""
READ_ATTEMPTS = 20
"""How often members are asked for the same read beside steps that come between."""

_Command: TypeAlias = tuple[str, tuple[object, ...], dict[str, object]]

LOST_SECONDS = 30.0
"""The time after which a member that says nothing is given up."""


class ClusterPool:
    """A pool whose members run in other processes; its methods are those of `ivm.pool.Pool`.

    `start` gives it the members that have come; before that it knows inputs alone, which it
    declares then. The `bounds` are Pool's, of each member. Calls that change something exclude one
    another; reads go beside them, one at a time. A member that is lost, or has said nothing for
    `lost_seconds`, takes the pool with it: every call after that raises PoolFailed, and
    `when_failed` hears why. Close the pool to end its members.

    Two things differ from a pool: a dataflow catches up between two steps, however much there is,
    and without a budget.

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
        self.when_failed: Callable[[str], None] = lambda reason: None
        self._bounds = bounds
        self._lost_seconds = lost_seconds
        self._lock = Lock()
        self._reading = Lock()
        self._failing = Lock()
        self._frontier = 0
        self._inputs: dict[str, _Input] = {}
        self._failure: str | None = None
        self._closed = False
        self._members: list[Member] = []
        self._pulse: Pulse | None = None
        self._given_back: deque[tuple[int, int]] = deque()
        self._unanswered: Counter[int] = Counter()
        self._unchanged: dict[str, Deltas] = {}

    def start(self, members: Sequence[Member]) -> None:
        """Begin with these members, by number, which a `Rendezvous` has met (raises PoolFailed)."""
        with self._lock:
            self._members = list(members)
            addresses = [member.hello.entrance for member in members]
            try:
                for member in members:
                    member.links[COMMANDS].send((addresses, self._bounds))
            except OSError as error:
                raise PoolFailed(f"a member went before it was connected: {error}") from error
            links = [member.links[PULSE] for member in members]
            self._pulse = Pulse(links, self._lost_seconds, self.fail)
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
        self._closed = True
        self.fail("the cluster was closed")
        if self._pulse is not None:
            self._pulse.stop()
        with self._lock, self._reading:
            for member in self._members:
                for link in member.links.values():
                    link.close()

    @property
    def failure(self) -> str | None:
        """Why it failed, if it did."""
        return self._failure

    @property
    def is_started(self) -> bool:
        """Whether it has members."""
        return bool(self._members)

    @property
    def frontier(self) -> int:
        """The frontier: every time below it is complete."""
        return self._frontier

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids of the members on their hosts, by number."""
        return tuple(member.hello.identity.process for member in self._members)

    @property
    def names(self) -> frozenset[str]:
        """The names of all inputs and dataflows."""
        if not self._members:
            return frozenset(self._inputs)
        names: frozenset[str] = self._read_one("known")
        return names

    @property
    def string_bytes(self) -> int:
        """The bytes of the strings longer than seven bytes, of all members; see `Pool`."""
        return sum(share.string_bytes for share in self.shares())

    @property
    def hydrating(self) -> Hydrating | None:
        """None: a dataflow catches up between two steps."""
        return None

    def shares(self) -> list[merging.MemberShare]:
        """The share of each member: what its arrangements and its process hold."""
        shares = self._read_all("share") if self._members else []
        found = zip(self._members, shares, strict=True)
        return [
            merging.MemberShare(at, who.hello.identity.host, who.hello.identity.process, *share)
            for at, (who, share) in enumerate(found)
        ]

    # --- inputs ---

    def create_input(
        self, name: str, schema: pa.Schema, key: Sequence[str], *, insert_only: bool = False
    ) -> None:
        """Declare an input; see `Pool.create_input`."""
        with self._lock:
            declared = _Input(schema, tuple(key), insert_only)
            if self._members:
                self._declare(name, declared)
            self._inputs[name] = declared

    def _declare(self, name: str, declared: "_Input") -> None:
        only_grows = declared.insert_only
        self._all("create_input", name, declared.schema, declared.key, insert_only=only_grows)

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
            dealt = self._dealt(name, rows, diffs, times)
            self._values(
                self._replies_to({number: ("feed", (name, *p), {}) for number, p in dealt})
            )

    def batches(self, name: str) -> list[LentBatch]:
        """The batches that hold an input, of all members; see `Pool.batches`."""
        with self._lock:
            parts = self._all("lend_batches", name)
        return [
            LentBatch(self._rows_of, self._give_back, number, lent, len(parts))
            for number, part in enumerate(parts)
            for lent in part
        ]

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier` on all members; see `Pool.advance`."""
        with self._lock:
            wanted = one_time(frontier, LAST_TIME + 1)
            try:
                changed = self._all("step", wanted)
            except DataflowFailed:
                self._unchanged.clear()
                raise
            finally:
                if self._failure is None:
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

        It catches up between two steps, however much there is, and no `budget` ends it: members
        that one of them leaves alone would wait for it.
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
            self._unchanged.pop(name, None)
            self._all("drop", name)

    def drain(self, name: str) -> Deltas:
        """Take the deltas of a dataflow of all members; see `Pool.drain`."""
        with self._lock:
            if (nothing := self._unchanged.get(name)) is not None:
                self._refuse_failed()
                return nothing
            replies = self._replies("drain", name)
            for refusal in _refusals(replies):
                # A member drops a dataflow whose counts it finds to have overflowed; so do all.
                reasons = refusal.argument if isinstance(refusal.argument, dict) else {}
                for failed in reversed(reasons):
                    self._drop_where_it_is(failed)
            deltas = merging.deltas(self._values(replies))
            self._unchanged[name] = merging.none_of(deltas)
            return deltas

    def replace(self, names: Mapping[str, str], frontier: int) -> None:
        """Let dataflows take other names at one time; see `Pool.replace`."""
        with self._lock:
            wanted = one_time(frontier, LAST_TIME + 1)
            self._unchanged.clear()
            try:
                self._all("replace", dict(names), wanted)
            finally:
                if self._failure is None:
                    self._frontier = max(self._frontier, wanted)

    # --- readers ---

    def hold(self, name: str, time: int | None = None) -> LentHold:
        """Keep a collection readable as of each time from `time` on; see `Pool.hold`."""
        with self._lock:
            replies = self._replies("lend_hold", name, time)
            lent = [
                (number, *cast(tuple[int, int], reply.value))
                for number, reply in enumerate(replies)
                if isinstance(reply, Done)
            ]
            if _refusals(replies):
                self._given_back += [(number, hold) for number, hold, _ in lent]
            self._values(replies)
        holds = [(number, hold) for number, hold, _ in lent]
        return LentHold(name, max(at for *_, at in lent), holds, self._give_back)

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
        with self._lock:
            return merging.found(self._all("look_up", name, keys))

    def arrangements(self) -> list[ArrangementInfo]:
        """Accounts of all arrangements and states of dataflows; see `Pool.arrangements`.

        Records and bytes are those of all members together.
        """
        return merging.arrangements(self._read_all("arrangements")) if self._members else []

    def arranged(self) -> frozenset[str]:
        """The names of the arrangements; see `Pool.arranged`."""
        arranged: frozenset[str] = self._read_one("arranged")
        return arranged

    def operators(self, name: str, *, shown: str | None = None) -> Operators:
        """The operators of a dataflow, over all members; see `Pool.operators`."""
        with self._lock:
            return merging.operators(self._all("operators", name, shown=shown))

    def spent(self, name: str) -> Spent:
        """The cost of a dataflow: the seconds of all members, the rounds of one; `Pool.spent`."""
        return merging.spent(self._read_all("spent", name))

    def explain(self, node: Node, key: Sequence[str] | None) -> Forecast:
        """The forecast of an installation, over all members; see `Pool.explain`."""
        return merging.forecast(self._read_all("explain", node, key))

    def plan_text(self, node: Node, key: Sequence[str] | None) -> str:
        """The physical plan that each member would build now; see `Pool.plan_text`."""
        text: str = self._read_one("plan_text", node, key)
        return text

    def _snapshot(self, method: str, *arguments: object, as_of: int | None) -> Snapshot:
        """The rows of all members as of one time.

        A step may come between their answers; then all are asked again, and at last between two
        steps.
        """
        for _ in range(READ_ATTEMPTS):
            parts: list[Snapshot] = self._read_all(method, *arguments, as_of=as_of)
            if len({part.time for part in parts}) == 1:
                return merging.snapshot(parts)
        with self._lock:
            return merging.snapshot(self._all(method, *arguments, as_of=as_of))

    def _rows_of(self, number: int, batch: int, at_once: int) -> Any:
        """The next rows of a batch that a member has lent."""
        command: dict[int, _Command] = {number: ("lent_rows", (batch, at_once), {})}
        return self._values(self._replies_to(command, READS))[0]

    def _give_back(self, number: int, lent: int) -> None:
        """Let a member have back what it lent, with the next call; any thread may say so."""
        self._given_back.append((number, lent))

    # --- commands ---

    def _drop_where_it_is(self, name: str) -> None:
        for number in self._numbers:
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
        places = key_positions(name, declared.schema, declared.key)
        owners = owners_of(rows, declared.schema, places, len(self._members))
        dealt = []
        for number in self._numbers:
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
        return self._values(self._replies_to({number: (method, arguments, {})}))[0]

    def _read_all(self, method: str, *arguments: object, **named: object) -> list[Any]:
        """What all members read, beside steps."""
        command = (method, arguments, named)
        return self._values(self._replies_to(dict.fromkeys(self._numbers, command), READS))

    def _read_one(self, method: str, *arguments: object) -> Any:
        """What the first member reads, of what is the same on all."""
        return self._values(self._replies_to({0: (method, arguments, {})}, READS))[0]

    def _replies(self, method: str, *arguments: object, **named: object) -> list[Reply]:
        """The replies to a command to all members."""
        return self._replies_to(dict.fromkeys(self._numbers, (method, arguments, named)))

    @property
    def _numbers(self) -> range:
        return range(len(self._members))

    def _replies_to(self, commands: Mapping[int, _Command], kind: str = COMMANDS) -> list[Reply]:
        """The replies to the command of each of these members, to all of which it is sent first.

        Raises Unsupported for what cannot be sent to any.
        """
        self._refuse_failed()
        sent = _pickled(commands)
        if kind == COMMANDS:  # whose caller has the lock
            return self._exchanged(sent, kind)
        with self._reading:
            self._send_back()
            return self._exchanged(sent, kind)

    def _exchanged(self, commands: Mapping[int, Any], kind: str) -> list[Reply]:
        self._refuse_failed()
        try:
            for number, command in commands.items():
                with suppress(OSError):  # the member has gone: there is no reply, as is told then
                    self._members[number].links[kind].send_bytes(command)
            earlier = [r for at in commands if kind == COMMANDS for r in self._answers_of(at)]
            replies = [self._receive(number, kind) for number in commands]
        except BaseException as error:  # an interrupt: the next reply would be taken for another
            self.fail(f"a call to the members of the cluster did not end: {error!r}")
            raise
        self._note_failure([*earlier, *replies])
        if refusals := _refusals(earlier):
            raise _together(refusals)
        return replies

    def _post(self, number: int, command: _Command) -> None:
        """Send a command whose reply is read with that of a later one."""
        self._refuse_failed()
        sent = _pickled({number: command})[number]
        with suppress(OSError):  # the member has gone, as the next reply tells
            self._members[number].links[COMMANDS].send_bytes(sent)
        self._unanswered[number] += 1
        if self._unanswered[number] >= MOST_UNANSWERED:
            self._values(self._answers_of(number))

    def _answers_of(self, number: int) -> list[Reply]:
        """The replies to what was posted to a member."""
        return [self._receive(number, COMMANDS) for _ in range(self._unanswered.pop(number, 0))]

    def _send_back(self) -> None:
        """Let members have back what is not used any more."""
        while self._given_back:
            number, lent = self._given_back.popleft()
            self._exchanged(_pickled({number: ("give_back", ([lent],), {})}), READS)

    def _values(self, replies: Sequence[Reply]) -> list[Any]:
        self._note_failure(replies)
        self._refuse_failed()
        if refusals := _refusals(replies):
            raise _together(refusals)
        return [reply.value for reply in replies if isinstance(reply, Done)]

    def _receive(self, number: int, kind: str) -> Reply:
        try:
            reply: Reply = self._members[number].links[kind].recv()
        except (EOFError, OSError) as error:
            return broken(ConnectionError(f"member {number} has gone: {error}"))
        return reply

    def _note_failure(self, replies: Sequence[Reply]) -> None:
        for refusal in _refusals(replies):
            if refusal.kind == PoolFailed.__name__:
                self.fail(str(refusal.argument))

    def fail(self, reason: str) -> None:
        """Be failed from now on, unless it is so already: nobody waits for a member any more."""
        with self._failing:
            if self._failure is not None:
                return
            self._failure = reason
        for member in self._members:
            for link in member.links.values():
                cut(link)
        if not self._closed:
            self.when_failed(reason)

    def _refuse_failed(self) -> None:
        if self._failure is not None:
            raise PoolFailed(self._failure)
        if not self._members:
            raise PoolFailed("the cluster has no members yet")


AnyPool: TypeAlias = Pool | ClusterPool
"""A pool, wherever its workers are."""


class _Input(NamedTuple):
    """An input's columns, those of its key, and whether it only grows."""

    schema: pa.Schema
    key: tuple[str, ...]
    insert_only: bool


def _pickled(commands: Mapping[int, _Command]) -> dict[int, Any]:
    """The bytes of each command; equal ones are made once. Raises Unsupported."""
    made: dict[int, Any] = {}
    try:
        for command in commands.values():
            if id(command) not in made:
                made[id(command)] = ForkingPickler.dumps(command)
    except (PicklingError, AttributeError, TypeError) as error:
        raise Unsupported(
            f"a cluster's processes cannot be sent this: {error}. Define functions at the top "
            "of a module that all processes can import"
        ) from error
    return {number: made[id(command)] for number, command in commands.items()}


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
