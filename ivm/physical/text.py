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
from dataclasses import dataclass

from ivm.physical.build import LoopPlan, TracePlan
from ivm.physical.plan import PhysicalPlan, PiecePlan


@dataclass(frozen=True, slots=True)
class StageText:
    """The line of stage `number`, of `piece`, in the body of stage `loop` if that is not None."""

    number: int
    kind: str
    text: str
    piece: PiecePlan
    loop: int | None
    depth: int

    def __str__(self) -> str:
        return f"#{self.number} {self.kind} {self.text}"


def plan_text(plan: PhysicalPlan, found: Sequence[str]) -> str:
    """The stages of `plan`, of which `found` names the arrangements that it reuses, by slot."""
    lines = [f"reuse {name}" for name in dict.fromkeys(found)]
    piece = None
    for stage in stage_texts(plan, found):
        if stage.piece is not piece:
            piece = stage.piece
            lines.append(_title(plan, piece))
        lines.append(f"{'  ' * (stage.depth + 1)}{stage}")
    return "\n".join(lines)


def stage_texts(
    plan: PhysicalPlan, found: Sequence[str], owner: str = "(new)"
) -> Iterator[StageText]:
    """The lines of all stages in the plan's order, for a dataflow that is called `owner`."""
    made = {arranged.trace.stage: piece for piece, arranged in plan.arrangements.values()}

    def names(trace: TracePlan) -> str:
        if trace.slot >= 0:
            return found[trace.slot]
        return piece_name(made[trace.stage], owner) if trace.stage in made else f"#{trace.stage}"

    def texts(number: int, piece: PiecePlan, loop: int | None, depth: int) -> Iterator[StageText]:
        stage, operation = plan.stages[number], plan.operations[number]
        kind = type(operation).__name__.removesuffix("Operation")
        yield StageText(number, kind, operation.text(names), piece, loop, depth)
        for inner in stage.body if isinstance(stage, LoopPlan) else ():
            yield from texts(inner, piece, number, depth + 1)

    for piece in plan.pieces:
        for stage in piece.stages:
            yield from texts(stage, piece, None, 0)


def piece_name(piece: PiecePlan, owner: str = "(new)") -> str:
    """The name of a piece of a dataflow that is called `owner`."""
    return f"{owner}{piece.name}" if piece.owned else piece.name


def _title(plan: PhysicalPlan, piece: PiecePlan) -> str:
    if piece.arranged is not None:
        return f"make {piece_name(piece)}"
    return f"deliver{', rows only come' if plan.only_grows else ''}"
