"""Unused strings: those that no row has any more, released once their bytes have grown enough.

Looking for them reads every string that is held, so it waits until there are twice as many bytes as
were left the last time: looking then costs a constant for each byte that came. Where little was
found it waits for four times as many.
"""

from contextlib import suppress

from ivm.installed.catalog import Catalog
from ivm.rows.format import row_format, string_words
from ivm.rows.interner import Interner
from ivm.runtime.string_gc import sweep

FIRST = 16 << 20  # bytes of strings


class UnusedStrings:
    """Finds strings of `interner` that nothing in the `catalog` uses.

    They are `many` from `limit` bytes on.
    """

    def __init__(self, interner: Interner, catalog: Catalog) -> None:
        self._interner = interner
        self._catalog = catalog
        self.limit = FIRST

    @property
    def many(self) -> bool:
        """Whether there are so many strings that unused ones are worth looking for."""
        return self._interner.bytes >= self.limit

    def look_soon(self) -> None:
        """Let few strings be enough, since something that used some has gone."""
        self.limit = FIRST

    def release(self) -> None:
        """Give back unused strings; while the pool's gate is held."""
        held, inputs, captures = self._interner.bytes, [], []
        for collection in self._catalog.collections.values():
            types, form = collection.schema.types, row_format(collection.schema)
            strings = string_words(types, collection.arriving or form)
            if collection.intake is not None:
                inputs += [(shard, strings) for shard in collection.intake.inputs]
            captures += [(shard, string_words(types, form)) for shard in collection.captures]
        living = self._catalog.living
        traces = [trace for piece in living for trace in piece.traces]
        groups = [table for piece in living for table in piece.groups]
        curves = [histories for piece in living for histories in piece.curves]
        with suppress(MemoryError):  # then they stay until the next step
            if sweep(self._interner, traces, groups, curves, inputs, captures):
                left = self._interner.bytes
                self.limit = max((4 if 4 * left > 3 * held else 2) * left, FIRST)
