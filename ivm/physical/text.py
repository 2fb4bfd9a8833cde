"""The text of a physical plan: its stages, by the arrangements that they make.

    reuse orders[customer_id]
    make (new)[customer_id]
      #0 AccumulateArranged orders[customer_id] by ($1), key by key: n := count(*)
      #1 Arrange #0 by ($0)
    deliver
      #2 CaptureArranged (new)[customer_id]

`#0` is a stage, `$1` a column of the input of the node that is planned: where stages before brought
columns in order, the number is still the node's. What belongs to a dataflow is `(new)` until it has
a name. A loop stands before the stages of its body.
"""

from collections.abc import Iterator, Sequence

from ivm.physical.build import LoopPlan, TracePlan
from ivm.physical.operation import Names
from ivm.physical.plan import PhysicalPlan, PiecePlan


def plan_text(plan: PhysicalPlan, found: Sequence[str]) -> str:
    """The stages of `plan`, of which `found` names the arrangements that it reuses, by slot."""
    made = {arranged.trace.stage: piece for piece, arranged in plan.arrangements.values()}

    def names(trace: TracePlan) -> str:
        if trace.slot >= 0:
            return found[trace.slot]
        return _name(made[trace.stage]) if trace.stage in made else f"#{trace.stage}"

    lines = [f"reuse {name}" for name in dict.fromkeys(found)]
    for piece in plan.pieces:
        lines.append(_title(plan, piece))
        for stage in piece.stages:
            lines += _lines(plan, stage, names, "  ")
    return "\n".join(lines)


def _name(piece: PiecePlan) -> str:
    return f"(new){piece.name}" if piece.owned else piece.name


def _title(plan: PhysicalPlan, piece: PiecePlan) -> str:
    if piece.arranged is not None:
        return f"make {_name(piece)}"
    return f"deliver{', rows only come' if plan.only_grows else ''}"


def _lines(plan: PhysicalPlan, number: int, names: Names, indent: str) -> Iterator[str]:
    """Lines for stage `number`, and those of its body if it is a loop."""
    stage, operation = plan.stages[number], plan.operations[number]
    kind = type(operation).__name__.removesuffix("Operation")
    yield f"{indent}#{number} {kind} {operation.text(names)}"
    for inner in stage.body if isinstance(stage, LoopPlan) else ():
        yield from _lines(plan, inner, names, f"{indent}  ")
