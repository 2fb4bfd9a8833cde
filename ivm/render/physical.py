"""Physical plans: all that a dataflow is made of, decided once and built as often as it is wanted.

Stages have numbers, upstream first, a loop after those of its body. What a plan takes from the pool
has slots. So a plan holds no state: it can be built again, under any name, wherever the pool is as
the plan takes it to be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ivm.dataflow import Arrange
from ivm.render.arranged import Arranged
from ivm.render.building import StagePlan
from ivm.rows.layout import Layout


@dataclass(eq=False, slots=True)
class PiecePlan:
    """Stages that belong together, in order: those that produce one arrangement or one capture.

    `arranged` is the node whose arrangement it is, unless it is a dataflow's own. Its name follows
    that of the dataflow if it is `owned`. It needs what was `found`, by slot, and other pieces
    that are `made`.

    `stages` are the numbers of the root's that belong to it. The rest says which ones, at any
    depth, hold what, and in which attribute of an operator (None: in itself); `holding` lists all
    of these, and `strings` says whether any of its traces has strings.
    """

    name: str
    owned: bool = False
    arranged: Arrange | None = None
    found: set[int] = field(default_factory=set)
    made: set["PiecePlan"] = field(default_factory=set)
    stages: list[int] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    fallible: list[int] = field(default_factory=list)
    traces: list[int] = field(default_factory=list)
    groups: list[tuple[int, str]] = field(default_factory=list)
    curves: list[tuple[int, str]] = field(default_factory=list)
    states: list[tuple[str, int, str | None]] = field(default_factory=list)
    strings: bool = False
    holding: tuple[int, ...] = ()

    def finish(self) -> None:
        """List as `holding` the stages that hold something, once nothing is added any more."""
        held = [n for n, _ in (*self.groups, *self.curves)] + [n for _, n, _ in self.states]
        self.holding = tuple({*self.loops, *self.fallible, *self.traces, *held})


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """What makes a collection: `stages`, in regions of `depths`; `root` lists those of the root.

    `arrangements` are those that it makes, each with its piece. `result` is the one that has the
    collection's rows, of a piece that it makes or, by slot, of one that was found. The last of the
    `pieces` is the collection's own, and stage `capture`, if there is one, keeps its changes.
    `constants` are rows that stages put in, in a layout, when the plan is built. `indexing` lists
    the `arrangements` that index rows of a collection, with its name.

    The plan takes for granted that the pool has the arrangements `found`, by slot, and not those
    that are `absent`, and that each collection that it reads only grows or not, as `growing` says.
    """

    depths: list[int]
    stages: list[StagePlan]
    root: list[int]
    pieces: list[PiecePlan]
    arrangements: dict[Arrange, tuple[PiecePlan, Arranged]]
    result: tuple[PiecePlan | int, Arranged]
    indexing: tuple[tuple[Arrange, str], ...] = ()
    capture: int | None = None
    constants: tuple[tuple[int, Layout, pa.RecordBatch], ...] = ()
    found: tuple[Arrange, ...] = ()
    absent: tuple[Arrange, ...] = ()
    growing: Mapping[str, bool] = field(default_factory=dict)
    only_grows: bool = False
