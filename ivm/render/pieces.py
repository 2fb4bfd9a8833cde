"""What the pool maintains: pieces, each the stages that produce one arrangement or one capture.

A piece lives while an input or a dataflow needs it, directly or through other pieces.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import pyarrow as pa

from ivm.dataflow import Arrange
from ivm.errors import NotIndexed
from ivm.operators.capture import Capture
from ivm.operators.curves import Curves
from ivm.operators.fallible import Fallible
from ivm.operators.groups import Groups
from ivm.operators.operator import Reader
from ivm.results import Found
from ivm.rows.format import Format, followed_by, row_format, string_words
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner
from ivm.trace.trace import Trace
from ivm.workers.intake import Intake
from ivm.workers.lookups import look_up
from ivm.workers.stage import Loop, Stage


class Stateful(Protocol):
    """What holds the state of an operator."""

    def account(self) -> tuple[int, int]:
        """Records held and bytes of memory."""


@dataclass(eq=False, slots=True)
class Piece:
    """Stages that belong together, in order, and the pieces that they read.

    `arranged` is the node whose arrangement it is, unless it is a dataflow's own. `states` lists
    what its operators hold beside `traces`, each with its kind.
    """

    name: str
    arranged: Arrange | None = None
    stages: list[Stage] = field(default_factory=list)
    needs: set["Piece"] = field(default_factory=set)
    readers: list[Reader] = field(default_factory=list)
    fallible: list[Fallible] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    groups: list[Groups] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    states: list[tuple[str, Stateful]] = field(default_factory=list)

    def all_needed(self) -> Iterator["Piece"]:
        """This piece and all that it needs, each once."""
        seen: set[Piece] = set()
        pending = [self]
        while pending:
            piece = pending.pop()
            if piece not in seen:
                seen.add(piece)
                yield piece
                pending += piece.needs


@dataclass(frozen=True, slots=True)
class Shape:
    """How rows lie in an arrangement: its key, its value, and both `together` as one row.

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
    """How rows lie in the arrangement `node`."""
    fields, schema = list(node.schema), node.input.schema
    key, val = row_format(fields[: len(node.key)]), row_format(fields[len(node.key) :])
    together = followed_by(key, val)
    return Shape(
        key,
        val,
        together,
        string_words(node.schema.types, together),
        Packing((key, val), _places(node, range(len(schema))), row_format(schema)),
    )


def _places(node: Arrange, columns: Iterable[int]) -> list[tuple[int, int]]:
    """Where an arrangement has these columns of its input: (0: key or 1: value, which of its)."""
    others = [i for i in range(len(node.input.schema)) if i not in node.key]
    return [(0, node.key.index(i)) if i in node.key else (1, others.index(i)) for i in columns]


@dataclass(frozen=True, slots=True)
class Index:
    """An arrangement: its node, how its rows lie, and a trace for each shard."""

    node: Arrange
    shape: Shape
    traces: tuple[Trace, ...]

    @property
    def key_schema(self) -> pa.Schema:
        return pa.schema(list(self.node.schema)[: len(self.node.key)])

    @property
    def key_names(self) -> tuple[str, ...]:
        return tuple(self.key_schema.names)

    def packed(
        self, columns: Iterable[int], target: Format, interner: Interner | None = None
    ) -> Packing:
        """The packing from (key, value) to these columns of the arranged input, in `target`.

        A target with strings' first bytes needs the interner.
        """
        picks = _places(self.node, columns)
        return Packing((self.shape.key, self.shape.val), picks, target, interner)

    def look_up(self, keys: pa.RecordBatch, layout: Layout, interner: Interner) -> Found:
        """The published rows, laid out by `layout`, with each of `keys` (raises SchemaMismatch)."""
        key = Layout(self.key_schema)
        chosen = keys.select(self.key_names)
        return Found(*look_up(self.traces, self.shape.restored, layout, interner, chosen, key))

    def flattened(self) -> Packing:
        """The packing from (key, value) to a row of the arrangement read as a collection."""
        keys = [(0, i) for i in range(len(self.node.key))]
        vals = [(1, i) for i in range(len(self.node.schema) - len(self.node.key))]
        target = row_format(self.node.schema)
        return Packing((self.shape.key, self.shape.val), keys + vals, target)


@dataclass(eq=False, slots=True)
class Collection:
    """An input or an installed dataflow.

    Dataflows find its rows by its key as `source`. `indexes` lists the arrangements of its rows,
    `reads` the collections that it refers to, `read_by` those that refer to it; `insert_only` says
    that no row is ever retracted, and `pending_errors` are the (message, time, diff) that nobody
    has taken. An input has an `intake`; rows arrive in the format `arriving`.
    """

    name: str
    schema: pa.Schema
    source: Arrange
    piece: Piece
    indexes: list[tuple[Piece, Index]]
    intake: Intake | None = None
    arriving: Format | None = None
    captures: tuple[Capture, ...] = ()
    reads: frozenset[str] = frozenset()
    read_by: dict[str, None] = field(default_factory=dict)
    insert_only: bool = False
    pending_errors: list[tuple[str, int, int]] = field(default_factory=list)
    _layout: Layout | None = field(init=False, default=None)

    @property
    def layout(self) -> Layout:
        """How rows lie that leave; made when it is first needed."""
        if self._layout is None:
            self._layout = Layout(self.schema)
        return self._layout

    @property
    def is_input(self) -> bool:
        return self.intake is not None

    def index_on(self, names: Iterable[str]) -> Index:
        """The arrangement whose key is exactly these columns, in any order (raises NotIndexed)."""
        wanted = list(names)
        for _, index in self.indexes:
            if set(index.key_names) == set(wanted):
                return index
        keys = ", ".join(f"({', '.join(index.key_names)})" for _, index in self.indexes)
        raise NotIndexed(f"{self.name!r} is not indexed by ({', '.join(wanted)}), but by {keys}")
