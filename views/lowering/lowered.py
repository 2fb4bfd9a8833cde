"""A lowered plan: a dataflow node, and the position of each column in it.

Several numbers may share a position, so renaming a column costs nothing; only rows that are
arranged or compared as a whole are projected to the columns needed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Call, Column, Expression, Literal


@dataclass(frozen=True, slots=True)
class Lowered:
    """A dataflow node that has the plan's column `number` at `positions[number]`."""

    node: df.Node
    positions: Mapping[int, int]

    def at(self, expression: Expression) -> Expression:
        """Rewrites `expression` over positions instead of numbers."""
        match expression:
            case Column():
                return self.at_position(self.positions[expression.index])
            case Call():
                arguments = tuple(map(self.at, expression.arguments))
                return Call(expression.function, arguments, expression.type, expression.nullable)
            case Literal():
                return expression
            case _:
                assert_never(expression)

    def at_position(self, position: int) -> Column:
        """Makes the expression that reads the column at `position`."""
        field = self.node.schema.field(position)
        return Column(position, field.type, field.nullable)

    def filtered(self, conditions: Sequence[Expression]) -> "Lowered":
        """Keeps the rows that satisfy all of `conditions`, over numbers."""
        node = self.node
        parts = tuple(self.at(c) for c in conditions)
        if not parts:
            return self
        return Lowered(df.Filter(node, conjoined(parts)), self.positions)

    def narrowed(self, numbers: Iterable[int]) -> "Lowered":
        """Keeps only the columns `numbers`, each once, by their positions; at least one is left."""
        wanted = {n: self.positions[n] for n in numbers}
        kept = tuple(sorted(set(wanted.values()))) or (0,)
        if len(kept) == len(self.node.schema):
            return Lowered(self.node, wanted)
        moved = {position: i for i, position in enumerate(kept)}
        return Lowered(
            projected(self.node, kept), {n: moved[position] for n, position in wanted.items()}
        )

    def ordered(self, numbers: Sequence[int]) -> df.Node:
        """Makes a node with exactly the columns `numbers`, in this order."""
        return projected(self.node, tuple(self.positions[n] for n in numbers))


def moved(expression: Expression, to: Mapping[int, int]) -> Expression:
    """Moves every column of `expression`, over positions, to another position."""
    match expression:
        case Column():
            return Column(to[expression.index], expression.type, expression.nullable)
        case Call():
            arguments = tuple([moved(a, to) for a in expression.arguments])
            return Call(expression.function, arguments, expression.type, expression.nullable)
        case Literal():
            return expression
        case _:
            assert_never(expression)


def conjoined(conditions: Sequence[Expression]) -> Expression:
    """Joins conditions, at least one, by AND."""
    if len(conditions) == 1:
        return conditions[0]
    return Call("and", tuple(conditions), conditions[0].type, any(c.nullable for c in conditions))


def projected(node: df.Node, positions: tuple[int, ...]) -> df.Node:
    """Projects `node` to the columns `positions`; a projection of a projection is one."""
    if isinstance(node, df.Map):
        return df.Map(node.input, tuple(node.outputs[p] for p in positions))
    return df.project(node, positions)
