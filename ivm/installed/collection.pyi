from collections.abc import Iterable

import pyarrow as pa

from ivm.dataflow.nodes import Arrange
from ivm.installed.assembly import Assembly
from ivm.installed.pieces import Index, Piece
from ivm.operators.arranging.capture import Capture
from ivm.rows.format import Format
from ivm.rows.layout import Layout
from ivm.runtime.feed import Intake

class Collection:
    """An input or an installed dataflow, maintained by what was `built` for it.

    Its rows leave as `layout` says. Dataflows find them by their key as `source`, unless there is
    none: then its changes alone are kept. `indexes` lists their arrangements, `reads` the
    collections that it refers to, `read_by` those that refer to it; `insert_only` says that no row
    is ever retracted, and `pending_errors` are the (message, time, diff) that nobody has taken. An
    input has an `intake`; rows arrive in the format `arriving`.
    """

    pending_errors: list[tuple[str, int, int]]
    def __init__(
        self,
        name: str,
        built: Assembly,
        layout: Layout,
        source: Arrange | None,
        *,
        intake: Intake | None = None,
        arriving: Format | None = None,
        reads: frozenset[str] = ...,
        insert_only: bool = False,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def source(self) -> Arrange | None: ...
    @property
    def built(self) -> Assembly:
        """What maintains it."""

    @property
    def piece(self) -> Piece: ...
    @property
    def indexes(self) -> list[tuple[Piece, Index]]: ...
    @property
    def intake(self) -> Intake | None: ...
    @property
    def arriving(self) -> Format | None: ...
    @property
    def captures(self) -> tuple[Capture, ...]: ...
    @property
    def reads(self) -> frozenset[str]: ...
    @property
    def read_by(self) -> dict[str, None]: ...
    @property
    def insert_only(self) -> bool: ...
    @property
    def schema(self) -> pa.Schema:
        """The columns of its rows."""

    @property
    def is_input(self) -> bool:
        """Whether rows are fed to it."""

    def first_index(self) -> tuple[Piece, Index]:
        """The arrangement by its own key, with its piece (raises NotIndexed if it has none)."""

    def index_on(self, names: Iterable[str]) -> Index:
        """The arrangement whose key is exactly these columns, in any order (raises NotIndexed)."""
