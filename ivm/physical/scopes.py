"""Scopes while planning: the root, and one for each loop that is being planned."""

from dataclasses import dataclass, field

from ivm.dataflow.nodes import Arrange, Node
from ivm.physical.arrangement import Arranged
from ivm.rows.format import Format


@dataclass(frozen=True, slots=True)
class Planned:
    """A collection in a plan: the number of the stage that puts it out, and its rows' format."""

    stage: int
    format: Format

    def __str__(self) -> str:
        return f"#{self.stage}"


@dataclass(eq=False, slots=True)
class Scope:
    """A scope of planning: adds stages to the `body` of a loop within `parent`, or to the root.

    Both are None at the root. Its times have `depth` coordinates, and its place among the plan's
    regions is `region`. `grows`: all that refers to this scope's names only grows if nothing else
    in it shrinks. `bodies` are those of the recursive names that the loop binds.
    """

    region: int
    depth: int
    body: list[int] | None = None
    parent: "Scope | None" = None
    grows: bool = True
    bodies: dict[str, Node] = field(default_factory=dict)
    variables: dict[str, Planned] = field(default_factory=dict)
    memo: dict[Node, Planned] = field(default_factory=dict)
    indexes: dict[Arrange, Arranged] = field(default_factory=dict)

    def home(self, names: frozenset[str]) -> "Scope":
        """The innermost scope that binds one of `names`, or the root."""
        scope = self
        while scope.parent is not None and not names & scope.bodies.keys():
            scope = scope.parent
        return scope
