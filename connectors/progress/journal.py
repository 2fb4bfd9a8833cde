"""The journal of progress: ties each logical time to the input offsets that it covers.

An append-only file of lines `crc32 json`, each on disk before the call that wrote it returns.
Times rise strictly, and within a table's life the ranges of a partition adjoin: replaying the
entries in order therefore feeds every record once, under the time that it had. A table here is a
stream (`connectors.streams`), and lives as long as the table that it is one of. A torn last line
is an append that never returned and is cut off; damage before it raises JournalCorrupt.

What a checkpoint holds need not be replayed: `compact` puts one line with the state in place of
all lines, so that the file grows with what no checkpoint holds. Entries at or below `base` are gone
then, and only a checkpoint at or after it can stand for them.
"""

import fcntl
import os
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from connectors.errors import JournalCorrupt, JournalInUse, OffsetGap
from connectors.files.durable import append, close, cut, sync_directory, write
from connectors.files.durable import replace as replace_file
from connectors.files.lines import checked_line, read_checked
from connectors.offsets import Ends
from connectors.progress.batches import Correction, Range
from connectors.streams import table_of

# How the first line of a compacted journal begins, after its checksum.
COMPACTED = b'{"compacted":'


@dataclass(frozen=True, slots=True)
class Entry:
    """One logical time, the records that it covers, and the moment at which it was given.

    The moment is in microseconds since the epoch. A time covers either ranges of topics, or
    `corrections`: records out of the quarantine, whose ranges an earlier time covers.
    """

    time: int
    ranges: tuple[Range, ...]
    moment: int
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a Kafka table's reading: in the topic of this id, at these offsets.

    A partition that `offsets` lacks was added later, and is read from its beginning. The beginning
    of a table of a topic pattern names no topic: its first streams have begun, and later ones do so
    where their topics begin.
    """

    topic: str
    topic_id: str
    offsets: Mapping[int, int]


class Journal:
    """Open journal of one service; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        """Open or create the journal at `path`, whose directory exists.

        It is ours until `close` or the end of the process. Raises JournalCorrupt, JournalInUse.
        """
        self._path = path
        self._lock = threading.Lock()
        self._identity = ""
        self._base = self._start = 0
        self._base_positions: dict[tuple[str, int], int] = {}
        self._entries: list[Entry] = []
        self._born: dict[str, int] = {}
        self._epochs: dict[str, int] = {}
        self._positions: dict[tuple[str, int], int] = {}
        self._committed_positions: dict[tuple[str, int], int] = {}
        self._rewritten: list[bytes] | None = None
        self._topics: dict[str, str] = {}
        self._beginnings: dict[str, Beginning] = {}
        self._held: dict[str, Ends] = {}
        self._published: dict[str, int] = {}
        self._failed: dict[str, str] = {}
        self._last_time = self._last_moment = 0
        self._committed_time = self._committed_moment = 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _reserve(self._file, path)
            sync_directory(path.parent)
            self._size = self._load()
        except Exception:
            self._file = close(self._file)
            raise

    @property
    def identity(self) -> str:
        """The identity that tells this journal from every other, for ever."""
        with self._lock:
            if not self._identity:
                self._append({"identity": uuid.uuid4().hex})
            return self._identity

    @property
    def base(self) -> int:
        """The time up to which entries are gone (0: none are)."""
        return self._base

    @property
    def start(self) -> int:
        """The time after which entries are replayed (0: all are)."""
        return self._start

    @property
    def last_time(self) -> int:
        """The greatest time prepared (0: none)."""
        return self._last_time

    @property
    def committed_time(self) -> int:
        """The greatest time whose deltas are published (0: none)."""
        return self._committed_time

    @property
    def committed_moment(self) -> int:
        """The moment at which the committed time was given (0: none)."""
        return self._committed_moment

    @property
    def published(self) -> Mapping[str, int]:
        """The end of every view's delta topic as of the last commit; nothing beyond it counts."""
        with self._lock:
            return dict(self._published)

    @property
    def failed(self) -> Mapping[str, str]:
        """Why each view that failed did; its delta topic ends there."""
        with self._lock:
            return dict(self._failed)

    @property
    def tables(self) -> Mapping[str, str]:
        """The topic of every stream with a recorded range or beginning."""
        with self._lock:
            return dict(self._topics)

    @property
    def beginnings(self) -> Mapping[str, Beginning]:
        """The beginning of every Kafka table's reading."""
        with self._lock:
            return dict(self._beginnings)

    @property
    def held(self) -> Mapping[str, Ends]:
        """The ends that the topic of each table had when the table was declared."""
        with self._lock:
            return dict(self._held)

    def positions(self) -> Mapping[tuple[str, int], int]:
        """The offset after the last one prepared, or where it begins, by (table, partition)."""
        with self._lock:
            return dict(self._positions)

    def positions_at(self, time: int) -> Mapping[tuple[str, int], int]:
        """The offset after the last one at or below `time`, which is not below `base`.

        Or else the origin's, as in `positions`. At the committed time it costs next to nothing.
        """
        with self._lock:
            if time == self._committed_time:
                return dict(self._committed_positions)
            return self._started() | self._read_until(time)

    def _read_until(self, time: int) -> dict[tuple[str, int], int]:
        """The positions at `time` of all that was read by then."""
        found = self._base_positions.copy()
        for entry in self._living():
            if entry.time > time:
                break
            found.update({(r.table, r.partition): r.end for r in entry.ranges})
        return found

    def epoch(self, table: str) -> int:
        """The number of times that a table, or that of a stream, was dropped.

        It tells the lives of a name apart.
        """
        with self._lock:
            return self._epochs.get(table_of(table), 0)

    def entries(self) -> Sequence[Entry]:
        """The prepared times beyond `start`, in order, without the ranges of tables dropped since.

        Those that covered nothing when they were prepared are not among them once they are
        committed: the committed time and its moment stand for them.
        """
        with self._lock:
            return [entry for entry in self._living() if entry.time > self._start]

    def ranges(self, time: int) -> tuple[Range, ...]:
        """The ranges of `time`, which is above `base`, less those of tables dropped since."""
        with self._lock:
            return next((e.ranges for e in self._living() if e.time == time), ())

    def _living(self) -> list[Entry]:
        born = self._born
        youngest = max(born.values(), default=0)
        return [
            e
            if e.time > youngest
            else replace(
                e,
                ranges=tuple(r for r in e.ranges if e.time > born.get(table_of(r.table), 0)),
                corrections=tuple(
                    c for c in e.corrections if e.time > born.get(table_of(c.table), 0)
                ),
            )
            for e in self._entries
        ]

    def start_after(self, time: int) -> None:
        """Replay only times beyond `time`: a checkpoint has restored the rest."""
        assert self._base <= time <= self._last_time, "the entries beyond a checkpoint are there"
        self._start = time

    def prepare(
        self,
        time: int,
        ranges: Iterable[Range],
        moment: int,
        corrections: Iterable[Correction] = (),
    ) -> None:
        """Tie `time` to the ranges that it covers and to `moment`, durably, before it is applied.

        A time that covers nothing says that it has become later, and no more. Raises OffsetGap.
        """
        entry = Entry(time, tuple(ranges), moment, tuple(corrections))
        with self._lock:
            assert time > self._last_time, "times rise"
            for r in entry.ranges:
                known = self._positions.get((r.table, r.partition))
                if known is not None and known != r.first:
                    raise OffsetGap(
                        f"table {r.table!r}, topic {r.topic!r}, partition {r.partition}: "
                        f"the next offset is {known}, the batch begins at {r.first}"
                    )
            self._append(_written(entry))

    def commit(self, time: int, published: Mapping[str, int], *, sync: bool = False) -> None:
        """Say that all deltas up to `time` are durable, views' topics ending at `published`.

        `published` may name only the views that changed; the others keep their ends. Also called,
        with the present time, after the first deltas of a new view.

        It is waited for that the disk has this only with `sync`, and where a view is new: somebody
        is told that it is there. Else a machine that fails before the next time is prepared comes
        back as after a kill before this call, and views know what they published.
        """
        with self._lock:
            assert time <= self._last_time, "only a prepared time is committed"
            new = not published.keys() <= self._published.keys()
            self._append({"committed": time, "views": dict(published)}, sync=sync or new)

    def start_table(self, table: str, beginning: Beginning) -> None:
        """Say where the reading of a new table begins, before any of it is prepared."""
        with self._lock:
            self._append({"started_table": table, "beginning": _beginning_json(beginning)})

    def declare_table(self, table: str, held: Ends) -> None:
        """Declare a new table; its topic has to be read up to `held` before the table is ready."""
        with self._lock:
            self._append({"declared_table": table, "held": sorted(held.items())})

    def drop_table(self, table: str) -> None:
        """Forget the positions of `table` and its streams: former ranges are never replayed."""
        with self._lock:
            self._append({"dropped_table": table, "time": self._last_time})

    def fail_view(self, view: str, reason: str) -> None:
        """Say that `view` publishes nothing more, until it is dropped or retried."""
        with self._lock:
            self._append({"failed_view": view, "reason": reason})

    def retry_view(self, view: str) -> None:
        """Say that `view`, which failed, publishes again."""
        with self._lock:
            self._append({"retried_view": view})

    def drop_view(self, view: str) -> None:
        """Forget the published end of `view`, and whether it failed."""
        with self._lock:
            self._append({"dropped_view": view})

    def compact(self, time: int) -> None:
        """Forget, durably, the entries at or below `time`, all of which a checkpoint holds.

        For one thread; others append meanwhile. On failure (OSError) the journal is as it was.
        """
        with self._lock:
            if time <= self._base:
                return
            state, kept = self._state(time)
            self._rewritten = []
        temporary = self._path.with_name(self._path.name + ".new")
        file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        try:
            _reserve(file, temporary)
            write(file, checked_line({**state, "entries": [_written(entry) for entry in kept]}))
            os.fsync(file)
            with self._lock:
                if self._rewritten:
                    write(file, b"".join(self._rewritten))
                    os.fsync(file)
                temporary.replace(self._path)
                file, self._file = self._file, file
                self._size = os.fstat(self._file).st_size
                self._forget(time)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            self._rewritten = None
            os.close(file)
        sync_directory(self._path.parent)

    def _forget_tick(self, time: int) -> None:
        """Keep no entry of a committed time that covers nothing: no deltas wait for it."""
        if self._entries and self._entries[-1] == Entry(time, (), self._last_moment):
            self._entries.pop()

    def _forget(self, base: int) -> None:
        self._base_positions = self._read_until(base)
        self._entries = [entry for entry in self._entries if entry.time > base]
        self._base = base

    def _state(self, base: int) -> tuple[dict[str, Any], list[Entry]]:
        """All that there is to know but the entries, and those beyond `base`."""
        positions = self._read_until(base)
        state = {
            "compacted": base,
            "identity": self._identity,
            "positions": [[*key, end] for key, end in positions.items()],
            "last": [self._last_time, self._last_moment],
            "committed": [self._committed_time, self._committed_moment],
            "topics": self._topics.copy(),
            "beginnings": {
                table: _beginning_json(beginning) for table, beginning in self._beginnings.items()
            },
            "held": {table: sorted(ends.items()) for table, ends in self._held.items()},
            "born": self._born.copy(),
            "epochs": self._epochs.copy(),
            "published": self._published.copy(),
            "failed": self._failed.copy(),
        }
        kept = [e for e in self._living() if e.time > base]
        return state, kept

    def _restore(self, state: dict[str, Any]) -> None:
        """Take over the state that `_state` gave."""
        self._base = state["compacted"]
        self._identity = state["identity"]
        self._base_positions = {(t, partition): end for t, partition, end in state["positions"]}
        self._entries = [_entry(written) for written in state["entries"]]
        self._last_time, self._last_moment = state["last"]
        self._committed_time, self._committed_moment = state["committed"]
        self._topics = dict(state["topics"])
        self._beginnings = {
            t: _beginning(value) for t, value in state.get("beginnings", {}).items()
        }
        self._held = {table: dict(ends) for table, ends in state.get("held", {}).items()}
        self._born, self._epochs = dict(state["born"]), dict(state["epochs"])
        self._published, self._failed = dict(state["published"]), dict(state["failed"])
        self._positions = self._started() | self._read_until(self._last_time)
        self._committed_positions = self._started() | self._read_until(self._committed_time)

    def _started(self) -> dict[tuple[str, int], int]:
        """The positions of tables of which nothing was read."""
        return {
            (table, partition): offset
            for table, beginning in self._beginnings.items()
            for partition, offset in beginning.offsets.items()
        }

    def copy(self, path: Path) -> None:
        """Write all that the journal holds now to another file, durably."""
        with self._lock:
            content = os.pread(self._file, self._size, 0)
        replace_file(path, content)

    def close(self) -> None:
        """Release the file, unless that is done."""
        with self._lock:
            self._file = close(self._file)

    def _append(self, record: dict[str, Any], sync: bool = True) -> None:
        line = checked_line(record)
        append(self._file, self._size, line, sync)
        self._size += len(line)
        if self._rewritten is not None:
            self._rewritten.append(line)
        self._apply(record)

    def _load(self) -> int:
        """Apply every whole line and return their length in bytes."""
        # Not by the path: closing another descriptor of the file would give the lock away.
        content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        size = 0
        lines = content.splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            record = read_checked(line)
            if record is None:
                # The line of a compacted journal was renamed into its place: it cannot be torn.
                if number < len(lines) or COMPACTED in line[:32]:
                    raise JournalCorrupt(
                        f"{self._path}, line {number}: the checksum does not hold. Restore the "
                        "file, or remove it together with the checkpoints and the delta topics to "
                        "begin anew"
                    )
                cut(self._file, size)
                break
            self._apply(record)
            size += len(line)
        return size

    def _apply(self, record: dict[str, Any]) -> None:
        match record:
            case {"compacted": _}:
                self._restore(record)
            case {"identity": identity}:
                self._identity = identity
            case {"prepared": time}:
                entry = _entry(record)
                self._entries.append(entry)
                self._last_time, self._last_moment = time, entry.moment
                for r in entry.ranges:
                    self._positions[r.table, r.partition] = r.end
                    self._topics[r.table] = r.topic
            case {"committed": time, "views": views}:
                self._committed_time = max(time, self._committed_time)
                if time == self._last_time:
                    self._committed_moment = self._last_moment
                    self._committed_positions = self._positions.copy()
                    self._forget_tick(time)
                self._published.update(views)
            case {"started_table": table, "beginning": value}:
                beginning = _beginning(value)
                self._beginnings[table] = beginning
                self._topics[table] = beginning.topic
                for partition, offset in beginning.offsets.items():
                    self._positions[table, partition] = offset
                    self._committed_positions[table, partition] = offset
            case {"declared_table": table, "held": held}:
                self._held[table] = dict(held)
            case {"dropped_table": table, "time": time}:
                self._born[table] = time
                self._epochs[table] = self._epochs.get(table, 0) + 1
                for streams in (self._beginnings, self._held, self._topics):
                    for name in [name for name in streams if table_of(name) == table]:
                        del streams[name]
                for positions in (
                    self._positions,
                    self._committed_positions,
                    self._base_positions,
                ):
                    for key in [k for k in positions if table_of(k[0]) == table]:
                        del positions[key]
            case {"dropped_view": view}:
                self._published.pop(view, None)
                self._failed.pop(view, None)
            case {"failed_view": view, "reason": reason}:
                self._failed[view] = reason
            case {"retried_view": view}:
                self._failed.pop(view, None)
            case _:
                raise JournalCorrupt(f"{self._path}: a record of unknown kind: {sorted(record)}")


def _beginning_json(beginning: Beginning) -> list[Any]:
    return [beginning.topic, beginning.topic_id, sorted(beginning.offsets.items())]


def _beginning(value: list[Any]) -> Beginning:
    topic, topic_id, offsets = value
    return Beginning(topic, topic_id, dict(offsets))


def _written(entry: Entry) -> dict[str, Any]:
    """The record that `_entry` reads."""
    record: dict[str, Any] = {
        "prepared": entry.time,
        "ranges": [astuple(r) for r in entry.ranges],
        "moment": entry.moment,
    }
    if entry.corrections:
        record["corrections"] = [astuple(c) for c in entry.corrections]
    return record


def _entry(record: dict[str, Any]) -> Entry:
    return Entry(
        record["prepared"],
        tuple(Range(*r) for r in record["ranges"]),
        record.get("moment", 0),  # a journal may begin before times had one
        tuple(Correction(*c) for c in record.get("corrections", ())),
    )


def _reserve(file: int, path: Path) -> None:
    """Keep a second service, or one that was thought dead, from appending beside this one."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise JournalInUse(f"{path} is open in another process") from error
    if os.fstat(file).st_ino != path.stat().st_ino:
        raise JournalInUse(f"{path} was rewritten by another process while it was opened")
