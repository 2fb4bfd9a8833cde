"""The planner: each node becomes stages of a physical plan, by the planner of its kind."""

from ivm.dataflow.exhaustive import check_complete
from ivm.dataflow.nodes import KINDS, Arrange, Get, Node
from ivm.dataflow.traversal import reads
from ivm.physical.arrangement import Arranged
from ivm.physical.operations import CaptureArranged, CaptureRows
from ivm.physical.plan import PhysicalPlan, PiecePlan
from ivm.physical.scopes import Planned
from ivm.planner import exchange, join, linear, recursion, reduce, temporal_filter, window
from ivm.planner.bounded_output import foreseeable
from ivm.planner.planning import Planners, Planning
from ivm.rows.format import Format, row_format

_MODULES = (linear, join, reduce, window, recursion, temporal_filter, exchange)
PLANNERS: Planners = {kind: plan for module in _MODULES for kind, plan in module.PLANNERS.items()}
"""The planner of each kind of node; to be without one is an error at import."""

check_complete("ivm.planner.dispatch", [k.__name__ for k in PLANNERS], [k.__name__ for k in KINDS])


class Planner(Planning):
    """Plans one dataflow over the collections and arrangements of a pool."""

    def plan(self, wanted: Arrange) -> PhysicalPlan:
        """A plan of a dataflow that maintains `wanted` and captures its changes.

        Raises UnknownCollection, SchemaMismatch, NotIndexed, Unsupported.
        """
        result = self.arranged(wanted)
        form = Format(result.shape.restored.words, ())
        capture = self.stage(form, CaptureArranged(result))
        owner = self.found[wanted] if wanted in self.found else self.made[wanted][0]
        return self._finished(wanted, (owner, result), capture)

    def plan_changes(self, wanted: Node) -> PhysicalPlan:
        """A plan of a dataflow that captures the changes of `wanted` and arranges none of them.

        Raises as `plan` does.
        """
        picks = [(0, i) for i in range(len(wanted.schema))]
        rows = self.packed(self.planned(wanted), picks, row_format(wanted.schema))
        return self._finished(wanted, None, self.stage(rows.format, CaptureRows(rows)))

    def _finished(
        self, wanted: Node, result: tuple[PiecePlan | int, Arranged] | None, capture: Planned
    ) -> PhysicalPlan:
        pieces = [*(piece for piece, _ in self.made.values()), self.piece]
        for piece in pieces:
            piece.finish()
        return PhysicalPlan(
            self.depths,
            self.stages,
            self.operations,
            self.root,
            pieces,
            self.made,
            result,
            indexing=tuple((n, n.input.name) for n in self.made if isinstance(n.input, Get)),
            capture=capture.stage,
            constants=tuple(self.constants),
            found=tuple(self.found),
            absent=tuple(self.absent),
            growing={name: self.source(name).insert_only for name in reads(wanted)},
            only_grows=self.only_grows(wanted),
            foreseeable=foreseeable(self.operations),
        )

    def plan_node(self, node: Node) -> Planned:
        """Add the stages of `node` to the present scope."""
        return PLANNERS[type(node)](self, node)
