"""Records that could not be decoded: kept byte for byte, with their coordinates and the reason.

The primary key is (table, partition, offset), so a record that is delivered again is kept once; for
a table of a topic pattern its streams stand there (`connectors.streams`). A
record is `open` until it is `replayed`, as a correction at a logical time of its own, or
`discarded`; `orphaned` is one whose table was dropped since. What a correction was made of stays as
it is, since a replay of the journal needs the same bytes again. Only what no replay needs any more
can be purged: a start would put a record aside again whose range it reads again.
SQLite gives durability and paging; every change is on disk when its call returns.
"""

import os
import sqlite3
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import orjson
import structlog

from connectors.errors import CorrectionLost, QuarantineCorrupt, RecordClosed, UnknownRecord
from connectors.progress.batches import Correction
from connectors.records import Headers
from connectors.streams import table_of

Status = Literal["open", "replayed", "discarded", "orphaned"]
# The outcomes of records of which nothing is to come.
CLOSED: frozenset[Status] = frozenset(("replayed", "discarded", "orphaned"))

log = structlog.get_logger()

# What this module writes; kept in SQLite's user_version. 0 is the form without keys and status.
_VERSION = 1

_SCHEMA = """
CREATE TABLE records (
"table" TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
reason TEXT NOT NULL, message TEXT NOT NULL, value BLOB, seen_ms INTEGER NOT NULL,
key BLOB, timestamp INTEGER, headers BLOB, epoch INTEGER NOT NULL,
status TEXT NOT NULL, repaired INTEGER NOT NULL, new_key BLOB, new_value BLOB, time INTEGER,
sent INTEGER NOT NULL, PRIMARY KEY ("table", partition, "offset")
)
"""

_UNSENT = 'CREATE INDEX unsent ON records ("table", partition, "offset") WHERE sent = 0'

_MIGRATION = """
INSERT INTO records SELECT "table", topic, partition, "offset", reason, message, value, seen_ms,
NULL, NULL, NULL, 0, 'open', 0, NULL, NULL, NULL, 0 FROM rejected
"""

# A record of a table that was dropped gives way to what the table of today says of its offset.
_ADD = """
INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', 0, NULL, NULL, NULL, 0)
ON CONFLICT DO UPDATE SET topic = excluded.topic, reason = excluded.reason,
message = excluded.message, value = excluded.value, seen_ms = excluded.seen_ms,
key = excluded.key, timestamp = excluded.timestamp, headers = excluded.headers,
epoch = excluded.epoch, status = 'open', repaired = 0, new_key = NULL, new_value = NULL,
time = NULL, sent = 0
WHERE excluded.epoch > epoch
"""

_AT = 'WHERE "table" = ? AND partition = ? AND "offset" = ?'

# Whether a record is of a table, in one of its streams or in this one.
_OF = '("table" = {0} OR "table" GLOB {0} || \':*\')'

# Where a record stands: table, partition, offset.
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record as it stands in its topic, and why it was put aside.

    `reason` is one of `connectors.formats.format.REASONS`; `seen_ms` is when it was first met
    (epoch, ms); `epoch` tells the lives of a table's name apart, as `Journal.epoch` does. A value
    out of a file topic is its line without the newline. `key`, `timestamp` (epoch, ms) and
    `headers` are None where the topic has none.
    """

    table: str
    topic: str
    partition: int
    offset: int
    reason: str
    message: str
    value: bytes | None
    seen_ms: int
    key: bytes | None = None
    timestamp: int | None = None
    headers: Headers | None = None
    epoch: int = 0

    @property
    def place(self) -> Place:
        """Its primary key."""
        return self.table, self.partition, self.offset


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of a record: bytes that are decoded in its stead."""

    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Purge:
    """Records that are to be deleted: with these outcomes, first met before `before_ms` (epoch).

    `table` is None for those of all tables. What was applied after `time` is not among them.
    """

    statuses: frozenset[Status]
    before_ms: int
    time: int
    table: str | None = None

    def statement(self) -> str:
        """SQL that deletes those of one partition."""
        statuses = ", ".join(f"'{status}'" for status in sorted(self.statuses))
        return (
            'DELETE FROM records WHERE "table" = :table AND partition = :partition '
            f"AND status IN ({statuses}) AND seen_ms < :before AND (:only IS NULL OR "
            f"{_OF.format(':only')}) AND (epoch < :epoch OR "
            '("offset" < :end AND (time IS NULL OR time <= :time)))'
        )

    def parameters(self) -> dict[str, Any]:
        """What the statement names, but the partition."""
        return {"before": self.before_ms, "time": self.time, "only": self.table}


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A record in the quarantine: `time` is that of its correction, once it is `replayed`."""

    record: Rejected
    status: Status
    repair: Repair | None
    time: int | None

    @property
    def content(self) -> Repair:
        """The bytes that a replay decodes: the repair, or the record itself."""
        return self.repair or Repair(self.record.key, self.record.value)

    def correction(self) -> Correction:
        """The journal's name for these bytes at this place."""
        r = self.record
        return Correction(r.table, r.topic, r.partition, r.offset, _digest(self.content))


class Quarantine:
    """A durable set of rejected records; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        """Open or create the store at `path` (a file; its directory must exist).

        Only its owner may read it: records hold what their producers put in. Raises
        QuarantineCorrupt.
        """
        self._lock = threading.Lock()
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._counts: dict[tuple[str, str, str], int] = {}
        try:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._migrate()
            self._recount()
        except sqlite3.DatabaseError as error:
            raise QuarantineCorrupt(f"{path}: {error}; restore the file") from error

    def add(self, records: Iterable[Rejected]) -> int:
        """Keep `records` durably and return how many were new."""
        with self._lock:
            with _transaction(self._database):
                new = [r for r in records if self._database.execute(_ADD, _row(r)).rowcount]
            told = Counter((table_of(r.table), r.topic, r.reason) for r in new)
            for key, count in told.items():
                self._counts[key] = self._counts.get(key, 0) + count
        return len(new)

    def page(
        self,
        limit: int,
        after: Place | None = None,
        table: str | None = None,
        reason: str | None = None,
        status: Status | None = None,
    ) -> list[Quarantined]:
        """At most `limit` records in the order of (table, partition, offset), those beyond `after`.

        The place of the last record of a page is the `after` of the next.
        """
        query = (
            'SELECT * FROM records WHERE ("table", partition, "offset") > (?1, ?2, ?3) '
            f"AND (?4 IS NULL OR {_OF.format('?4')}) AND (?5 IS NULL OR reason = ?5) "
            "AND (?6 IS NULL OR status = ?6) "
            'ORDER BY "table", partition, "offset" LIMIT ?7'
        )
        position = after if after is not None else ("", -1, -1)
        with self._lock:
            rows = self._database.execute(
                query, (*position, table, reason, status, limit)
            ).fetchall()
        return [_quarantined(row) for row in rows]

    def get(self, place: Place) -> Quarantined:
        """The record at `place` (raises UnknownRecord)."""
        with self._lock:
            return self._get(place)

    def fix(self, place: Place, repair: Repair | None) -> Quarantined:
        """Replay this record as `repair` from now on, or as it is; a discarded one is open again.

        Raises UnknownRecord, and RecordClosed for one that was replayed or orphaned.
        """
        with self._lock, _transaction(self._database):
            self._expect(place, "open", "discarded")
            fixed = repair or Repair(None, None)
            self._database.execute(
                "UPDATE records SET status = 'open', repaired = ?, new_key = ?, new_value = ? "
                + _AT,
                (repair is not None, fixed.key, fixed.value, *place),
            )
            self._recount()
            return self._get(place)

    def discard(self, place: Place) -> Quarantined:
        """Say that nothing is to come of this record (raises UnknownRecord, RecordClosed)."""
        with self._lock, _transaction(self._database):
            self._expect(place, "open", "discarded")
            self._database.execute("UPDATE records SET status = 'discarded' " + _AT, place)
            self._recount()
            return self._get(place)

    def close_as_replayed(self, corrections: Iterable[Correction], time: int) -> None:
        """Say that these records are applied at `time`; once more changes nothing."""
        with self._lock, _transaction(self._database):
            self._database.executemany(
                "UPDATE records SET status = 'replayed', time = ? " + _AT,
                [(time, c.table, c.partition, c.offset) for c in corrections],
            )
            self._recount()

    def used(self, correction: Correction) -> Quarantined:
        """The record whose bytes `correction` names (raises CorrectionLost)."""
        try:
            found = self.get((correction.table, correction.partition, correction.offset))
        except UnknownRecord as error:
            raise _lost(correction, "lacks the record") from error
        if found.correction() != correction:
            raise _lost(correction, "holds other bytes for it")
        return found

    def offsets(self, table: str, partition: int, first: int, end: int) -> frozenset[int]:
        """The offsets within `[first, end)` of a partition's records here, but a former life's."""
        query = (
            'SELECT "offset" FROM records WHERE "table" = ? AND partition = ? '
            'AND "offset" >= ? AND "offset" < ? AND status != \'orphaned\''
        )
        with self._lock:
            found = self._database.execute(query, (table, partition, first, end))
            return frozenset(offset for (offset,) in found)

    def unsent(self, table: str, limit: int) -> list[Rejected]:
        """At most `limit` records of a table that `sent` has not named, in the order of places."""
        query = (
            f"SELECT * FROM records WHERE sent = 0 AND {_OF.format('?1')} AND status != 'orphaned' "
            'ORDER BY "table", partition, "offset" LIMIT ?2'
        )
        with self._lock:
            rows = self._database.execute(query, (table, limit)).fetchall()
        return [_quarantined(row).record for row in rows]

    def sent(self, places: Iterable[Place]) -> None:
        """Say that copies of these records are where they belong."""
        with self._lock, _transaction(self._database):
            self._database.executemany("UPDATE records SET sent = 1 " + _AT, list(places))

    def orphan(self, epochs: Mapping[str, int]) -> None:
        """Close the records of former lives of these tables: none can be replayed any more."""
        with self._lock, _transaction(self._database):
            self._database.executemany(
                "UPDATE records SET status = 'orphaned' "
                "WHERE status IN ('open', 'discarded') AND \"table\" = ? AND epoch < ?",
                list(epochs.items()),
            )
            self._recount()

    def purge(
        self, wanted: Purge, settled: Mapping[tuple[str, int], int], epochs: Mapping[str, int]
    ) -> int:
        """Delete the records that are `wanted` and that no start needs; how many they are.

        Those are the ones before `settled`, by (table, partition), whose corrections are not later
        than `wanted.time`; and those of former lives of a table, which are of an epoch before.
        """
        with self._lock:
            places = self._database.execute('SELECT DISTINCT "table", partition FROM records')
            with _transaction(self._database):
                purged = sum(
                    self._database.execute(
                        wanted.statement(),
                        {
                            **wanted.parameters(),
                            "table": table,
                            "partition": partition,
                            "end": settled.get((table, partition), 0),
                            "epoch": epochs.get(table, 0),
                        },
                    ).rowcount
                    for table, partition in places.fetchall()
                )
                self._recount()
            if purged:
                self._shrink()
        return purged

    def _shrink(self) -> None:
        """Give room back once more than half of the file is free."""
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        (pages,) = self._database.execute("PRAGMA page_count").fetchone()
        if 2 * free > pages:
            try:
                self._database.execute("VACUUM")
            except sqlite3.OperationalError as error:  # it needs room, as for a copy of the rest
                log.warning("the quarantine's file stays as large as it is", error=str(error))

    def tables(self) -> Sequence[str]:
        """The names of all tables with records."""
        with self._lock:
            found = self._database.execute('SELECT DISTINCT "table" FROM records ORDER BY 1')
            return [name for (name,) in found]

    def counts(self) -> Mapping[tuple[str, str, str], int]:
        """The number of open records, by (table, topic, reason)."""
        with self._lock:
            return dict(self._counts)

    def copy(self, path: Path) -> None:
        """Write all records to another file, as of now."""
        with self._lock, closing(sqlite3.connect(path)) as target:
            self._database.backup(target)

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._database.close()

    def _migrate(self) -> None:
        """Bring an older file to the present form, all at once."""
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version == _VERSION:
            return
        with _transaction(self._database):
            self._database.execute(_SCHEMA)
            self._database.execute(_UNSENT)
            old = "SELECT 1 FROM sqlite_master WHERE name = 'rejected'"
            if self._database.execute(old).fetchone():
                self._database.execute(_MIGRATION)
                self._database.execute("DROP TABLE rejected")
            self._database.execute(f"PRAGMA user_version = {_VERSION}")

    def _get(self, place: Place) -> Quarantined:
        row = self._database.execute("SELECT * FROM records " + _AT, place).fetchone()
        if row is None:
            table, partition, offset = place
            raise UnknownRecord(
                f"the quarantine holds no record of table {table!r}, partition {partition}, "
                f"offset {offset}"
            )
        return _quarantined(row)

    def _expect(self, place: Place, *accepted: Status) -> None:
        """Raise RecordClosed unless the record has one of these statuses."""
        found = self._get(place)
        if found.status not in accepted:
            raise RecordClosed(closed(found))

    def _recount(self) -> None:
        query = (
            "SELECT \"table\", topic, reason, count(*) FROM records WHERE status = 'open' "
            "GROUP BY 1, 2, 3"
        )
        found = self._database.execute(query)
        self._counts = {(table_of(s), topic, reason): n for s, topic, reason, n in found}


def closed(found: Quarantined) -> str:
    """Why a record that is not open takes no more part."""
    why = {
        "open": "is open",
        "replayed": f"was applied at time {found.time}",
        "discarded": "was discarded; a PUT of its repair, `{}` for none, opens it again",
        "orphaned": "belongs to a table that was dropped since",
    }[found.status]
    table, partition, offset = found.record.place
    return f"the record of table {table!r}, partition {partition}, offset {offset} {why}"


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    """One transaction, rolled back when an exception leaves it."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _lost(correction: Correction, what: str) -> CorrectionLost:
    c = correction
    return CorrectionLost(
        f"the journal has a correction of table {c.table!r}, partition {c.partition}, offset "
        f"{c.offset}, but the quarantine {what}; restore the quarantine's file of that time, or "
        "delete and declare the source again"
    )


def _digest(content: Repair) -> str:
    """Names these bytes; an absent key or value is not an empty one."""
    parts = [
        None if part is None else b64encode(part).decode() for part in (content.key, content.value)
    ]
    return blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


def _row(record: Rejected) -> tuple[Any, ...]:
    """The record in the order of the columns."""
    r = record
    headers = None if r.headers is None else _packed(r.headers)
    return (
        *(r.table, r.topic, r.partition, r.offset, r.reason, r.message, r.value, r.seen_ms),
        *(r.key, r.timestamp, headers, r.epoch),
    )


def _quarantined(row: tuple[Any, ...]) -> Quarantined:
    headers = None if row[10] is None else _unpacked(row[10])
    status, repaired, new_key, new_value, time = row[12:17]
    record = Rejected(*(*row[:10], headers, row[11]))
    return Quarantined(record, status, Repair(new_key, new_value) if repaired else None, time)


def _packed(headers: Headers) -> bytes:
    """Headers as JSON, their values in base64."""
    return orjson.dumps([[n, None if v is None else b64encode(v).decode()] for n, v in headers])


def _unpacked(data: bytes) -> Headers:
    return tuple((n, None if v is None else b64decode(v)) for n, v in orjson.loads(data))
