import pyarrow as pa

from ivm.dataflow.nodes import Arrange
from ivm.physical.arrangement import Arranged
from ivm.physical.build import StagePlan
from ivm.physical.loop_operations import LoopOperation
from ivm.physical.operation import Operation
from ivm.rows.layout import Layout

class PiecePlan:
    """Stages that belong together, in order: those that produce one arrangement or one capture."""

    strings: bool
    def __init__(
        self, name: str, *, owned: bool = False, arranged: Arrange | None = None
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def owned(self) -> bool: ...
    @property
    def arranged(self) -> Arrange | None: ...
    @property
    def found(self) -> dict[int, None]: ...
    @property
    def made(self) -> dict[PiecePlan, None]: ...
    @property
    def stages(self) -> list[int]: ...
    @property
    def loops(self) -> list[int]: ...
    @property
    def fallible(self) -> list[int]: ...
    @property
    def traces(self) -> list[int]: ...
    @property
    def groups(self) -> list[tuple[int, str]]: ...
    @property
    def curves(self) -> list[tuple[int, str]]: ...
    @property
    def states(self) -> list[tuple[str, int, str | None]]: ...
    @property
    def holding(self) -> tuple[int, ...]: ...
    def hand_over(self, number: int, to: PiecePlan) -> None:
        """Let stage `number` belong to `to`, with all that it holds."""

    def finish(self) -> None:
        """Put its stages in order, and list as `holding` those that hold something."""

class PhysicalPlan:
    """What makes a collection: `stages`, in regions of `depths`; `root` lists those of the root."""

    def __init__(
        self,
        depths: list[int],
        stages: list[StagePlan],
        operations: list[Operation | LoopOperation],
        root: list[int],
        pieces: list[PiecePlan],
        arrangements: dict[Arrange, tuple[PiecePlan, Arranged]],
        result: tuple[PiecePlan | int, Arranged] | None,
        *,
        indexing: tuple[tuple[Arrange, str], ...] = (),
        capture: int | None = None,
        constants: tuple[tuple[int, Layout, pa.RecordBatch], ...] = (),
        found: tuple[Arrange, ...] = (),
        absent: tuple[Arrange, ...] = (),
        growing: dict[str, bool] | None = None,
        only_grows: bool = False,
        foreseeable: bool = False,
    ) -> None: ...
    @property
    def depths(self) -> list[int]: ...
    @property
    def stages(self) -> list[StagePlan]: ...
    @property
    def operations(self) -> list[Operation | LoopOperation]: ...
    @property
    def root(self) -> list[int]: ...
    @property
    def pieces(self) -> list[PiecePlan]: ...
    @property
    def arrangements(self) -> dict[Arrange, tuple[PiecePlan, Arranged]]: ...
    @property
    def result(self) -> tuple[PiecePlan | int, Arranged] | None: ...
    @property
    def indexing(self) -> tuple[tuple[Arrange, str], ...]: ...
    @property
    def capture(self) -> int | None: ...
    @property
    def constants(self) -> tuple[tuple[int, Layout, pa.RecordBatch], ...]: ...
    @property
    def found(self) -> tuple[Arrange, ...]: ...
    @property
    def absent(self) -> tuple[Arrange, ...]: ...
    @property
    def growing(self) -> dict[str, bool]: ...
    @property
    def only_grows(self) -> bool: ...
    @property
    def foreseeable(self) -> bool:
        """Whether what it reads tells before it runs how much its stages put out."""

    @property
    def fallible(self) -> bool:
        """Whether any of its rows may be an error."""
