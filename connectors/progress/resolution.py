"""Resolution: divides one cut into logical times, by batch, record or transaction.

By `resolution` of its table, all of a cut happens at one time (`batch`), each record at a time of
its own (`record`), or each transaction of the database, over all tables with that resolution
(`transaction`). A cut with n times that ends at time t has the times t - n + 1 to t. Which record
has which follows from the records of the cut alone, so a replay gives each its own again:

- first come the records of tables of resolution `record`, by table, partition and offset;
- then the transactions that end in the cut, in the order of their END events;
- everything else happens at the last of these times.

Within a partition times never fall. A record that belongs to no transaction that ends in the cut,
as one that a snapshot read, happens with the transaction before it in its partition.

Debezium writes the boundaries of transactions to a topic of their own: BEGIN, and END with the
number of records of each of the database's tables. They are read as a table that the engine
never sees (`markers`). `Resolution.ends` holds back what belongs to a transaction that is
not complete, and what stands behind it in its partitions. Transactions go in the order of
their END events, which is that of commits, and so the order in which their records stand in every
partition. A cut therefore holds transactions as wholes, with their END events.
"""

import time as clock
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from connectors.decode import DIFF, OFFSET, TRANSACTION
from connectors.errors import TransactionIncomplete
from connectors.progress.assign import Piece
from connectors.tables.spec import TableSpec

Steps = NDArray[np.int64]
Tables = Mapping[str, TableSpec]

# What may wait for a transaction to be complete, and for how long.
HELD_RECORDS = 1_000_000
HELD_SECONDS = 60.0
# Transactions that are known to have gone, since a connector may send one again in part.
REMEMBERED = 10_000

_NAME = "transactions of {}"
_FIELDS: list[pa.Field] = [
    pa.field("id", pa.string(), nullable=False),
    pa.field("tables", pa.list_(pa.string()), nullable=False),
    pa.field("events", pa.list_(pa.int64()), nullable=False),
]


def markers(spec: TableSpec) -> TableSpec | None:
    """The table of the boundaries of transactions that `spec` needs, if any."""
    if spec.resolution != "transaction":
        return None
    assert spec.transaction_topic is not None
    return TableSpec(
        name=_NAME.format(spec.transaction_topic),
        topic=spec.transaction_topic,
        schema=pa.schema(_FIELDS),
        key=(),
        connector=spec.connector,
        connection=spec.connection,
        format=spec.format,
        envelope="transactions",
        start=spec.start
        if isinstance(spec.start, str) or "timestamp" in spec.start
        else "earliest",
        on_error="stall",
    )


def are_markers(spec: TableSpec) -> bool:
    """Whether a table is one of `markers`."""
    return spec.envelope == "transactions" and spec.name == _NAME.format(spec.topic)


def with_markers(specs: Iterable[TableSpec]) -> list[TableSpec]:
    """These tables, and those of the boundaries of their transactions, each once."""
    found = {}
    for spec in specs:
        found[spec.name] = spec
        if (boundaries := markers(spec)) is not None:
            found.setdefault(boundaries.name, boundaries)
    return list(found.values())


def companions(name: str, tables: Tables) -> frozenset[str]:
    """A table and those that have to stand still with it, so that transactions stay whole."""
    topic = _boundaries_of(tables[name])
    sharing = (n for n, spec in tables.items() if topic and _boundaries_of(spec) == topic)
    return frozenset((name, *sharing))


def _boundaries_of(spec: TableSpec) -> str | None:
    """The topic of the boundaries of a table's transactions, if it needs any."""
    return spec.topic if are_markers(spec) else spec.transaction_topic


# --- times ---


def steps(pieces: Sequence[Piece], tables: Tables) -> tuple[int, list[Steps | None]]:
    """The number of times of these pieces (sorted), and the time, from 0, of each of their updates.

    None: the last one.
    """
    found: list[Steps | None] = [None] * len(pieces)
    count = 0
    for i, piece in enumerate(pieces):
        if _resolution(piece, tables) == "record" and len(piece.updates):
            found[i] = own = count + np.cumsum(_begins(piece)) - 1
            count = int(own[-1]) + 1
    by_transaction = [i for i, p in enumerate(pieces) if _resolution(p, tables) == "transaction"]
    if by_transaction:
        count = _number(pieces, by_transaction, found, tables, count)
    return max(count, 1), found


def _number(
    pieces: Sequence[Piece],
    chosen: Sequence[int],
    found: list[Steps | None],
    tables: Tables,
    first: int,
) -> int:
    """Number transactions from `first` on, those with records here; returns the next number."""
    ended = pa.chunked_array(
        [chunk for piece in _boundaries(pieces, tables) for chunk in piece.updates["id"].chunks],
        pa.string(),
    )
    present = pa.chunked_array([_ids(pieces[i]) for i in chosen], pa.string())
    numbers = ended.filter(pc.is_in(ended, value_set=present.combine_chunks())).unique()
    reached: dict[tuple[str, int], int] = {}
    for i in chosen:
        where = pieces[i].range.table, pieces[i].range.partition
        if not len(pieces[i].updates):
            continue
        at = pc.index_in(_ids(pieces[i]), value_set=numbers).fill_null(-1)
        own = np.maximum.accumulate(np.append(reached.get(where, 0), at.to_numpy()))[1:]
        reached[where] = int(own[-1])
        found[i] = first + own
    return first + max(len(numbers), 1)


def _resolution(piece: Piece, tables: Tables) -> str:
    spec = tables.get(piece.range.table)
    return "batch" if spec is None else spec.resolution


def _begins(piece: Piece) -> NDArray[np.bool_]:
    """A mask of the updates that are the first of their record."""
    begins: NDArray[np.bool_] = np.diff(piece.updates[OFFSET].to_numpy(), prepend=-1) != 0
    return begins


def _ids(piece: Piece) -> pa.Array:
    """The transaction of each update, NULL where it has none."""
    if TRANSACTION not in piece.updates.column_names:
        return pa.nulls(len(piece.updates), pa.string())
    chunks = piece.updates[TRANSACTION].chunks
    return pa.concat_arrays(chunks) if chunks else pa.nulls(0, pa.string())


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a transaction: its place, and how many records each of its tables has."""

    id: str
    table: str
    partition: int
    offset: int
    counts: tuple[tuple[str, int], ...]

    def expected(self, topic: str) -> int:
        """The number of the transaction's records in `topic`."""
        return sum(n for name, n in self.counts if _is_of(topic, name))


@lru_cache
def _is_of(topic: str, table: str) -> bool:
    """Whether a topic is that of a table of the database: it ends with the table's name."""
    return topic == table or topic.endswith(f".{table}")


def _boundaries(pieces: Sequence[Piece], tables: Tables) -> Iterator[Piece]:
    """Those of `pieces` that hold the ends of transactions."""
    for piece in pieces:
        spec = tables.get(piece.range.table)
        if spec is not None and are_markers(spec):
            yield piece


def _ends(pieces: Sequence[Piece], tables: Tables) -> Iterator[_End]:
    """The ends of transactions among these pieces, in their order."""
    for piece in _boundaries(pieces, tables):
        where = piece.range
        columns = [piece.updates[name].to_pylist() for name in ("id", "tables", "events", OFFSET)]
        for name, counted, events, offset in zip(*columns, strict=True):
            counts = tuple(zip(counted, events, strict=True))
            yield _End(name, where.table, where.partition, offset, counts)


# --- holding back ---


class Resolution:
    """Divides the received pieces into cuts and times, by the resolution of each of `tables`.

    It remembers which transactions have gone, and by the topic of their boundaries which one is
    waited for, and since when; that decides where cuts end, and nothing else.
    """

    def __init__(self) -> None:
        self.tables: Tables = {}
        self._gone: OrderedDict[str, None] = OrderedDict()
        self._waits: dict[str, tuple[str, float]] = {}

    def count(self, pieces: Sequence[Piece]) -> int:
        """The number of times that a cut of these pieces (sorted) has."""
        return steps(pieces, self.tables)[0]

    def ends(self, pieces: Sequence[Piece]) -> dict[tuple[str, int], int]:
        """Up to which offset the records of each partition may go; those of a partition ascend.

        Raises TransactionIncomplete when too much waits for a transaction, or for too long.
        """
        ends = {(p.range.table, p.range.partition): p.range.end for p in pieces}
        topics = {s.transaction_topic for s in self.tables.values() if s.transaction_topic}
        for topic in sorted(topics):
            users = {n: s for n, s in self.tables.items() if s.transaction_topic == topic}
            ends |= self._whole(pieces, users, topic)
        return ends

    def _whole(
        self, pieces: Sequence[Piece], users: Tables, topic: str
    ) -> dict[tuple[str, int], int]:
        """The same for the tables `users` and the boundaries of their transactions."""
        boundaries = [p for p in pieces if p.range.topic == topic and p.range.table not in users]
        ends = {(p.range.table, p.range.partition): p.range.first for p in reversed(boundaries)}
        held = _Held(pieces, users)
        complete: dict[str, None] = {}
        waits = ""
        for end in _ends(boundaries, self.tables):
            if end.id not in self._gone and (waits := held.lacks(end)):
                break
            complete[end.id] = None
            ends[end.table, end.partition] = end.offset + 1
        behind = 0
        for where, ids, offsets, last in held.partitions():
            at = _first_of(ids, complete, self._gone)
            if at < len(ids):
                ends[where] = int(offsets[at])
                behind += len(ids) - at
                waits = waits or (
                    f"{ids[at].as_py()!r} has records in topic {users[where[0]].topic!r}, and no "
                    f"END in topic {topic!r}"
                )
            else:
                ends[where] = last
        self._wait(topic, next(iter(users)), waits if behind else "", behind)
        self._gone |= complete
        while len(self._gone) > REMEMBERED:
            self._gone.popitem(last=False)
        return ends

    def wait_anew(self) -> None:
        """Begins the time limit of each transaction that is waited for anew."""
        self._waits.clear()

    def _wait(self, topic: str, table: str, waits: str, records: int) -> None:
        now = clock.monotonic()
        waited_for, since = self._waits.get(topic, ("", now))
        if waits != waited_for:
            since = now
        self._waits[topic] = waits, since
        if waits and (records > HELD_RECORDS or now - since > HELD_SECONDS):
            raise TransactionIncomplete(
                f"transaction {waits}; {records} records have waited for it, "
                f"{now - since:.0f} s by now. See whether the connector still runs with "
                "provide.transaction.metadata, or read these tables again with another resolution",
                table=table,
            )


class _Held:
    """The records that tables with transactions have here."""

    def __init__(self, pieces: Sequence[Piece], users: Tables) -> None:
        self._users = users
        self._pieces: dict[tuple[str, int], list[Piece]] = {}
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in users}
        self._truncated: dict[tuple[str, str], int] = {}
        self._rejected: Counter[str] = Counter()
        for piece in pieces:
            table = piece.range.table
            if table not in users:
                continue
            self._pieces.setdefault((table, piece.range.partition), []).append(piece)
            self._rejected[table] += len(piece.rejected)
            ids = _ids(piece)
            found: Any = pc.value_counts(ids.filter(pa.array(_begins(piece))))
            for pair in found.to_pylist():
                self._counts[table][pair["values"]] += pair["counts"]
            for at in np.flatnonzero(piece.updates[DIFF].to_numpy() == 0).tolist():
                self._truncated[table, ids[at].as_py()] = piece.range.partition

    def lacks(self, end: "_End") -> str:
        """The part of a transaction that is missing, in words; empty if it is whole.

        A record that was rejected may belong to it.
        """
        for name, spec in self._users.items():
            expected, count = end.expected(spec.topic), self._counts[name][end.id]
            if count > 0 == expected:
                return (
                    f"{end.id!r} has {count} records in topic {spec.topic!r}, and its END counts "
                    f"{[table for table, _ in end.counts]}: a topic must end with its table's name"
                )
            if self._truncates_amid_others(name, end.id):
                return (
                    f"{end.id!r} truncates table {name!r} and changes rows of it in other "
                    f"partitions of topic {spec.topic!r}: nothing says which came first"
                )
            if count + self._rejected[name] < expected:
                return f"{end.id!r} has {count} of {expected} records in topic {spec.topic!r}"
        return ""

    def _truncates_amid_others(self, table: str, transaction: str) -> bool:
        """Whether it truncates a table of which other partitions have records of it."""
        partition = self._truncated.get((table, transaction))
        if partition is None:
            return False
        others = [p for (name, n), p in self._pieces.items() if name == table and n != partition]
        wanted = pa.array([transaction], pa.string())
        return any(
            bool(pc.is_in(_ids(piece), value_set=wanted).to_numpy(False).any())
            for held in others
            for piece in held
        )

    def partitions(self) -> Iterator[tuple[tuple[str, int], pa.Array, NDArray[np.int64], int]]:
        """Of each partition the transactions and the offsets of its updates, and its end."""
        for where, pieces in self._pieces.items():
            ids = pa.concat_arrays([_ids(piece) for piece in pieces])
            offsets = np.concatenate([piece.updates[OFFSET].to_numpy() for piece in pieces])
            yield where, ids, offsets, pieces[-1].range.end


def _first_of(ids: pa.Array, complete: Iterable[str], gone: Iterable[str]) -> int:
    """The first update that has to wait; updates before a complete transaction do not."""
    goes = pc.is_in(ids, value_set=pa.array(list(complete), pa.string())).to_numpy(False)
    free = pc.is_in(ids, value_set=pa.array(list(gone), pa.string())).to_numpy(False)
    begin = int(np.flatnonzero(goes)[-1]) + 1 if goes.any() else 0
    waits = np.flatnonzero(~free[begin:] & ids.is_valid().to_numpy(False)[begin:])
    return begin + int(waits[0]) if len(waits) else len(ids)
