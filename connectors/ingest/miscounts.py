"""Remembers the keys of tables whose rows do not add up, until later changes make up for them.

The keys of each batch are looked up in the table's own arrangement once their times are complete.
"""

from base64 import b64decode, b64encode

import pyarrow as pa
import structlog

from connectors.ingest.miscounted import Miscounted
from connectors.ingest.tables import Tables
from connectors.tables.table import Table

log = structlog.get_logger()


class Miscounts:
    """The keys at fault of each table; to be kept with the tables in a checkpoint."""

    def __init__(self, tables: Tables) -> None:
        self.faults: dict[str, Miscounted] = {}
        self._tables = tables
        self._noted: dict[str, list[pa.RecordBatch]] = {}
        self._known: dict[str, Table] = {}

    @property
    def has_noted(self) -> bool:
        """Whether `check` has keys to look up."""
        return bool(self._noted)

    def note(self, table: Table, rows: pa.RecordBatch) -> None:
        """Let `check` look up the keys of these rows, and those that are at fault already."""
        self._known[table.name] = table
        self._noted.setdefault(table.name, []).append(self._tables.keys_of(table, rows))

    def check(self) -> None:
        """Look up the keys that were noted, whose times are complete now."""
        for table, noted in self._noted.items():
            before = self.faults.get(table)
            known = before.keys if before is not None else None
            found = self._tables.miscounted(self._known[table], noted, known)
            if found is None:
                self.faults.pop(table, None)
                continue
            self.faults[table] = found
            if before is None:
                log.error("rows do not add up", table=table, first=next(iter(found.messages)))
        self._noted.clear()

    def count(self, table: str) -> int:
        """The number of a table's keys at fault, as far as they are remembered."""
        found = self.faults.get(table)
        return found.keys.num_rows if found is not None else 0

    def forget(self, table: str) -> None:
        """Forget a table that was dropped."""
        self.faults.pop(table, None)
        self._noted.pop(table, None)
        self._known.pop(table, None)

    def to_json(self, table: str) -> str:
        """The keys of a table at fault, for `restore`."""
        found = self.faults.get(table)
        if found is None:
            return ""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, found.keys.schema) as writer:
            writer.write_batch(found.keys)
        return b64encode(sink.getvalue().to_pybytes()).decode()

    def restore(self, table: Table, value: str) -> None:
        """Let `check` look up the keys that `to_json` gave."""
        if value:
            [keys] = pa.ipc.open_stream(b64decode(value))
            self.faults[table.name] = Miscounted(keys, {})
            self._known[table.name] = table
            self._noted.setdefault(table.name, [])
