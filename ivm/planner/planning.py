"""Planning of one dataflow: the state that the planners of all its nodes share.

A node is planned once, in the innermost scope whose recursive names it refers to, and entered into
deeper ones. An arrangement that refers to none is the pool's and shared by structure.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.loop_nodes import free_names
from ivm.dataflow.nodes import Arrange, Get, Negate, Node, Union, stored
from ivm.errors import SchemaMismatch, UnknownCollection
from ivm.installed.collection import Collection
from ivm.installed.pieces import Index, Piece
from ivm.operators.base.mesh import Mesh
from ivm.physical.arrangement import Arranged, shape_of
from ivm.physical.build import TracePlan
from ivm.physical.loop_operations import Enter
from ivm.physical.operations import Flatten, KeyOrder
from ivm.physical.plan import PiecePlan
from ivm.physical.scopes import Planned, Scope
from ivm.planner.monotonic import Growth
from ivm.planner.stages import Stages
from ivm.rows.format import Format, row_format
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.runtime.bounds import Bounds


class Planning(Stages, ABC):
    """Plans nodes over the `collections` and `arrangements` of a pool, each of them once."""

    def __init__(
        self,
        shards: int,
        interner: Interner,
        collections: Mapping[str, Collection],
        arrangements: Mapping[Arrange, tuple[Piece, Index]],
        bounds: Bounds,
        mesh: Mesh | None,
    ) -> None:
        super().__init__(PiecePlan("", owned=True), shards, interner, mesh)
        self.bounds = bounds
        self.found: dict[Arrange, int] = {}
        self.absent: dict[Arrange, None] = {}
        self.made: dict[Arrange, tuple[PiecePlan, Arranged]] = {}
        self.constants: list[tuple[int, Layout, pa.RecordBatch]] = []
        self._collections = collections
        self._arrangements = arrangements
        self._numbered = 0
        self._growth = Growth(collections)

    @abstractmethod
    def plan_node(self, node: Node) -> Planned:
        """Add the stages of `node`, which none of the present scope has yet."""

    def planned(self, node: Node) -> Planned:
        """The node's collection in the present scope."""
        home = self.scope.home(free_names(node))
        made: Planned | None = self.scope.memo.get(node)
        if made is None and home is not self.scope:
            made = self._entered(node)
        elif made is None:
            made = self.plan_node(node)
        self.scope.memo[node] = made
        self.need(made)
        return made

    def only_grows(self, node: Node) -> bool:
        """Whether no row of `node`, in the present scope, is ever retracted."""
        return self.scope.grows and self._growth.grows(node)

    def _entered(self, node: Node) -> Planned:
        assert self.scope.parent is not None
        with self.within(self.scope.parent):
            outside = self.planned(node)
        return self.stage(outside.format, Enter(outside))

    # --- arrangements ---

    def arranged(self, node: Arrange) -> Arranged:
        """The arrangement `node`, found or made, in the scope where it belongs."""
        home = self.scope.home(free_names(node))
        if home.parent is not None:
            return self._arranged_in(node, home)
        return self.find(node) or self._shared(node)

    def find(self, node: Arrange) -> Arranged | None:
        """The arrangement `node` of the pool, if there is one."""
        there = self._arrangements.get(node)
        if there is None:
            self.absent[node] = None
            return None
        own = there[1].node  # the same object when the plan is built again, which is found at once
        slot = self.found.setdefault(own if own == node else node, len(self.found))
        self.piece.found[slot] = None
        return Arranged(node, shape_of(node), TracePlan(slot=slot))

    def _shared(self, node: Arrange) -> Arranged:
        """A new arrangement that refers to no recursive name."""
        if node not in self.made:
            self._arrange_shared(node)
        owner, arranged = self.made[node]
        self.piece.made[owner] = None
        return arranged

    def _arranged_in(self, node: Arrange, home: Scope) -> Arranged:
        if node not in home.indexes:
            with self.within(home):
                home.indexes[node] = self._index(node)
        return home.indexes[node]

    def _arrange_shared(self, node: Arrange) -> None:
        outer, root = self.piece, self.scope.home(frozenset())
        self.piece = self._piece(node)
        self.open.append(self.piece)
        try:
            with self.within(root):
                self.made[node] = self.piece, self._index(node)
        finally:
            self.open.pop()
            self.piece = outer

    def _piece(self, node: Arrange) -> PiecePlan:
        """A piece for the arrangement `node`, named by the collection and its indexed columns."""
        keys = ", ".join(node.schema.names[: len(node.key)])
        if isinstance(node.input, Get):
            return PiecePlan(f"{node.input.name}[{keys}]", arranged=node)
        self._numbered += 1
        number = "" if self._numbered == 1 else f".{self._numbered}"
        return PiecePlan(f"{number}[{keys}]", owned=True, arranged=node)

    def _index(self, node: Arrange) -> Arranged:
        shape = shape_of(node)
        width = len(node.input.schema)
        picks = list(arrangement_order(width, node.key))
        source = self.moved(node.input, picks, shape.together)
        trace = self.sealed(source, KeyOrder(node.key), shape.key.words, shape.strings)
        return Arranged(node, shape, trace)

    def moved(self, node: Node, picks: list[int], target: Format) -> Planned:
        """`node`'s columns `picks` in format `target`; its rows stay in their shards."""
        if isinstance(node, Arrange):
            order = arrangement_order(len(node.schema), node.key)
            return self.flattened(self.arranged(node), [order[i] for i in picks], target)
        if index := self.stored_rows(node):
            return self.flattened(index, picks, target)
        return self.packed(self.planned(node), [(0, i) for i in picks], target)

    def flattened(self, index: Arranged, picks: list[int], target: Format) -> Planned:
        """Columns `picks` of what `index` arranges, in format `target`."""
        packing = index.packed(picks, target, self.interner)
        return self.stage(target, Flatten(index, picks, packing))

    def keyed(
        self,
        node: Node,
        key: Sequence[int],
        picks: list[int],
        target: Format,
        *,
        gathers: bool = True,
    ) -> Planned:
        """`node`'s columns `picks` in format `target`, each row in the shard of its columns `key`.

        If it `gathers`, few rows are in the first shard instead, for who takes few for all shards
        together. The terms of a sum are exchanged as they come.
        """
        if self.shards == 1:
            return self.moved(node, picks, target)
        terms = signed(node) if isinstance(node, Union) else [(node, False)]
        if self.scope.home(free_names(node)) is not self.scope:
            terms = [(node, False)]
        sources, negated = self.terms(node, terms)
        return self.exchanged(sources, negated, node.schema, key, picks, target, gathers)

    def stored_by(self, node: Node, key: Sequence[int]) -> Arranged | None:
        """An arrangement of `node`'s rows; by their columns `key`, if there are several shards."""
        if self.shards == 1:
            return self.stored_rows(node)
        if not isinstance(node, Get) or self.scope.parent is not None:
            return None
        self.source(node.name, node.schema)
        return self.find(Arrange(node, tuple(key)))

    def stored_rows(self, node: Node) -> Arranged | None:
        """An arrangement of `node`'s rows by any columns: of a collection, at the root."""
        if isinstance(node, Get) and self.scope.parent is None:
            return self.stored(node)
        return None

    def stored(self, node: Get) -> Arranged:
        """The rows of an input or an installed dataflow as the pool keeps them."""
        _, index = self.source(node.name, node.schema).first_index()
        found = self.find(stored(node.name, node.schema, index.node.key))
        assert found is not None
        return found

    def source(self, name: str, schema: pa.Schema | None = None) -> Collection:
        """The collection `name`, of this `schema` (raises UnknownCollection, SchemaMismatch)."""
        collection = self._collections.get(name)
        if collection is None:
            raise UnknownCollection(f"there is no input or dataflow {name!r}")
        if schema is not None and collection.schema != schema:
            raise SchemaMismatch(f"{name!r} has the schema {collection.schema}")
        return collection

    def terms(
        self, node: Node, terms: Sequence[tuple[Node, bool]]
    ) -> tuple[list[Planned], list[bool]]:
        """The `terms` that `node` adds up, in its format, and for each whether it is negated."""
        form = row_format(node.schema)
        picks = [(0, i) for i in range(len(node.schema))]
        sources = [self.packed(self.planned(term), picks, form) for term, _ in terms]
        return sources, [negative for _, negative in terms]


def signed(node: Union) -> list[tuple[Node, bool]]:
    """The terms of a sum, each with whether it is subtracted."""
    return [(n.input, True) if isinstance(n, Negate) else (n, False) for n in node.inputs]


Planners: TypeAlias = Mapping[type[Node], Callable[[Planning, Any], Planned]]
"""By the kind of a node, the function that adds its stages to the present scope."""
