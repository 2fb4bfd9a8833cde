"""The cache of a pool's plans: a dataflow that comes and goes is planned once and then only built.

A plan is good for as long as the pool is as the plan takes it to be; else another one is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from ivm.dataflow.arguments import key_names, key_positions, unrepeated
from ivm.dataflow.nodes import Arrange, Node, stored
from ivm.dataflow.traversal import reads, recursing
from ivm.dataflow.validate import check, check_parts
from ivm.installed.catalog import Catalog
from ivm.installed.pieces import Index, Piece
from ivm.operators.base.mesh import Mesh
from ivm.physical.plan import PhysicalPlan
from ivm.planner.dispatch import Planner
from ivm.planner.input import arriving, plan_input
from ivm.rows.format import Format
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.runtime.bounds import Bounds

KEPT = 256
"""Plans of dataflows that are kept, and of inputs: the latest ones that were made."""

Found = list[tuple[Piece, Index]]


@dataclass(frozen=True, slots=True)
class InputPlan:
    """A plan of the input that `node` arranges; rows arrive in `layout` and leave in `rows`."""

    key: tuple[str, ...]
    node: Arrange
    plan: PhysicalPlan
    arriving: Format
    layout: Layout
    rows: Layout


@dataclass(slots=True)
class DataflowPlan:
    """A plan of the dataflow that maintains `node`, with the collections that it reads.

    Its rows leave in `rows`, and are arranged by the columns `key`, unless that is None. `last` is
    the name of when it was last installed, with the node by which others find its rows.
    """

    node: Node
    key: tuple[int, ...] | None
    plan: PhysicalPlan
    reads: frozenset[str]
    rows: Layout
    last: tuple[str, Arrange] | None = None

    def source(self, name: str) -> Arrange | None:
        """The node by which others find the rows of the dataflow `name`, if they can."""
        if self.key is None:
            return None
        if self.last is None or self.last[0] != name:
            self.last = name, stored(name, self.node.schema, self.key)
        return self.last[1]


class Plans:
    """Plans over the arrangements in `catalog`."""

    def __init__(
        self,
        catalog: Catalog,
        shards: int,
        interner: Interner,
        bounds: Bounds,
        mesh: Mesh | None = None,
    ) -> None:
        self._catalog = catalog
        self._shards = shards
        self._interner = interner
        self._bounds = bounds
        self._mesh = mesh
        self._dataflows: dict[tuple[Node, tuple[str, ...] | None], DataflowPlan] = {}
        self._inputs: dict[str, InputPlan] = {}

    def of_input(self, name: str, schema: pa.Schema, key: Sequence[str]) -> InputPlan:
        """The plan of an input (raises SchemaMismatch, Unsupported)."""
        known, names = self._inputs.get(name), key_names(name, key)
        if known is not None and known.key == names and known.rows.schema == schema:
            return known
        unrepeated(name, schema)
        node = stored(name, schema, key_positions(name, schema, names))
        form = arriving(node)
        layout = Layout(schema, form)
        plan = plan_input(node, self._shards, self._interner)
        made = InputPlan(names, node, plan, form, layout, Layout(schema))
        _keep(self._inputs, name, made)
        return made

    def of_dataflow(
        self, name: str, node: Node, key: Sequence[str] | None
    ) -> tuple[DataflowPlan, Found]:
        """The plan that maintains `node`, by the columns `key` if any, and the pieces found for it.

        Raises SchemaMismatch, UnknownCollection, NotIndexed, Unsupported.
        """
        return recursing(node, lambda: self._of_dataflow(name, node, key))

    def _of_dataflow(
        self, name: str, node: Node, key: Sequence[str] | None
    ) -> tuple[DataflowPlan, Found]:
        names = None if key is None else key_names(name, key)
        wanted = node, names
        try:
            known = self._dataflows.get(wanted)
        except TypeError:
            check_parts(node)  # says what it is that has no hash
            raise
        found = None if known is None else self._catalog.look(known.plan)
        if known is None or found is None:
            known = self._planned(name, node, names)
            found = [self._catalog.arrangements[there] for there in known.plan.found]
            _keep(self._dataflows, wanted, known)
        return known, found

    def _planned(self, name: str, node: Node, key: tuple[str, ...] | None) -> DataflowPlan:
        planner = Planner(
            self._shards,
            self._interner,
            self._catalog.collections,
            self._catalog.arrangements,
            self._bounds,
            self._mesh,
        )
        check(node)
        rows = Layout(node.schema)
        places = None if key is None else key_positions(name, node.schema, key)
        if places is None:
            return DataflowPlan(node, None, planner.plan_changes(node), reads(node), rows)
        plan = planner.plan(Arrange(node, places))
        return DataflowPlan(node, places, plan, reads(node), rows)


Wanted = TypeVar("Wanted")
Plan = TypeVar("Plan")


def _keep(plans: dict[Wanted, Plan], wanted: Wanted, plan: Plan) -> None:
    """Put `plan` among the latest `KEPT` of `plans`."""
    plans.pop(wanted, None)
    plans[wanted] = plan
    if len(plans) > KEPT:
        del plans[next(iter(plans))]
