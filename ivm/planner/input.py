"""Planning of inputs: a queue, and the arrangement of its rows by their primary key.

Rows arrive in the format in which the arrangement's key and value lie, so that no pass over them
moves columns.
"""

from functools import lru_cache

from ivm.dataflow.arrangement_order import arranged_positions
from ivm.dataflow.nodes import Arrange, Get
from ivm.physical.arrangement import Arranged, shape_of
from ivm.physical.operations import Input, KeyOrder
from ivm.physical.plan import PhysicalPlan, PiecePlan
from ivm.planner.stages import Stages
from ivm.rows.format import Format
from ivm.rows.interner import Interner


def plan_input(node: Arrange, shards: int, interner: Interner) -> PhysicalPlan:
    """A plan of the input that `node` arranges: its first stage (raises Unsupported).

    Rows arrive in the format `arriving`.
    """
    assert isinstance(node.input, Get)
    shape = shape_of(node)
    keys = ", ".join(node.schema.names[: len(node.key)])
    piece = PiecePlan(f"{node.input.name}[{keys}]", arranged=node)
    plan = Stages(piece, shards, interner)
    rows = plan.stage(shape.together, Input(arranged=True))
    trace = plan.sealed(rows, KeyOrder(node.key), shape.key.words, shape.strings)
    made = piece, Arranged(node, shape, trace)
    piece.finish()
    return PhysicalPlan(
        plan.depths, plan.stages, plan.operations, plan.root, [piece], {node: made}, made
    )


@lru_cache
def arriving(node: Arrange) -> Format:
    """The format of an arrangement's key and value, with the places in the input's order."""
    together = shape_of(node).together
    width = len(node.input.schema)
    at = arranged_positions(width, node.key)
    return Format(together.words, tuple(together.places[at[i]] for i in range(width)))
