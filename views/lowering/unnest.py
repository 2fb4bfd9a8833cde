"""The row function of `Unnest`: makes the elements of arrays into rows, by `FlatMap`."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Elements:
    """Maps rows to rows: the first `kept` columns, then an element of the array after them and its
    position from 1. If `outer`, a row whose array is NULL or has no elements is kept once.
    """

    kept: int
    outer: bool

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, ArrayLike]:
        arrays = batch.column(self.kept)
        parents = pc.list_parent_indices(arrays)
        values = pc.list_flatten(arrays)
        origins = parents.to_numpy()
        starts = np.searchsorted(origins, origins)
        positions = pa.array(np.arange(len(origins)) - starts + 1, pa.int64())
        if self.outer:
            empty = np.setdiff1d(np.arange(batch.num_rows), origins)
            order = np.argsort(np.concatenate([origins, empty]), kind="stable")
            places = pa.array(order, pa.int64(), mask=order >= len(origins))
            values, positions = values.take(places), positions.take(places)
            origins = np.concatenate([origins, empty])[order]
        columns = [batch.column(i).take(pa.array(origins)) for i in range(self.kept)]
        names = [*batch.schema.names[: self.kept], "element", "position"]
        return pa.RecordBatch.from_arrays([*columns, values, positions], names=names), origins
