from collections.abc import Iterable, Iterator
from typing import Any, Protocol, type_check_only

import pyarrow as pa

from ivm.dataflow.nodes import Arrange
from ivm.operators.base.state_table import Groups
from ivm.operators.errors.evaluate import Fallible
from ivm.operators.reductions.histories import Curves
from ivm.physical.arrangement import Shape
from ivm.physical.plan import PiecePlan
from ivm.results import Found
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.runtime.stage import Stage
from ivm.trace.spine import Trace

@type_check_only
class Stateful(Protocol):
    """A holder of an operator's state, which counts its records and bytes."""

    def account(self) -> tuple[int, int]:
        """Records held and bytes of memory."""

class Piece:
    """The stages and operators of a piece of a plan, and the pieces that it `needs`.

    `operators` has those of the stages that hold something, by the stage's number: one for each
    shard, or a loop.
    """

    def __init__(
        self,
        name: str,
        plan: PiecePlan,
        stages: list[Stage],
        operators: dict[int, Any],
        needs: Iterable[Piece] = (),
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def plan(self) -> PiecePlan: ...
    @property
    def stages(self) -> list[Stage]:
        """Those of the root, upstream first."""

    @property
    def operators(self) -> dict[int, Any]: ...
    @property
    def needs(self) -> list[Piece]: ...
    def all_needed(self) -> Iterator[Piece]:
        """This piece and all that it needs, each once."""

    @property
    def arranged(self) -> Arrange | None:
        """The node whose arrangement it is, unless it is a dataflow's own."""

    @property
    def failure(self) -> tuple[str, float | None, str | None, int | None] | None:
        """Why one of its stages failed, as `Stage.failure` says; None if none has."""

    @property
    def fallible(self) -> list[Fallible]:
        """The operators whose rows may be errors."""

    @property
    def traces(self) -> list[Trace]:
        """All that its operators seal."""

    @property
    def groups(self) -> list[Groups]:
        """The tables of keys that its operators hold."""

    @property
    def curves(self) -> list[Curves]:
        """The histories that its operators hold."""

    @property
    def states(self) -> list[tuple[str, Stateful]]:
        """What its operators hold beside traces, each with its kind."""

class Index:
    """An arrangement: its node, how its rows lie, and its trace."""

    def __init__(self, node: Arrange, shape: Shape, trace: Trace) -> None: ...
    @property
    def node(self) -> Arrange: ...
    @property
    def shape(self) -> Shape: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def key(self) -> Layout:
        """The layout of the key's columns, which is made for the first look-up."""

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the key's columns."""

    def look_up(self, keys: pa.RecordBatch, layout: Layout, interner: Interner) -> Found:
        """The published rows, laid out by `layout`, with each of `keys` (raises SchemaMismatch)."""
