from collections.abc import Sequence

import pyarrow as pa

from ivm.dataflow.expressions import Expression
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

LOADS: dict[str, int]

def number_of(message: str | None, numbers: dict[str, int]) -> int:
    """Number a message, from 1; 0 for None."""

class Program:
    """A program filters and maps rows of `schema` (raises Unsupported)."""

    def __init__(
        self,
        schema: pa.Schema,
        predicates: Sequence[Expression],
        outputs: Sequence[tuple[str, Expression]] | None,
        interner: Interner,
    ) -> None: ...
    @property
    def input(self) -> Layout: ...
    @property
    def output(self) -> Layout: ...
    @property
    def keeps_rows(self) -> bool: ...

def evaluate(
    schema: pa.Schema,
    predicates: Sequence[Expression],
    outputs: Sequence[tuple[str, Expression]] | None,
    batch: pa.RecordBatch,
    interner: Interner | None = None,
) -> tuple[pa.RecordBatch, list[str]]:
    """Give the outputs of the rows of `batch` that pass, and the errors' messages."""
