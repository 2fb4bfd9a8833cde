"""A member's pool, which decides for all members where rows of a dataflow have to move.

One member puts the exchanges into a dataflow, by the rows that all have together, and the command
that installs it carries what was decided: members that have different rows would decide otherwise.
"""

from collections.abc import Mapping, Sequence

from ivm.dataflow.arguments import key_names, key_positions
from ivm.dataflow.copied_sides import Copying
from ivm.dataflow.distribution import delivered, distributed, exactly
from ivm.dataflow.nodes import Arrange, Node
from ivm.dataflow.traversal import reads, recursing
from ivm.dataflow.validate import check
from ivm.installed.estimates import Estimates
from ivm.installed.forecast import forecast, records
from ivm.operators.base.mesh import Mesh
from ivm.pool import Pool
from ivm.results import Forecast

Counted = Mapping[str, int]
"""The rows that all members have together of each collection, by name."""


class DistributingPool(Pool):
    """A pool that is a member of a cluster, and distributes dataflows for all; see Pool.

    What it is given to install has been distributed.
    """

    def __init__(self, mesh: Mesh, beside: Mesh, **bounds: float) -> None:
        super().__init__(mesh=mesh, beside=beside, **bounds)  # type: ignore[arg-type]
        self._members = mesh.members

    def arranged(self) -> frozenset[str]:
        """The names of the arrangements whose rows lie by their key; see `Pool.arranged`.

        One of rows that stay where they lie serves for joins with copies alone.
        """
        there = list(self._core.catalog.collections.values())
        own = {each.first_index()[0].name for each in there if each.indexes}
        indexes = {piece.name for each in there for piece, _ in list(each.indexes)}
        return super().arranged() - (indexes - own)

    def counted(self, node: Node) -> Counted:
        """The rows that this member has of each collection that `node` reads.

        Raises UnknownCollection and NotIndexed; SchemaMismatch and Unsupported for what `check`
        refuses.
        """
        return recursing(node, lambda: self._counted(node))

    def _counted(self, node: Node) -> Counted:
        check(node)
        return {name: records(self._core.catalog.find(name)) for name in reads(node)}

    def distributed(
        self, name: str, node: Node, key: Sequence[str] | None, counted: Counted
    ) -> Node:
        """The dataflow `name` with the exchanges by which its rows lie with the owners of `key`.

        Without a key they lie where they may be delivered from. Raises UnknownCollection,
        SchemaMismatch, NotIndexed, Unsupported.
        """
        return recursing(node, lambda: self._distributed(name, node, key, counted))

    def _distributed(
        self, name: str, node: Node, key: Sequence[str] | None, counted: Counted
    ) -> Node:
        catalog = self._core.catalog
        placed = {each: catalog.find(each).first_index()[1].node.key for each in reads(node)}
        sizes = Estimates(counted.__getitem__)
        copying = Copying(sizes, self._members, catalog.arrangements)
        if key is None:
            return delivered(node, placed, copying)
        places = key_positions(name, node.schema, key_names(name, key))
        return exactly(distributed(node, placed, copying), places)[0]

    def foretold(self, node: Node, key: Sequence[str] | None, counted: Counted) -> Forecast:
        """The forecast of an installation, over all members; see `Pool.explain`."""
        made = self.distributed("the view", node, key, counted)
        if key is not None:
            made = Arrange(made, key_positions("the view", made.schema, key))
        catalog = self._core.catalog
        return recursing(
            made,
            lambda: forecast(
                made, catalog.arrangements, catalog.find, counted.__getitem__, self._members
            ),
        )

    def shown(self, node: Node, key: Sequence[str] | None, counted: Counted) -> str:
        """The physical plan that each member would build now; see `Pool.plan_text`."""
        return self.plan_text(self.distributed("the view", node, key, counted), key)
