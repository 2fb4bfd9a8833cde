"""A course of changes over all tables: in each batch rows come, go, and take other values.

A row is named by its place in the generated table. It has the key columns of that place, and all
others from a place of its own, so that an update stays within what the columns really hold: other
prices, days and foreign keys.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from views.catalog import Table

SEED = 20_240_131
ABSENT = 0.1  # of each table's rows, at first

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Change:
    """What one batch does to a table; an update is a removed and an inserted row."""

    removed: pa.RecordBatch
    inserted: pa.RecordBatch


class Rows:
    """A table's rows while they change."""

    def __init__(
        self, table: Table, rows: pa.RecordBatch, share: float, random: np.random.Generator
    ) -> None:
        self._table = table
        self._count = max(1, int(share * rows.num_rows))
        self._rows = rows
        self._random = random
        self._values = np.arange(rows.num_rows)
        self._present = random.random(rows.num_rows) >= ABSENT

    def present(self) -> pa.RecordBatch:
        """The rows that are there now."""
        return self._at(np.flatnonzero(self._present))

    def next(self) -> Change:
        """Change some rows."""
        coming = self._some(np.flatnonzero(~self._present), self._count)
        staying = self._some(np.flatnonzero(self._present), 2 * self._count)
        going, changing = staying[::2], staying[1::2]
        removed = self._at(np.concatenate([going, changing]))
        self._present[coming] = True
        self._present[going] = False
        self._values[changing] = self._random.integers(0, len(self._values), len(changing))
        return Change(removed, self._at(np.concatenate([coming, changing])))

    def _some(self, places: Places, count: int) -> Places:
        return self._random.choice(places, min(count, len(places)), replace=False)

    def _at(self, places: Places) -> pa.RecordBatch:
        keys, values = self._rows.take(places), self._rows.take(self._values[places])
        columns = [
            (keys if name in self._table.key else values).column(name)
            for name in self._table.schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._table.schema)


class Course:
    """The tables' rows at first, and batch after batch of changes; the same each time.

    In a batch a `share` of each table's rows comes, as many go, and as many change.
    """

    def __init__(self, tables: Iterable[tuple[Table, pa.RecordBatch]], share: float) -> None:
        random = np.random.default_rng(SEED)
        self._rows = {t.name: Rows(t, rows, share, random) for t, rows in tables}

    def first(self) -> dict[str, Change]:
        """The rows of each table at first, as insertions."""
        present = {name: rows.present() for name, rows in self._rows.items()}
        return {name: Change(batch.slice(0, 0), batch) for name, batch in present.items()}

    def batches(self, count: int) -> Iterator[dict[str, Change]]:
        """`count` batches of changes to all tables."""
        for _ in range(count):
            yield {name: rows.next() for name, rows in self._rows.items()}
