"""Arrangements in a plan: the layout of their rows, and the places of their columns."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ivm.dataflow.arrangement_order import arranged_positions
from ivm.dataflow.nodes import Arrange
from ivm.physical.build import TracePlan
from ivm.rows.format import Format, followed_by, row_format, string_words
from ivm.rows.interner import Interner
from ivm.rows.packing import Packing


@dataclass(frozen=True, slots=True)
class Shape:
    """The layout of an arrangement's rows: its key, its value, and both `together` as one row.

    `strings` are the words of such a row that hold strings, and whether they are complemented.
    `restored` makes a row of the arranged input, in its column order, from (key, value).
    """

    key: Format
    val: Format
    together: Format
    strings: tuple[tuple[int, bool], ...]
    restored: Packing


@lru_cache
def shape_of(node: Arrange) -> Shape:
    """The layout of the rows in the arrangement `node`."""
    fields, schema = list(node.schema), node.input.schema
    key, val = row_format(fields[: len(node.key)]), row_format(fields[len(node.key) :])
    together = followed_by(key, val)
    return Shape(
        key,
        val,
        together,
        string_words(node.schema.types, together),
        Packing((key, val), places_in(node, range(len(schema))), row_format(schema)),
    )


def places_in(node: Arrange, columns: Iterable[int]) -> list[tuple[int, int]]:
    """The places of these columns of its input in an arrangement: (0: key or 1: value, column)."""
    at, keys = arranged_positions(len(node.input.schema), node.key), len(node.key)
    return [(0, at[i]) if at[i] < keys else (1, at[i] - keys) for i in columns]


@dataclass(frozen=True, slots=True)
class Arranged:
    """An arrangement in a plan: its node, the layout of its rows, and the trace that holds them."""

    node: Arrange
    shape: Shape
    trace: TracePlan

    @property
    def found(self) -> bool:
        """Whether it is there before the plan is built."""
        return self.trace.slot >= 0

    def packed(
        self, columns: Iterable[int], target: Format, interner: Interner | None = None
    ) -> Packing:
        """The packing from (key, value) to these columns of the arranged input, in `target`.

        A target with strings' first bytes needs the interner.
        """
        picks = places_in(self.node, columns)
        return Packing((self.shape.key, self.shape.val), picks, target, interner)

    def flattened(self) -> Packing:
        """The packing from (key, value) to a row of the arrangement read as a collection."""
        keys = [(0, i) for i in range(len(self.node.key))]
        vals = [(1, i) for i in range(len(self.node.schema) - len(self.node.key))]
        target = row_format(self.node.schema)
        return Packing((self.shape.key, self.shape.val), keys + vals, target)
