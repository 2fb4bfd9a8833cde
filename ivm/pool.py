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

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
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
    CountOverflow,
    DataflowFailed,
    InsertOnly,
    OutOfMemory,
    SchemaMismatch,
    TimeCompacted,
    TimeInPast,
    UnknownCollection,
    out_of_memory,
    reason,
)
from ivm.installed.accounting import accounts
from ivm.installed.assembly import Assembly
from ivm.installed.catalog import Catalog
from ivm.installed.collection import Collection
from ivm.installed.failures import failure_of, failures, failures_from, overflowed, together
from ivm.installed.forecast import forecast
from ivm.installed.holds import Hold, Holds
from ivm.installed.pieces import Index, Piece
from ivm.installed.row_errors import RowErrors, drained
from ivm.memory.process import available_bytes as available_bytes
from ivm.physical.text import plan_text
from ivm.planner.cache import Plans
from ivm.results import ArrangementInfo, Deltas, Forecast, Found, Installed, Snapshot
from ivm.rows.format import row_format, string_words
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.runtime.bounds import MOST, Bounds
from ivm.runtime.export import SealedBatch, sealed
from ivm.runtime.feed import Intake
from ivm.runtime.hydration import TIMES_AT_ONCE, Hydration, catch_up, is_little
from ivm.runtime.readers import drain, snapshot
from ivm.runtime.schedule import Schedule, StageFailed
from ivm.runtime.string_gc import sweep
from ivm.threads.locks import Both, Gate, Lock

FIRST_SWEEP = 16 << 20  # bytes of strings


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
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: at least one is needed")
        self._shards = workers
        self._changing = Lock()  # held by one that adds or drops collections
        self._gate = Gate()  # held during a step, and while anything is looked up
        self._standing = Both(self._changing, self._gate)
        self._interner = Interner()
        self._schedule = Schedule()
        self._catalog = Catalog()
        self._collections = self._catalog.collections
        bounds = Bounds(
            min(max_rounds, MOST),
            min(max_updates, MOST),
            min(max_recursion_bytes, MOST),
            min(max_process_bytes, MOST),
            max_recursion_seconds,
        )
        self._plans = Plans(self._catalog, workers, self._interner, bounds)
        self._row_errors = RowErrors(self._interner)
        self._holds = Holds()
        self._frontier = 0
        self._sweep_at = FIRST_SWEEP

    @property
    def frontier(self) -> int:
        """The frontier: every time below it is complete; the pool starts at 0."""
        return self._frontier

    @property
    def names(self) -> frozenset[str]:
        """The names of all inputs and dataflows."""
        return frozenset(self._collections)

    @property
    def string_bytes(self) -> int:
        """The bytes of the strings longer than seven bytes, which all arrangements share."""
        return self._interner.bytes

    # --- inputs ---

    def create_input(
        self, name: str, schema: pa.Schema, key: Sequence[str], *, insert_only: bool = False
    ) -> None:
        """Declare an input and arrange it by its primary key `key`.

        Nothing can be deleted from an `insert_only` input, and what depends on such inputs alone
        is cheaper: distinct rows, and recursion. Raises DuplicateName, Unsupported; SchemaMismatch
        for a key that is not among the columns, and for columns or key columns that are repeated.
        """
        with self._standing:
            self._catalog.refuse_name(name)
            try:
                planned = self._plans.of_input(name, schema, key)
                built = Assembly(planned.plan, name, (), self._shards, self._interner, 0)
                intake = Intake(built.inputs, planned.layout, self._interner)
                collection = Collection(
                    name,
                    built,
                    planned.rows,
                    planned.node,
                    intake=intake,
                    arriving=planned.arriving,
                    insert_only=insert_only,
                )
                self._schedule.add(built.stages)
                self._catalog.add(collection, built)
            except MemoryError as shortage:
                raise out_of_memory(f"input {name!r}", shortage) from shortage

    def drop_input(self, name: str) -> None:
        """Forget an input and its arrangements (raises UnknownCollection, InUse)."""
        with self._standing:
            self._catalog.find_input(name)
            self._catalog.refuse_in_use(name)
            self._remove(name)

    def feed(
        self,
        name: str,
        rows: pa.RecordBatch,
        diffs: NDArray[np.int64],
        times: NDArray[np.uint64] | int,
    ) -> None:
        """Queue updates of an input: `rows` has its columns, in their order and of their types.

        Row `i` changes by `diffs[i]` copies (int64) at `times[i]` (uint64), or all at one time; no
        time may lie below the frontier. The rows are copied before the call returns.

        Raises UnknownCollection, SchemaMismatch, InvalidTime, TimeInPast, InsertOnly; then nothing
        is queued.
        """
        with self._gate:
            collection = self._catalog.find_input(name)
            assert collection.intake is not None
            if not isinstance(rows, pa.RecordBatch):
                raise SchemaMismatch(f"input {name!r} takes a RecordBatch, not {type(rows)}")
            count = rows.num_rows
            when, earliest = times_of_rows(times, count)
            each = diffs_of_rows(diffs, count)
            if earliest < self._frontier:
                raise TimeInPast(
                    f"time {earliest} of input {name!r} is behind the frontier {self._frontier}"
                )
            if collection.insert_only and np.min(each, initial=0) < 0:
                raise InsertOnly(f"input {name!r} only grows: a diff is {np.min(each)}")
            try:
                collection.intake.feed(rows, when, each)
            except MemoryError as shortage:
                raise out_of_memory(f"input {name!r}", shortage) from shortage

    def batches(self, name: str) -> list[SealedBatch]:
        """The batches that hold an input as of the last completed time: their sum is its rows.

        Nothing is copied, and any thread may read them beside the pool. Raises UnknownCollection.
        """
        with self._gate:
            collection = self._catalog.find_input(name)
            index = collection.first_index()[1]
            return sealed(index.trace, index.shape.restored, collection.layout, self._interner)

    # --- running ---

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier`: run all dataflows on the updates that were fed.

        Raises TimeInPast, InvalidTime, and DataflowFailed with the dataflows that cannot be kept up
        to date, each with its reason: NoFixedPoint if they did not converge, CountOverflow if a
        count left 64 bits. They are dropped, with those that read them; all others are complete.
        """
        with self._gate:
            frontier = one_time(frontier, LAST_TIME + 1)
            if frontier < self._frontier:
                raise TimeInPast(f"frontier {frontier} is behind the frontier {self._frontier}")
            if frontier == self._frontier:
                return
            failed: list[DataflowFailed] = []
            try:
                while self._frontier < frontier:
                    if (failure := self._step(frontier)) is not None:
                        failed.append(failure)
            except MemoryError as shortage:
                where = self._where(shortage, self._catalog.living)
                self._gate.failure = f"a step did not complete: {where}"
                raise OutOfMemory(self._gate.failure) from shortage
            except BaseException as error:  # an interrupt, or an error that is not foreseen
                self._gate.failure = f"a step did not complete: {error!r}"
                raise
            if failed:
                raise together(failed)

    def _step(self, frontier: int) -> DataflowFailed | None:
        """Complete as many times below `frontier` as are worth doing together.

        The dataflows that cannot be kept up to date are dropped, as the error says.
        """
        upper = (
            self._schedule.cut(TIMES_AT_ONCE, frontier) if self._schedule.recursive else frontier
        )
        self._schedule.run(self._frontier, upper)
        self._frontier = upper
        failed = self._settle_troubles() if self._schedule.troubled else None
        if self._interner.bytes >= self._sweep_at:
            self._release_strings()
        self._schedule.publish(upper - 1)
        return failed

    def _settle_troubles(self) -> DataflowFailed | None:
        """Hand errors of rows to the dataflows, and drop those that failed."""
        self._row_errors.keep_from(self._holds.earliest)
        for piece in self._catalog.living:
            self._row_errors.take(piece, self._collections.values())
        failed = failures(self._collections)
        for name in failed.reasons if failed is not None else ():
            self._remove(name)
        return failed

    def _where(self, shortage: MemoryError, pieces: Iterable[Piece]) -> str:
        """The part that memory was too short for: its arrangement or dataflow, and the reason."""
        stage = shortage.stage if isinstance(shortage, StageFailed) else None
        names = [piece.name for piece in pieces if stage in piece.stages]
        return f"{', '.join(names) or 'the end of a step'}: {reason(shortage)}"

    def _release_strings(self) -> None:
        """Give back unused strings, until there are twice, or if few were four times, the bytes."""
        held, inputs, captures = self._interner.bytes, [], []
        for collection in self._collections.values():
            types, form = collection.schema.types, row_format(collection.schema)
            strings = string_words(types, collection.arriving or form)
            if collection.intake is not None:
                inputs += [(shard, strings) for shard in collection.intake.inputs]
            captures += [(shard, string_words(types, form)) for shard in collection.captures]
        traces = [trace for piece in self._catalog.living for trace in piece.traces]
        groups = [table for piece in self._catalog.living for table in piece.groups]
        curves = [histories for piece in self._catalog.living for histories in piece.curves]
        with suppress(MemoryError):  # then they stay until the next step
            if sweep(self._interner, traces, groups, curves, inputs, captures):
                left = self._interner.bytes
                self._sweep_at = max((4 if 4 * left > 3 * held else 2) * left, FIRST_SWEEP)

    # --- dataflows ---

    def install(self, name: str, node: Node, key: Sequence[str] | None) -> Installed:
        """Maintain `node` as collection `name`, arranged for look-ups by the columns `key`.

        Without a key (None) its changes alone are kept, until they are drained: no memory holds its
        rows, and neither readers nor other dataflows can read them.

        It is hydrated from existing arrangements before the call returns; other threads may
        complete times meanwhile, unless it is known to put out little. Its first deltas are a
        snapshot as of `frontier - 1` of when the call began. Raises DuplicateName,
        UnknownCollection, SchemaMismatch, NotIndexed, Unsupported, NoFixedPoint, CountOverflow;
        then nothing is changed.
        """
        with self._changing:
            try:
                return self._install(name, node, key)
            except CountOverflow:
                # Copies that came and went may count at once in it, until batches are merged.
                if not self._compact_sources(name, node, key):
                    raise
                return self._install(name, node, key)

    def _compact_sources(self, name: str, node: Node, key: Sequence[str] | None) -> bool:
        with self._gate:
            _, found = self._plans.of_dataflow(name, node, key)
            last = max(self._frontier - 1, 0)
            compacted = [index.trace.compact(last) for _, index in found]
            self._schedule.publish_all()
            return any(compacted)

    def _install(self, name: str, node: Node, key: Sequence[str] | None) -> Installed:
        try:
            with self._gate:
                self._catalog.refuse_name(name)
                planned, found = self._plans.of_dataflow(name, node, key)
                for piece, _ in found:
                    if (cause := piece.failure) is not None:
                        raise failure_of(name, cause)
                plan, now = planned.plan, max(self._frontier - 1, 0)
                built = Assembly(plan, name, found, self._shards, self._interner, now)
                collection = Collection(
                    name,
                    built,
                    planned.rows,
                    planned.source(name),
                    reads=planned.reads,
                    insert_only=plan.only_grows,
                )
                if self._frontier == 0:
                    self._schedule.add(built.stages)
                    return self._attach(built, collection)
                if plan.foreseeable and is_little(built.stages, built.readers):
                    self._catch_up(name, built)
                    return self._attach(built, collection)
                hydration = Hydration(built.stages, built.readers, built.shared, self._frontier)
                self._row_errors.come(collection, now)
                self._interner.open_snapshot()  # no string may go that only the new stages hold
            return self._hydrate(built, collection, hydration)
        except StageFailed as shortage:
            raise OutOfMemory(self._where(shortage, built.pieces)) from shortage
        except MemoryError as shortage:
            raise out_of_memory(f"dataflow {name!r}", shortage) from shortage

    def _catch_up(self, name: str, built: Assembly) -> None:
        """Let the pool run new stages, which have little to catch up with, between two steps."""
        try:
            self._schedule.add(built.stages)
            catch_up(self._schedule, built.stages, built.readers, self._frontier)
            self._refuse_failed(name, built)
            self._schedule.publish(self._frontier - 1)
        except BaseException:
            self._schedule.remove(built.stages)
            raise

    def _hydrate(self, built: Assembly, collection: Collection, hydration: Hydration) -> Installed:
        """Catch up while the pool goes on, then belong to it; closes the snapshot of strings."""
        try:
            hydration.begin()
            while True:
                with self._gate:
                    little = hydration.take(self._frontier)
                    if little:
                        hydration.go_on()
                        self._refuse_failed(collection.name, built)
                        hydration.attach()
                        self._refuse_lost(collection.name, built)
                        self._schedule.add(built.stages)
                        return self._attach(built, collection)
                hydration.go_on()
                self._refuse_failed(collection.name, built)
        finally:
            self._row_errors.leave(collection)
            self._interner.close_snapshot()

    def _refuse_failed(self, name: str, built: Assembly) -> None:
        if (cause := built.failure) is not None:
            raise failure_of(name, cause)

    def _refuse_lost(self, name: str, built: Assembly) -> None:
        if not self._catalog.has(built.found):
            raise UnknownCollection(
                f"a collection that {name!r} reads was dropped, since it failed. Install "
                f"{name!r} again over collections that are there"
            )

    def _attach(self, built: Assembly, collection: Collection) -> Installed:
        """Let others find a new dataflow's arrangements; the pool runs its stages already."""
        try:
            self._catalog.add(collection, built)
            last = max(self._frontier - 1, 0)
            if built.plan.fallible or self._row_errors.standing:
                self._row_errors.begin(collection, built.pieces, last, self._collections.values())
        except BaseException:
            self._schedule.remove(built.stages)
            self._remove(collection.name)
            raise
        return built.installed

    def drop(self, name: str) -> None:
        """Stop a dataflow and free state that only it used (raises UnknownCollection, InUse)."""
        with self._standing:
            self._catalog.find_dataflow(name)
            self._catalog.refuse_in_use(name)
            self._remove(name)

    def _remove(self, name: str) -> None:
        if self._holds.all:
            self._holds.end(name)
        unused = self._catalog.remove(name)
        for piece in unused:
            self._schedule.remove(piece.stages)
            if piece.plan.strings:
                self._sweep_at = FIRST_SWEEP  # the next step releases what only this used
        if self._row_errors.standing:
            self._row_errors.forget(unused)

    def drain(self, name: str) -> Deltas:
        """Take the deltas of a dataflow since the last call, or since it was installed.

        Raises UnknownCollection, and CountOverflow where copies of a row are more than 64 bits
        count: then it is dropped, with those that read it.
        """
        with self._gate:
            collection = self._catalog.find_dataflow(name)
            try:
                rows, times, diffs = drain(collection.captures, collection.layout, self._interner)
                return Deltas(rows, times, diffs, *drained(collection))
            except MemoryError as shortage:
                raise out_of_memory(f"deltas of {name!r}", shortage) from shortage
            except OverflowError as error:
                failed = failures_from(name, self._collections)
                for each in failed.reasons:
                    self._remove(each)
                raise failed from error

    # --- readers ---

    def hold(self, name: str, time: int | None = None) -> Hold:
        """Keep an input or dataflow readable as of each time from `time` on (None: the last one).

        Without a hold only the last completed time is. Raises UnknownCollection, NotIndexed,
        InvalidTime, and TimeCompacted for an earlier time, unless another hold keeps that.
        """
        with self._gate:
            collection = self._catalog.find(name)
            collection.first_index()
            last = max(self._frontier - 1, 0)
            wanted = last if time is None else one_time(time)
            indexes = [index for _, index in collection.indexes]
            try:
                hold = self._holds.new(name, wanted, last, indexes)
                self._row_errors.keep_from(self._holds.earliest)
            except MemoryError as shortage:
                raise out_of_memory(f"a hold of {name!r}", shortage) from shortage
            return hold

    def peek(self, name: str, key: Mapping[str, object], *, as_of: int | None = None) -> Snapshot:
        """The rows of an input or dataflow with these column values, at the last completed time.

        Uses the arrangement whose key is exactly these columns. Raises UnknownCollection,
        SchemaMismatch for a value of another type, NotIndexed naming the keys that there are.

        With `as_of` the rows at that time: raises InvalidTime, TimeIncomplete for one that is not
        completed yet, TimeCompacted for one before the last that no `hold` keeps.
        """
        collection = self._catalog.find(name)
        if not isinstance(key, Mapping):
            raise SchemaMismatch(f"a key is a mapping of columns to values, not {key!r}")
        index = collection.index_on(key)
        return self._read(collection, index, [key[column] for column in index.key_names], as_of)

    def look_up(self, name: str, keys: pa.RecordBatch) -> Found:
        """The rows of an input or dataflow with each of many `keys`; else as `peek`."""
        collection = self._catalog.find(name)
        if not isinstance(keys, pa.RecordBatch):
            raise SchemaMismatch(f"keys are a RecordBatch, not a {type(keys).__name__}")
        names = keys.schema.names
        if len(set(names)) < len(names):
            raise SchemaMismatch(f"keys with a column twice: {', '.join(names)}")
        index = collection.index_on(names)
        _refuse_overflow(collection)
        try:
            return index.look_up(keys, collection.layout, self._interner)
        except MemoryError as shortage:
            raise out_of_memory(f"a look-up in {name!r}", shortage) from shortage
        except OverflowError as error:
            raise overflowed(name) from error
        finally:
            self._release_what_was_sought()

    def scan(self, name: str, *, as_of: int | None = None) -> Snapshot:
        """All rows of an input or dataflow (raises as `peek` does)."""
        collection = self._catalog.find(name)
        return self._read(collection, collection.first_index()[1], None, as_of)

    def _read(
        self, collection: Collection, index: Index, values: list[object] | None, as_of: int | None
    ) -> Snapshot:
        wanted = None if as_of is None else one_time(as_of)
        _refuse_overflow(collection)
        try:
            rows, counts, last = snapshot(
                index.trace,
                self._schedule,
                index.shape.restored,
                collection.layout,
                self._interner,
                values,
                Layout(index.key_schema),
                wanted,
            )
        except MemoryError as shortage:
            raise out_of_memory(f"a look-up in {collection.name!r}", shortage) from shortage
        except OverflowError as error:
            raise overflowed(collection.name) from error
        finally:
            self._release_what_was_sought()
        errors = self._row_errors.counted(collection, wanted)
        # Only now: a hold that is there afterwards was there when the batches were taken.
        if wanted is not None and wanted < last and not self._holds.cover(index, wanted):
            raise TimeCompacted(
                f"time {wanted} of {collection.name!r} is not kept for its arrangement by"
                f" ({', '.join(index.key_names)}): without a hold only the last one is, {last}"
            )
        return Snapshot(
            (None if last < 0 else last) if wanted is None else wanted, rows, counts, errors
        )

    def _release_what_was_sought(self) -> None:
        """Release strings once they are many: those that are looked for are kept like others.

        A step under way, or another reader, will do so.
        """
        if self._interner.bytes < self._sweep_at or self._interner.snapshots > 0:
            return
        if self._gate.try_enter():
            try:
                self._release_strings()
            finally:
                self._gate.leave()

    def arrangements(self) -> list[ArrangementInfo]:
        """Accounts of every arrangement and every other state of dataflows, with their readers.

        State of an operator is named by its kind, as in `reached[node] (known rows)`.
        """
        return accounts(list(self._catalog.living), list(self._collections.values()))

    def explain(self, node: Node, key: Sequence[str] | None) -> Forecast:
        """The arrangements that `install` would reuse and create, with estimates, without doing so.

        Raises UnknownCollection, SchemaMismatch, NotIndexed, Unsupported.
        """
        return recursing(node, lambda: self._explain(node, key))

    def _explain(self, node: Node, key: Sequence[str] | None) -> Forecast:
        check(node)
        wanted = node
        if key is not None:
            names = key_names("the view", key)
            wanted = Arrange(node, key_positions("the view", node.schema, names))
        return forecast(wanted, self._catalog.arrangements, self._catalog.find)

    def plan_text(self, node: Node, key: Sequence[str] | None) -> str:
        """The physical plan that `install` would build now, as text: its stages, by arrangement.

        Raises UnknownCollection, SchemaMismatch, NotIndexed, Unsupported; OutOfMemory.
        """
        with self._gate:
            try:
                planned, found = self._plans.of_dataflow("the view", node, key)
                return plan_text(planned.plan, [piece.name for piece, _ in found])
            except MemoryError as shortage:
                raise out_of_memory("a plan", shortage) from shortage


def _refuse_overflow(collection: Collection) -> None:
    """Refuse to read an input whose counts overflowed: it stays where a dataflow is dropped."""
    if collection.intake is not None and collection.piece.failure is not None:
        raise overflowed(collection.name)
