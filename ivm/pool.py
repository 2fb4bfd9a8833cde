"""A pool runs dataflows: it takes updates of inputs and keeps every result exact.

It is the engine's face for `views`, `connectors` and `api`, and holds inputs, dataflows, and the
arrangements that they share. Time is one for all of them:
`advance` completes every time below a frontier for every collection, so that readers always see
one consistent cut.

>>> from ivm.dataflow.nodes import Get
>>> pool, schema = Pool(workers=1), pa.schema([pa.field("id", pa.int64(), nullable=False)])
>>> pool.create_input("orders", schema, ["id"])
>>> _ = pool.install("copy", Get("orders", schema), key=["id"])
>>> pool.feed("orders", pa.record_batch([[7, 8]], schema=schema), times=0, diffs=np.array([1, 1]))
>>> pool.advance(1)
>>> pool.peek("copy", {"id": 7}).counts.tolist()
[1]
"""

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.dataflow.arguments import (
    LAST_TIME,
    diffs_of_rows,
    key_names,
    key_positions,
    one_time,
    times_of_rows,
)
from ivm.dataflow.nodes import Arrange, Node
from ivm.dataflow.traversal import recursing
from ivm.dataflow.validate import check
from ivm.errors import (
    InsertOnly,
    SchemaMismatch,
    TimeInPast,
    out_of_memory,
)
from ivm.installed.accounting import accounts
from ivm.installed.assembly import Assembly
from ivm.installed.collection import Collection
from ivm.installed.core import Core
from ivm.installed.failures import failures_from
from ivm.installed.forecast import forecast, records
from ivm.installed.holds import Hold
from ivm.installed.operators import operators, spent
from ivm.installed.reads import Reads
from ivm.installed.row_errors import drained
from ivm.installed.steps import Steps
from ivm.installer import Installer
from ivm.memory.process import available_bytes as available_bytes
from ivm.operators.base.budget import Budget as Budget
from ivm.operators.base.mesh import Mesh
from ivm.physical.text import plan_text
from ivm.planner.cache import Plans
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
from ivm.runtime.bounds import MOST, Bounds
from ivm.runtime.export import SealedBatch, sealed
from ivm.runtime.feed import Intake
from ivm.runtime.readers import drain


class Pool:
    """Maintains dataflows over inputs with a team of workers; safe to call from several threads.

    >>> from ivm.dataflow.aggregates import Aggregate
    >>> from ivm.dataflow.nodes import Get, Reduce
    >>> int64 = pa.int64()
    >>> orders = pa.schema([pa.field(n, int64, nullable=False) for n in ("id", "customer")])
    >>> count = Aggregate("count", None, "n", int64, nullable=False)
    >>> pool = Pool()
    >>> pool.create_input("orders", orders, key=["id"])
    >>> pool.install("per_customer", Reduce(Get("orders", orders), (1,), (count,)), ["customer"])
    Installed(reused=('orders[id]',), created=('per_customer[customer]',))
    >>> rows = pa.record_batch([[1, 2], [7, 7]], schema=orders)
    >>> pool.feed("orders", rows, diffs=np.array([1, 1]), times=0)
    >>> pool.advance(1)
    >>> pool.peek("per_customer", {"customer": 7}).rows.to_pylist()
    [{'customer': 7, 'n': 2}]
    >>> pool.feed("orders", rows.slice(0, 1), diffs=np.array([-1]), times=1)
    >>> pool.advance(2)
    >>> deltas = pool.drain("per_customer")
    >>> list(zip(deltas.rows["n"].to_pylist(), deltas.times.tolist(), deltas.diffs.tolist()))
    [(2, 0, 1), (2, 1, -1), (1, 1, 1)]

    `workers` threads share the work of large steps, and of many rows that are fed. `feed`,
    `advance` and `drain` exclude one another, and so do `install` and the calls that create and
    drop; a dataflow is hydrated beside steps, unless it puts out little. `peek`, `look_up`, `scan`
    and `arrangements` run beside all and see the last completed frontier. A recursion may take
    `max_rounds` rounds of a step, and in them `max_updates` updates of its operators' inputs, and
    `max_recursion_seconds`; it may hold `max_recursion_bytes`, and may not grow once the process
    has `max_process_bytes` in memory.

    A pool with a `mesh` is one member of a cluster (`ivm.cluster`): it has one worker, and the rows
    that it owns of each collection. For what goes on beside steps members meet over `beside`.

    Where memory is short a call raises OutOfMemory and changes nothing; in `advance` that is not
    possible: after it only readers are served, every other call raises PoolFailed. The same holds
    for an interrupt.
    """

    def __init__(
        self,
        workers: int = 1,
        max_rounds: int = 10_000,
        max_updates: int = 2_000_000_000,
        *,
        max_recursion_bytes: int = MOST,
        max_process_bytes: int = MOST,
        max_recursion_seconds: float = inf,
        mesh: Mesh | None = None,
        beside: Mesh | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least one is needed")
        if mesh is not None and workers > 1:
            raise ValueError(f"workers is {workers}: a member of a cluster has one")
        self._shards = workers
        self._core = core = Core(mesh, beside)
        bounds = Bounds(
            min(max_rounds, MOST),
            min(max_updates, MOST),
            min(max_recursion_bytes, MOST),
            min(max_process_bytes, MOST),
            max_recursion_seconds,
        )
        self._plans = Plans(core.catalog, workers, core.interner, bounds, mesh)
        self._installer = Installer(core, self._plans, workers)
        self._reads = Reads(core)
        self._steps = Steps(core)

    @property
    def frontier(self) -> int:
        """The frontier: every time below it is complete; the pool starts at 0."""
        return self._core.frontier

    @property
    def names(self) -> frozenset[str]:
        """The names of all inputs and dataflows.

        >>> sorted(pool.names)
        ['copy', 'orders']
        """
        return frozenset(self._core.catalog.collections)

    @property
    def string_bytes(self) -> int:
        """The bytes of the strings longer than seven bytes, which all arrangements share."""
        return self._core.interner.bytes

    # --- inputs ---

    def create_input(
        self, name: str, schema: pa.Schema, key: Sequence[str], *, insert_only: bool = False
    ) -> None:
        """Declare an input, whose rows `feed` changes, and arrange it by its primary key.

        `schema` has its columns in order, each with an Arrow type and nullability; `key` names
        those by which `peek` finds its rows. Nothing can be deleted from an `insert_only` input,
        and what depends on such inputs alone is cheaper: distinct rows, and recursion.

        Raises DuplicateName; Unsupported for a type that rows cannot hold; SchemaMismatch for a key
        that is not among the columns, and for columns or key columns that are repeated.

        >>> pool.create_input("events", schema, key=["id"], insert_only=True)
        >>> pool.create_input("events", schema, key=["id"])
        Traceback (most recent call last):
        ivm.errors.DuplicateName: 'events' is an input already: drop it first or choose another name
        """
        core = self._core
        with core.standing:
            core.catalog.refuse_name(name)
            try:
                planned = self._plans.of_input(name, schema, key)
                built = Assembly(planned.plan, name, (), self._shards, core.interner, 0)
                intake = Intake(built.inputs, planned.layout, core.interner)
                collection = Collection(
                    name,
                    built,
                    planned.rows,
                    planned.node,
                    intake=intake,
                    arriving=planned.arriving,
                    insert_only=insert_only,
                )
                core.schedule.add(built.stages)
                core.catalog.add(collection, built)
            except MemoryError as shortage:
                raise out_of_memory(f"input {name!r}", shortage) from shortage

    def drop_input(self, name: str) -> None:
        """Forget an input, its rows and its arrangements.

        Raises UnknownCollection, and InUse while a dataflow reads it.

        >>> pool.drop("copy")
        >>> pool.drop_input("orders")
        >>> pool.names
        frozenset()
        """
        core = self._core
        with core.standing:
            core.catalog.find_input(name)
            core.catalog.refuse_in_use(name)
            core.remove(name)

    def feed(
        self,
        name: str,
        rows: pa.RecordBatch,
        diffs: NDArray[np.int64],
        times: NDArray[np.uint64] | int,
    ) -> None:
        """Queue n changes of an input's rows, which `advance` then carries out.

        `rows` has n rows of the input's columns, in their order and of their types. Row `i` changes
        by `diffs[i]` copies (int64, shape (n,)) at the logical time `times[i]` (uint64, shape
        (n,)), or all at one time. No time may lie below the frontier. The rows are copied before
        the call returns.

        Raises UnknownCollection, SchemaMismatch, InvalidTime, TimeInPast, InsertOnly; then nothing
        is queued.

        >>> batch = pa.record_batch([[8, 9]], schema=schema)
        >>> pool.feed("orders", batch, diffs=np.array([-1, 1]), times=1)
        >>> pool.advance(2)
        >>> pool.scan("copy").rows.to_pylist()
        [{'id': 7}, {'id': 9}]
        """
        core = self._core
        with core.gate:
            collection = core.catalog.find_input(name)
            assert collection.intake is not None
            if not isinstance(rows, pa.RecordBatch):
                raise SchemaMismatch(f"input {name!r} takes a RecordBatch, not {type(rows)}")
            count = rows.num_rows
            when, earliest = times_of_rows(times, count)
            each = diffs_of_rows(diffs, count)
            if earliest < core.frontier:
                raise TimeInPast(
                    f"time {earliest} of input {name!r} is behind the frontier {core.frontier}"
                )
            if collection.insert_only and np.min(each, initial=0) < 0:
                raise InsertOnly(f"input {name!r} only grows: a diff is {np.min(each)}")
            try:
                collection.intake.feed(rows, when, each)
            except MemoryError as shortage:
                raise out_of_memory(f"input {name!r}", shortage) from shortage

    def batches(self, name: str) -> list[SealedBatch]:
        """The batches that hold an input as of the last completed time: their sum is its rows.

        Nothing is copied, and any thread may read them beside the pool. While one is there no
        string of the pool is released. Raises UnknownCollection.

        >>> (batch,) = pool.batches("orders")
        >>> [(rows.to_pylist(), diffs) for rows, diffs in batch.rows(at_once=1000)]
        [([{'id': 7}, {'id': 8}], array([1, 1]))]
        """
        core = self._core
        with core.gate:
            collection = core.catalog.find_input(name)
            index = collection.first_index()[1]
            return sealed(index.trace, index.shape.restored, collection.layout, core.interner)

    # --- running ---

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier`: run all dataflows on the updates that were fed.

        Afterwards readers see the collections as of `frontier - 1`. The present frontier changes
        nothing.

        Raises TimeInPast, InvalidTime, and DataflowFailed with the dataflows that cannot be kept up
        to date, each with its reason: NoFixedPoint if they did not converge, CountOverflow if a
        count left 64 bits. They are dropped, with those that read them; all others are complete.

        >>> pool.advance(5)
        >>> pool.frontier, pool.scan("copy").time
        (5, 4)
        """
        with self._core.gate:
            self._steps.advance(one_time(frontier, LAST_TIME + 1))

    # --- dataflows ---

    def install(
        self,
        name: str,
        node: Node,
        key: Sequence[str] | None,
        *,
        budget: Budget | None = None,
    ) -> Installed:
        """Maintain `node` as collection `name`, arranged for look-ups by the columns `key`.

        Without a key (None) its changes alone are kept, until they are drained: no memory holds its
        rows, and neither readers nor other dataflows can read them.

        It is hydrated from existing arrangements before the call returns; other threads may
        complete times meanwhile, unless it is known to put out little. Its first deltas are a
        snapshot as of `frontier - 1` of when the call began; what that takes is bounded by the
        `budget`. Raises DuplicateName, UnknownCollection, SchemaMismatch, NotIndexed, Unsupported,
        NoFixedPoint, CountOverflow, BudgetExceeded; then nothing is changed.

        >>> from ivm.dataflow.nodes import Threshold
        >>> pool.install("once", Threshold(Get("copy", schema), 1), key=["id"])
        Installed(reused=('orders[id]',), created=('once[id]',))
        >>> pool.drain("once").times.tolist()
        [0, 0]
        """
        return self._installer.install(name, node, key, budget)

    @property
    def hydrating(self) -> Hydrating | None:
        """The dataflow that an `install` hydrates beside steps just now, and how far it is.

        No lock is taken. One that puts out little is hydrated at once, and not told.

        >>> pool.hydrating is None
        True
        """
        return self._installer.hydrating

    def drop(self, name: str) -> None:
        """Stop a dataflow, and free the arrangements and other state that only it used.

        Raises UnknownCollection, and InUse while another dataflow reads it.

        >>> pool.drop("copy")
        >>> pool.peek("copy", {"id": 7})
        Traceback (most recent call last):
        ivm.errors.UnknownCollection: there is no input or dataflow 'copy'
        """
        core = self._core
        with core.standing:
            core.catalog.find_dataflow(name)
            core.catalog.refuse_in_use(name)
            core.remove(name)

    def replace(self, names: Mapping[str, str], frontier: int) -> None:
        """Let each dataflow of `names` take the name that it is mapped to, at one time.

        That time is `frontier - 1`, which is completed; nothing may have been fed for it. Whoever
        reads those names finds the former dataflows as of earlier times, which then go, and the new
        ones as of this one. A name that no dataflow has is free to be taken. What reads a former
        dataflow is to be among `names` as well; what is not goes on to read it. Raises
        UnknownCollection, and as `advance`.

        >>> _ = pool.install("other", Get("orders", schema), key=["id"])
        >>> pool.replace({"other": "copy"}, frontier=2)
        >>> sorted(pool.names), pool.scan("copy").time
        (['copy', 'orders'], 1)
        """
        core = self._core
        with core.standing, core.switches:
            for name in names:
                core.catalog.find_dataflow(name)
            self.advance(frontier)
            gone = [name for name in names.values() if name in core.catalog.collections]
            for name in gone:
                core.holds.end(name)
            core.free(core.catalog.take_over(dict(names)))

    def drain(self, name: str) -> Deltas:
        """Take the deltas of a dataflow since the last call, or since it was installed.

        Of n changes of rows `Deltas` has the rows (n of them, in the columns of the dataflow),
        times (uint64, shape (n,)) and diffs (int64, shape (n,), none of them 0), and as many of
        errors apart.

        Raises UnknownCollection, and CountOverflow where copies of a row are more than 64 bits
        count: then it is dropped, with those that read it.

        >>> deltas = pool.drain("copy")
        >>> deltas.rows.to_pylist(), deltas.times, deltas.diffs
        ([{'id': 7}, {'id': 8}], array([0, 0], dtype=uint64), array([1, 1]))
        >>> pool.drain("copy").rows.num_rows
        0
        """
        core = self._core
        with core.gate:
            collection = core.catalog.find_dataflow(name)
            try:
                rows, times, diffs = drain(collection.captures, collection.layout, core.interner)
                return Deltas(rows, times, diffs, *drained(collection))
            except MemoryError as shortage:
                raise out_of_memory(f"deltas of {name!r}", shortage) from shortage
            except OverflowError as error:
                failed = failures_from(name, core.catalog.collections)
                for each in failed.reasons:
                    core.remove(each)
                raise failed from error

    # --- readers ---

    def hold(self, name: str, time: int | None = None) -> Hold:
        """Keep an input or dataflow readable as of each time from `time` on (None: the last one).

        Without a hold only the last completed time is. The hold is a context; it costs the memory
        of what changes until it is released. Raises UnknownCollection, NotIndexed, InvalidTime, and
        TimeCompacted for an earlier time, unless another hold keeps that.

        >>> with pool.hold("copy", 0):
        ...     pool.advance(3)
        ...     pool.peek("copy", {"id": 7}, as_of=0).counts.tolist()
        [1]
        """
        with self._core.gate:
            return self._reads.hold(name, time)

    def peek(self, name: str, key: Mapping[str, object], *, as_of: int | None = None) -> Snapshot:
        """The rows of an input or dataflow with these column values, at the last completed time.

        Uses the arrangement whose key is exactly these columns; a value is of the column's type, as
        Arrow gives it to Python, or None. Raises UnknownCollection, SchemaMismatch for a value of
        another type, NotIndexed naming the keys that there are.

        With `as_of` the rows at that time: raises InvalidTime, TimeIncomplete for one that is not
        completed yet, TimeCompacted for one before the last that no `hold` keeps.

        >>> found = pool.peek("copy", {"id": 7})
        >>> found.time, found.rows.to_pylist(), found.counts, found.errors
        (0, [{'id': 7}], array([1]), 0)
        """
        return self._core.switches.steady(lambda: self._reads.peek(name, key, as_of))

    def look_up(self, name: str, keys: pa.RecordBatch) -> Found:
        """The rows of an input or dataflow with each of many keys, at the last completed time.

        `keys` has a key in each row, of the columns of one arrangement's key. Equal keys are one
        group: of m rows found `owners` has the group (int64, shape (m,)), and `order` and `starts`
        the positions of the keys of each group. Raises as `peek`.

        >>> found = pool.look_up("copy", pa.record_batch([[8, 6, 8]], schema=schema))
        >>> found.rows.to_pylist(), found.owners.tolist()
        ([{'id': 8}], [1])
        >>> found.order.tolist(), found.starts.tolist()  # the group of 6, then that of 8
        ([1, 0, 2], [0, 1, 3])
        """
        return self._core.switches.steady(lambda: self._reads.look_up(name, keys))

    def scan(self, name: str, *, as_of: int | None = None) -> Snapshot:
        """All rows of an input or dataflow, each with its count; else as `peek`.

        >>> pool.scan("copy").rows.to_pylist()
        [{'id': 7}, {'id': 8}]
        """
        return self._core.switches.steady(lambda: self._reads.scan(name, as_of))

    def arrangements(self) -> list[ArrangementInfo]:
        """Accounts of every arrangement and every other state of dataflows, with their readers.

        State of an operator is named by its kind, as in `reached[node] (known rows)`. Records are
        counted, memory is in bytes, and time in seconds.

        >>> [(info.name, info.records, info.users) for info in pool.arrangements()]
        [('orders[id]', 2, ('copy',))]
        """
        core = self._core
        return accounts(list(core.catalog.living), list(core.catalog.collections.values()))

    def arranged(self) -> frozenset[str]:
        """The names of the arrangements, without the cost of accounts.

        >>> pool.arranged()
        frozenset({'orders[id]'})
        """
        return frozenset(piece.name for piece in list(self._core.catalog.living) if piece.traces)

    def operators(self, name: str, *, shown: str | None = None) -> Operators:
        """The operators of a dataflow, with the rows, bytes and time of each, and rounds of loops.

        They have the numbers that `plan_text` gave them before the dataflow was installed, which is
        `shown` by another name if one is given. Waits for a step under way. Raises
        UnknownCollection.
        """
        core = self._core
        with core.gate:
            found = core.catalog.find_dataflow(name)
            return operators(found, core.catalog.collections.values(), shown or name)

    def spent(self, name: str) -> Spent:
        """The cost of a dataflow since it was installed, in seconds and rounds of its loops.

        Raises UnknownCollection.

        >>> pool.spent("copy").rounds
        0
        """
        return spent(self._core.catalog.find_dataflow(name))

    def explain(self, node: Node, key: Sequence[str] | None) -> Forecast:
        """The arrangements that `install` would reuse and create, with estimates, without doing so.

        The estimates are of rows and bytes, from the rows of inputs (`ivm.dataflow.selectivity`).
        Raises UnknownCollection, SchemaMismatch, NotIndexed, Unsupported.

        >>> forecast = pool.explain(Get("orders", schema), ["id"])
        >>> forecast.reused, forecast.created
        (('orders[id]',), ())
        """
        return recursing(node, lambda: self._explain(node, key))

    def _explain(self, node: Node, key: Sequence[str] | None) -> Forecast:
        check(node)
        wanted, catalog = node, self._core.catalog
        if key is not None:
            places = key_positions("the view", node.schema, key_names("the view", key))
            wanted = Arrange(node, places)
        return forecast(
            wanted, catalog.arrangements, catalog.find, lambda name: records(catalog.find(name))
        )

    def plan_text(self, node: Node, key: Sequence[str] | None) -> str:
        """The physical plan that `install` would build now, as text: its stages, by arrangement.

        Raises UnknownCollection, SchemaMismatch, NotIndexed, Unsupported; OutOfMemory.

        >>> print(pool.plan_text(Get("orders", schema), None))
        reuse orders[id]
        deliver
          #0 Flatten orders[id] to ($0)
          #1 CaptureRows #0
        """
        with self._core.gate:
            try:
                planned, found = self._plans.of_dataflow("the view", node, key)
                return plan_text(planned.plan, [piece.name for piece, _ in found])
            except MemoryError as shortage:
                raise out_of_memory("a plan", shortage) from shortage
