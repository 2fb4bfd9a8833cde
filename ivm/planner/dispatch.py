"""The planner: each node becomes stages of a physical plan, by the planner of its kind."""

from typing import assert_never

from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Constant,
    DeltaJoin,
    Distinct,
    EnterAt,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    TemporalFilter,
    Threshold,
    TopK,
    Union,
    Window,
)
from ivm.dataflow.traversal import reads
from ivm.physical.arrangement import Arranged
from ivm.physical.operations import CaptureArranged, CaptureRows
from ivm.physical.plan import PhysicalPlan, PiecePlan
from ivm.physical.scopes import Planned
from ivm.planner.bounded_output import foreseeable
from ivm.planner.join import plan_delta_join, plan_join
from ivm.planner.linear import (
    plan_arrange,
    plan_consolidate,
    plan_constant,
    plan_filter,
    plan_flat_map,
    plan_get,
    plan_map,
    plan_sum,
    plan_union,
)
from ivm.planner.planning import Planning
from ivm.planner.recursion import plan_enter_at, plan_iterate, plan_recursive
from ivm.planner.reduce import plan_reduce, plan_threshold, plan_top_k
from ivm.planner.temporal_filter import plan_temporal_filter
from ivm.planner.window import plan_window
from ivm.rows.format import Format, row_format


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
        match node:
            case Get():
                return plan_get(self, node)
            case Constant():
                return plan_constant(self, node)
            case Filter():
                return plan_filter(self, node)
            case Map():
                return plan_map(self, node)
            case FlatMap():
                return plan_flat_map(self, node)
            case Consolidate():
                return plan_consolidate(self, node)
            case Union():
                return plan_union(self, node)
            case Negate():
                return plan_sum(self, node, [(node.input, True)])
            case Arrange():
                return plan_arrange(self, node)
            case Join():
                return plan_join(self, node)
            case DeltaJoin():
                return plan_delta_join(self, node)
            case Reduce():
                return plan_reduce(self, node)
            case Distinct():
                return plan_threshold(self, node.input, 1)
            case Threshold():
                return plan_threshold(self, node.input, node.limit)
            case TopK():
                return plan_top_k(self, node)
            case TemporalFilter():
                return plan_temporal_filter(self, node)
            case Window():
                return plan_window(self, node)
            case Recursive():
                return plan_recursive(self, node)
            case Iterate():
                return plan_iterate(self, node)
            case EnterAt():
                return plan_enter_at(self, node)
            case _:
                assert_never(node)
