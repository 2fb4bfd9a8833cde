"""Superseded corrections: a replay must not overwrite a newer change of the same key.

A keyed table holds the last that was said of a key. A correction is older than all that was read
after its record, so applying it could put an old row in the place of a new one, or bring one back
that was deleted. Whether it would is decided by the records themselves: those of the same partition
with greater offsets, as far as they are reflected. Of those that were put aside, even if they can
be decoded by now, only what took effect as a correction counts. Records of one key are expected in
one partition, as Kafka's producers put them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from connectors.decode import decode
from connectors.errors import Superseded
from connectors.formats.schemas import Schemas
from connectors.quarantine.replay import SchemasOf, records_of
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine, Quarantined
from connectors.records import Records
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError

Key = tuple[Any, ...]

# A change of a key: its offset, the key, and its diff; 0 is a truncation.
Change = tuple[int, Key, int]

# How many quarantined records are looked at a time.
PAGE = 1_000


class Overtaking:
    """Follows the partitions of some quarantined records, each from its first one on."""

    def __init__(
        self,
        found: Iterable[Quarantined],
        tables: Mapping[str, TableSpec],
        past: Past,
        quarantine: Quarantine,
        schemas: SchemasOf,
    ) -> None:
        """Raises RegistryUnavailable."""
        self._changes: dict[Place, list[Change]] = {}
        self._partitions: dict[tuple[str, int], _Partition] = {}
        for one in found:
            table, partition, offset = one.record.place
            spec = tables.get(table)
            if spec is None or not spec.is_keyed:
                continue
            changes = list(_changes(records_of(partition, [one]), spec, schemas(spec)))
            self._changes[one.record.place] = changes
            where = self._partitions.setdefault(
                (table, partition),
                _Partition(spec, partition, past, quarantine, schemas(spec)),
            )
            where.want(offset, changes)
        for table in {table for table, _ in self._partitions}:
            for one in _replayed(quarantine, table):
                followed = self._partitions.get((table, one.record.partition))
                if followed is not None:
                    followed.note(records_of(one.record.partition, [one]))

    def follow(self, reached: Mapping[tuple[str, int], int]) -> None:
        """Look at all records that are reflected, those seen before left out."""
        for key, partition in self._partitions.items():
            partition.follow(reached.get(key, 0))

    def fault(self, one: Quarantined) -> Superseded | None:
        """Why this record should not be applied now."""
        table, number, offset = one.record.place
        changes = self._changes.get(one.record.place)
        if not changes:
            return None
        partition = self._partitions[table, number]
        where = f"table {table!r}, partition {number}, offset {offset}"
        if partition.unread is not None:
            return Superseded(
                f"{where}: whether later records have said more of its key cannot be told, since "
                f"they cannot be read again ({partition.unread}); `overwrite` applies it all the "
                "same"
            )
        later = max(partition.later_than(change) for change in changes)
        if later < 0:
            return None
        return Superseded(
            f"{where}: the record at offset {later} has said more of the same key since; "
            "`overwrite` puts this older one in its place"
        )


class _Partition:
    """The last changes in a partition of the wanted keys."""

    def __init__(
        self,
        spec: TableSpec,
        number: int,
        past: Past,
        quarantine: Quarantine,
        schemas: Schemas | None,
    ) -> None:
        self._spec = spec
        self._quarantine = quarantine
        self._schemas = schemas
        self._number = number
        self._past = past
        self._position: int | None = None
        self._latest: dict[Key, int] = {}
        self._last = self._last_truncation = -1
        self.unread: str | None = None

    def want(self, offset: int, changes: Iterable[Change]) -> None:
        """Follow from `offset` on, also the keys of these changes."""
        self._position = min(offset, self._position if self._position is not None else offset)
        for _, key, _ in changes:
            self._latest.setdefault(key, -1)

    def follow(self, end: int) -> None:
        """Look at the records up to `end`."""
        if self._position is None or self._position >= end or self.unread is not None:
            return
        first = self._position
        put_aside = self._quarantine.offsets(self._spec.name, self._number, first, end)
        try:
            for records in self._past.read(self._spec, self._number, first, end):
                self.note(records, put_aside)
        except IvmError as error:
            self.unread = str(error)
        self._position = end

    def note(self, records: Records, put_aside: frozenset[int] = frozenset()) -> None:
        """These records took effect, save those at the offsets `put_aside`."""
        for offset, key, diff in _changes(records, self._spec, self._schemas):
            if offset in put_aside:
                continue
            self._last = max(offset, self._last)
            if diff == 0:
                self._last_truncation = max(offset, self._last_truncation)
            elif key in self._latest:
                self._latest[key] = max(offset, self._latest[key])

    def later_than(self, change: Change) -> int:
        """The offset of a record that says more of the key than `change`, or -1."""
        offset, key, diff = change
        later = self._last if diff == 0 else max(self._latest[key], self._last_truncation)
        return later if later > offset else -1


def _changes(records: Records, spec: TableSpec, schemas: Schemas | None) -> Iterator[Change]:
    decoded = decode(records, spec, schemas)
    columns = (decoded.rows.column(name).to_pylist() for name in spec.key)
    keys = zip(*columns, strict=True)
    return zip(decoded.offsets.tolist(), keys, decoded.diffs.tolist(), strict=True)


def _replayed(quarantine: Quarantine, table: str) -> Iterator[Quarantined]:
    """The quarantined records of a table that took effect."""
    after = None
    while page := quarantine.page(PAGE, after, table, status="replayed"):
        yield from page
        after = page[-1].record.place
