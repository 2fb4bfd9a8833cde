"""Writing checkpoints: each of an arrangement's batches once, and a manifest that names the files.

The batches of a table never change, so a file that holds one stands for it as long as the batch
lives: the next checkpoint names the file again. Small batches share a file, since they are merged
away soon. `_held` maps the serial numbers of batches to the files that add up to the same rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from connectors.checkpoint.files import Rows, write_file
from connectors.checkpoint.manifest import (
    FileEntry,
    Manifest,
    TableEntry,
    file_name,
    is_file,
    is_ours,
    manifest_name,
)
from connectors.checkpoint.store import Store
from connectors.tables.spec import TableSpec

# Rows that are decoded at once.
ROWS_AT_ONCE = 65_536
# Batches of fewer rows share a file.
SMALL = 16_384


class Batch(Protocol):
    """One immutable batch of a table (`ivm.runtime.export.SealedBatch`)."""

    @property
    def serial(self) -> int: ...
    @property
    def values(self) -> int: ...
    def rows(self, at_once: int) -> Iterator[Rows]: ...


@dataclass(frozen=True, slots=True)
class TableCut:
    """A table as of a cut: the life of its name, its positions, its batches.

    `seen` and `miscounted` are those of `connectors.checkpoint.manifest.TableEntry`.

    Whoever writes it takes the batches out of the list, so that each goes as soon as it can.
    """

    spec: TableSpec
    epoch: int
    positions: Mapping[tuple[str, int], int]
    seen: list[Any]
    batches: list[Batch]
    miscounted: str = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """All that a checkpoint of `time` is to hold (see Manifest)."""

    journal: str
    time: int
    moment: int
    published: Mapping[str, int]
    tables: tuple[TableCut, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A checkpoint that stands: its time, and the bytes it took.

    `spared` is the time up to which nobody needs the journal's entries: that of the oldest
    checkpoint once as many stand as are to be kept, else 0.
    """

    time: int
    spared: int
    bytes: int


class Stopped(Exception):
    """The service stops: the part of a checkpoint that was written is of no use."""


class CheckpointWriter:
    """Writes checkpoints into a store, and deletes those that are too old; for one thread."""

    def __init__(self, store: Store, kept: int, manifests: Sequence[Manifest] = ()) -> None:
        """The newest `kept` checkpoints stay; `manifests`, ascending, are there already."""
        self._store = store
        self._kept = kept
        self._manifests = list(manifests)
        self._held: dict[frozenset[int], tuple[FileEntry, ...]] = {}

    def stands_for(self, files: tuple[FileEntry, ...], batches: Iterable[Batch]) -> None:
        """Note that `batches` hold the rows of `files`, so that these are not written again."""
        if serials := frozenset(batch.serial for batch in batches):
            self._held[serials] = files

    def write(self, cut: Cut, is_stopped: Callable[[], bool] = lambda: False) -> Written:
        """Write a checkpoint, and delete those that are too old then.

        Raises OSError and Stopped; the checkpoints before are as they were, unless this one stands.
        """
        attempt = _Attempt(self._store, cut.time, self._held, is_stopped)
        try:
            tables = tuple(attempt.table(table) for table in cut.tables)
            manifest = Manifest(cut.journal, cut.time, cut.moment, cut.published, tables)
            self._store.publish(manifest.name, manifest.to_bytes())
        except BaseException:
            attempt.undo()
            raise
        self._held = attempt.held
        self._manifests = [*self._manifests, manifest][-self._kept :]
        self._delete_unnamed()
        spared = self._manifests[0].time if len(self._manifests) == self._kept else 0
        return Written(cut.time, spared, sum(f.bytes for f in attempt.written))

    def _delete_unnamed(self) -> None:
        """Delete the manifests that are not kept, and then the files that no kept one names."""
        named = {manifest.name for manifest in self._manifests}
        named |= {file.name for manifest in self._manifests for file in manifest.files()}
        names = [name for name in self._store.names() if name not in named and is_ours(name)]
        for name in sorted(names, key=is_file):
            self._store.remove(name)


class _Attempt:
    """One checkpoint that is being written: the files so far, and the batches they stand for."""

    def __init__(
        self,
        store: Store,
        time: int,
        known: Mapping[frozenset[int], tuple[FileEntry, ...]],
        is_stopped: Callable[[], bool],
    ) -> None:
        self.held: dict[frozenset[int], tuple[FileEntry, ...]] = {}
        self.written: list[FileEntry] = []
        self._store = store
        self._time = time
        self._known = known
        self._is_stopped = is_stopped

    def table(self, cut: TableCut) -> TableEntry:
        """Write the part of a table that no file holds yet."""
        files: list[FileEntry] = []
        batches = {batch.serial: batch for batch in cut.batches}
        cut.batches.clear()
        for serials, entries in self._known.items():
            if serials <= batches.keys():
                self.held[serials] = entries
                files += entries
                for serial in serials:
                    del batches[serial]
        small = [batches.pop(s) for s, batch in list(batches.items()) if batch.values < SMALL]
        if small:
            files.append(self._file(cut.spec.schema, small))
        while batches:
            files.append(self._file(cut.spec.schema, [batches.popitem()[1]]))
        return TableEntry(
            cut.spec.name,
            cut.epoch,
            cut.spec.topic,
            cut.spec.schema,
            cut.spec.key,
            cut.positions,
            tuple(files),
            cut.seen,
            cut.miscounted,
            len(cut.spec.formerly),
        )

    def undo(self) -> None:
        """Delete the files that were written, as far as that can be done."""
        for name in (manifest_name(self._time), *(entry.name for entry in self.written)):
            with suppress(OSError):
                self._store.remove(name)

    def _file(self, schema: pa.Schema, batches: list[Batch]) -> FileEntry:
        serials = frozenset(batch.serial for batch in batches)
        name = file_name(self._time, len(self.written))
        entry = write_file(self._store, name, schema, self._rows(batches))
        self.written.append(entry)
        self.held[serials] = (entry,)
        return entry

    def _rows(self, batches: list[Batch]) -> Iterator[Rows]:
        while batches:
            for rows in batches.pop().rows(ROWS_AT_ONCE):
                if self._is_stopped():
                    raise Stopped
                yield rows
