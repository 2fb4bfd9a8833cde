"""Restoring: the newest checkpoint that is whole, and that the journal goes on from.

A damaged one is passed over for the next older; without any, the journal alone must reach back to
the beginning. What does not fit the journal at all is refused, since going on would apply records
twice or never.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from connectors.checkpoint.files import Rows, read_file
from connectors.checkpoint.manifest import Manifest, TableEntry, is_manifest
from connectors.checkpoint.store import Store
from connectors.errors import CheckpointCorrupt, CheckpointRefused
from connectors.progress.journal import Journal
from connectors.streams import table_of
from connectors.tables.spec import TableSpec
from connectors.tables.widen import brought, schemas


class Target(Protocol):
    """The target of a restore: takes tables and their rows."""

    def begin(self) -> None:
        """Declare all tables, empty, and forget all rows that were fed before."""

    def feed(self, table: str, rows: Rows, time: int) -> None:
        """Add rows of a declared table."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore: a checkpoint, if there was any, and `tables` of it.

    `kept` are the checkpoints that can be used, ascending, it being the last one; `faults` says
    what is the matter with newer ones, and with others.
    """

    manifest: Manifest | None
    tables: tuple[TableEntry, ...]
    kept: tuple[Manifest, ...]
    faults: tuple[str, ...]


def restore(
    store: Store, journal: Journal, tables: Mapping[str, TableSpec], target: Target
) -> Restored:
    """Feed `target` the newest checkpoint that can be used, and let `journal` go on from there.

    Only the tables in `tables` are fed, and those of a name's present life. Raises
    CheckpointRefused, and OSError if the store cannot be listed.
    """
    faults: list[str] = []
    good: list[Manifest] = []
    present: tuple[TableEntry, ...] = ()
    for name in sorted(filter(is_manifest, store.names()), reverse=True):
        try:
            manifest = _read(store, name, journal)
            if not good:
                present = tuple(_present(manifest, journal, tables))
                target.begin()
                _feed(store, present, tables, manifest.time, target)
            good.insert(0, manifest)
        except CheckpointCorrupt as error:
            faults.append(f"{store.place}: {error}")
    if good:
        journal.start_after(good[-1].time)
        return Restored(good[-1], present, tuple(good), tuple(faults))
    if journal.base > 0:
        raise CheckpointRefused(
            f"the journal begins after time {journal.base}, and there is no checkpoint in "
            f"{store.place} from which it goes on: {'; '.join(faults) or 'there is none'}. Restore "
            "the checkpoints, or remove the journal, the checkpoints and the delta topics to begin "
            "anew"
        )
    target.begin()
    return Restored(None, (), (), tuple(faults))


def _read(store: Store, name: str, journal: Journal) -> Manifest:
    """The manifest in a file, if the journal goes on from it."""
    try:
        content = store.read(name).to_pybytes()
    except OSError as error:
        raise CheckpointCorrupt(f"{name}: {error}") from error
    manifest = Manifest.from_bytes(name, content)
    if manifest.journal != journal.identity or manifest.time > journal.committed_time:
        raise CheckpointRefused(
            f"{store.place}: {name} is of another journal, or of a later state of this one. "
            "Restore the journal that belongs to it, or remove the checkpoints"
        )
    if manifest.time < journal.base:
        raise CheckpointCorrupt(
            f"{name}: it is too old; the journal begins after time {journal.base}"
        )
    return manifest


def _present(
    manifest: Manifest, journal: Journal, tables: Mapping[str, TableSpec]
) -> Iterator[TableEntry]:
    """The tables of a checkpoint that are still declared so (raises CheckpointCorrupt)."""
    positions = journal.positions_at(manifest.time)
    topics = journal.tables
    for table in manifest.tables:
        spec = tables.get(table.name)
        if spec is None or table.epoch != journal.epoch(table.name):
            continue
        if topics.get(table.name, spec.topic) != spec.topic:
            continue  # its topic is another one now: the pipeline is about to forget it
        is_same = (spec.topic, spec.key) == (table.topic, table.key)
        if not is_same or _age(table, spec) is None:
            raise CheckpointCorrupt(f"{manifest.name}: table {table.name!r} is declared otherwise")
        expected = {at: end for at, end in positions.items() if table_of(at[0]) == table.name}
        if table.positions != expected:
            raise CheckpointCorrupt(
                f"{manifest.name}: table {table.name!r} is at {table.positions}, and in the "
                f"journal at {expected}"
            )
        yield table


def _age(table: TableEntry, spec: TableSpec) -> int | None:
    """How many changes a table had seen; None if it never was as the checkpoint has it."""
    known = schemas(spec)
    if table.age is None:  # from when columns were but added: each number of them stands for one
        return known.index(table.schema) if table.schema in known else None
    return table.age if known[table.age : table.age + 1] == [table.schema] else None


def _rows(
    store: Store, tables: Iterable[TableEntry], specs: Mapping[str, TableSpec]
) -> Iterator[tuple[str, Rows]]:
    for table in tables:
        spec = specs[table.name]
        age = _age(table, spec)
        assert age is not None
        for file in table.files:
            for rows, diffs in read_file(store, file, table.schema):
                yield table.name, (brought(rows, spec, age), diffs)


def _feed(
    store: Store,
    tables: Iterable[TableEntry],
    specs: Mapping[str, TableSpec],
    time: int,
    target: Target,
) -> None:
    """Feed the rows of `tables`, another thread reading the next ones meanwhile."""
    items = _rows(store, tables, specs)
    with ThreadPoolExecutor(1, "restore") as reader:
        ahead = reader.submit(next, items, None)
        while (item := ahead.result()) is not None:
            ahead = reader.submit(next, items, None)
            name, rows = item
            target.feed(name, rows, time)
