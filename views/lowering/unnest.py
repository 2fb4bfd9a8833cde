"""The row function of `Unnest`: makes the elements of arrays into rows, by `FlatMap`."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Elements:
    """Maps rows to rows: the first `kept` columns, then an element of each of the arrays after them
    and its position from 1. An array that ends before the longest has NULLs after its end. If
    `outer`, a row whose arrays are all NULL or without elements is kept once.
    """

    kept: int
    outer: bool

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, ArrayLike]:
        arrays = batch.columns[self.kept :]
        lengths = [pc.fill_null(pc.list_value_length(a), 0).to_numpy() for a in arrays]
        longest = np.maximum.reduce(lengths)
        rows = np.maximum(longest, 1) if self.outer else longest
        origins = np.repeat(np.arange(batch.num_rows), rows)
        positions = np.arange(len(origins)) - _starts(rows)[origins] + 1
        columns = [batch.column(i).take(pa.array(origins, pa.int64())) for i in range(self.kept)]
        for array, length in zip(arrays, lengths, strict=True):
            places = _starts(length)[origins] + positions - 1
            within = pa.array(places, mask=positions > length[origins])
            columns.append(pc.list_flatten(array).take(within))
        columns.append(pa.array(positions, pa.int64(), mask=longest[origins] == 0))
        names = [
            *batch.schema.names[: self.kept],
            *(f"element{i}" for i in range(len(arrays))),
            "position",
        ]
        return pa.RecordBatch.from_arrays(columns, names=names), origins


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each one's first element where all are laid end to end."""
    starts = np.zeros(len(lengths), np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    return starts
