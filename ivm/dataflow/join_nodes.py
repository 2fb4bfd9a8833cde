"""Arrangements, and joins of them: of two by equal keys, and of many without state between them.

>>> from ivm.dataflow.nodes import Get
>>> edges = Get("edges", pa.schema([(name, pa.int64()) for name in ("src", "dst")]))
>>> by_src = Arrange(edges, (0,))
>>> two = Join(Arrange(edges, (1,)), by_src, (("middle", 0), ("first", 1), ("last", 2)))
>>> two.schema.names, two.children[1] is by_src
(['middle', 'first', 'last'], True)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import pyarrow as pa

from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.node import Node, Sizes, TypeText, Unary, chosen
from ivm.dataflow.schema_checks import columns_exist, key_exists, types_agree
from ivm.dataflow.text import columns_text
from ivm.errors import SchemaMismatch, Unsupported


@dataclass(frozen=True, slots=True, eq=False)
class Arrange(Unary):
    """Arrange indexes `input` by the columns `key`, once for every dataflow that asks for the same.

    As a collection it has the key columns first, in the order of `key`, and then the others.
    """

    key: tuple[int, ...]
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def __post_init__(self) -> None:
        given = self.input.schema
        if self.key != tuple(range(len(self.key))):
            given = pa.schema(chosen(list(given), arrangement_order(len(given), self.key)))
        object.__setattr__(self, "schema", given)

    @property
    def is_keyed(self) -> bool:
        """Whether rows differ in the key: a constant one pairs all rows with all."""
        constant = self.input.constant_columns
        return any(i not in constant for i in self.key)

    def check(self) -> None:
        key_exists("an arrangement", self.input.schema, self.key)

    def text(self, type_text: TypeText) -> str:
        return f"by {columns_text(self.key)}"


@dataclass(frozen=True, slots=True, eq=False)
class Join(Node):
    """Join pairs the rows with equal keys and projects the pairs; counts multiply.

    The candidate columns are the key's, the left's others, the right's others, in this order and
    numbered from 0; `outputs` lists those to keep, with their names. Both keys have the same types.

    >>> from ivm.dataflow.nodes import Constant
    >>> from ivm.pool import Pool
    >>> some = Constant(((0, 1), (1, 2), (1, 3)), edges.schema)
    >>> walks = Join(Arrange(some, (1,)), Arrange(some, (0,)), (("first", 1), ("last", 2)))
    >>> pool = Pool()
    >>> pool.advance(1)
    >>> _ = pool.install("walks", walks, key=["first"])
    >>> pool.peek("walks", {"first": 0}).rows["last"].to_pylist()
    [2, 3]
    """

    left: Arrange
    right: Arrange
    outputs: tuple[tuple[str, int], ...]
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", _named(self._candidates(), self.outputs))

    def _candidates(self) -> list[pa.Field]:
        return [*self.left.schema, *list(self.right.schema)[len(self.right.key) :]]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def check(self) -> None:
        left, right = (side.schema.types[: len(side.key)] for side in (self.left, self.right))
        types_agree("a join", left, right)
        columns_exist("a join", pa.schema(self._candidates()), (i for _, i in self.outputs))

    def pairs(self, sizes: Sizes) -> float:
        """Estimate the pairs that it makes without a key; 0 if it has one."""
        return 0 if self.left.is_keyed else sizes.of(self.left) * sizes.of(self.right)

    def estimate(self, sizes: Sizes) -> float:
        if self.left.is_keyed:
            return max(sizes.of(self.left), sizes.of(self.right))
        return self.pairs(sizes)

    def text(self, type_text: TypeText) -> str:
        return f"to {_outputs_text(self.outputs)}"


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look-up finds the rows of relation `relation` whose columns `key` equal `bound`.

    `key` numbers the relation's own columns, `bound` the columns of all relations together, those
    of relations that the path has met before.
    """

    relation: int
    key: tuple[int, ...]
    bound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A path leads from changes of one relation, arranged by `key`, to partners in the others."""

    key: tuple[int, ...]
    lookups: tuple[Lookup, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DeltaJoin(Node):
    """A delta join joins all `relations` on the equalities of its paths, without state of its own.

    `paths[i]` starts from changes of relation i and looks up every other relation once. All paths
    ask for the same equalities. Columns are numbered over all relations, one after another;
    `outputs` lists those to keep, with their names. `inputs` are the arrangements that the paths
    use, each once. `ivm.dataflow.delta_join` makes the paths from what shall be equal.
    """

    relations: tuple[Node, ...]
    paths: tuple[Path, ...]
    outputs: tuple[tuple[str, int], ...]
    inputs: tuple[Arrange, ...] = field(init=False, compare=False)
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def __post_init__(self) -> None:
        used = [(i, path.key) for i, path in enumerate(self.paths)]
        used += [(lookup.relation, lookup.key) for path in self.paths for lookup in path.lookups]
        there = range(len(self.relations))
        inputs = [Arrange(self.relations[i], key) for i, key in used if i in there]
        object.__setattr__(self, "inputs", tuple(dict.fromkeys(inputs)))
        object.__setattr__(self, "schema", _named(self._candidates(), self.outputs))

    def _candidates(self) -> list[pa.Field]:
        return [f for relation in self.relations for f in relation.schema]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.inputs

    def check(self) -> None:
        if not self.relations or len(self.paths) != len(self.relations):
            raise Unsupported(
                f"a join of {len(self.relations)} relations by {len(self.paths)} paths"
            )
        together = pa.schema(self._candidates())
        columns_exist("a join", together, (column for _, column in self.outputs))
        conditions = [self._equal(i, path, together) for i, path in enumerate(self.paths)]
        for start, condition in enumerate(conditions):
            if condition != conditions[0]:
                columns = min(sorted(c) for c in condition ^ conditions[0])
                raise Unsupported(f"the paths from 0 and {start} do not both hold {columns} equal")

    def _equal(self, start: int, path: Path, together: pa.Schema) -> set[frozenset[int]]:
        """Collect the classes of columns, over all relations, that `path` from `start` equates."""
        what = f"the path from relation {start}"
        key_exists(what, self.relations[start].schema, path.key)
        met = [start, *(lookup.relation for lookup in path.lookups)]
        if sorted(met) != list(range(len(self.relations))):
            raise Unsupported(f"{what} of {len(self.relations)} meets the relations {met}")
        widths = (len(relation.schema) for relation in self.relations)
        ends = list(accumulate(widths, initial=0))
        known = set(range(ends[start], ends[start + 1]))
        classes: dict[int, frozenset[int]] = {}
        for lookup in path.lookups:
            schema, first = self.relations[lookup.relation].schema, ends[lookup.relation]
            key_exists(what, schema, lookup.key)
            columns_exist(what, together, lookup.bound)
            for column in set(lookup.bound) - known:
                raise SchemaMismatch(f"{what} looks for column {column}, which it has not met yet")
            types_agree(
                what,
                (schema.field(column).type for column in lookup.key),
                (together.field(column).type for column in lookup.bound),
            )
            for key, bound in zip(lookup.key, lookup.bound, strict=True):
                pair = (first + key, bound)
                merged = frozenset().union(*(classes.get(c, frozenset([c])) for c in pair))
                classes |= dict.fromkeys(merged, merged)
            known |= set(range(first, ends[lookup.relation + 1]))
        return set(classes.values())

    def estimate(self, sizes: Sizes) -> float:
        return max(map(sizes.of, self.relations))

    def text(self, type_text: TypeText) -> str:
        paths = (
            (i, *(step.relation for step in path.lookups)) for i, path in enumerate(self.paths)
        )
        routes = ", ".join(" > ".join(map(str, path)) for path in paths)
        return f"{routes} to {_outputs_text(self.outputs)}"


def _named(fields: Sequence[pa.Field], outputs: Iterable[tuple[str, int]]) -> pa.Schema:
    """Pick the fields at the columns of `outputs`, and rename them so."""
    return pa.schema([f.with_name(name) for name, i in outputs for f in chosen(fields, [i])])


def _outputs_text(outputs: Iterable[tuple[str, int]]) -> str:
    return f"({', '.join(f'{name} := ${i}' for name, i in outputs)})"
