from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.operators.arranging.capture import Capture
from ivm.operators.errors.evaluate import Fallible
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.runtime.schedule import Schedule
from ivm.trace.spine import Trace

def drain(
    captures: Iterable[Capture], layout: Layout, interner: Interner
) -> tuple[pa.RecordBatch, NDArray[np.uint64], NDArray[np.int64]]:
    """Take what `captures` (one for each shard) hold: rows, times, diffs, consolidated."""

def snapshot(
    trace: Trace,
    schedule: Schedule,
    packing: Packing,
    layout: Layout,
    interner: Interner,
    values: Sequence[object] | None,
    key: Layout,
    as_of: int | None,
) -> tuple[pa.RecordBatch, NDArray[np.int64], int]:
    """The published rows of an arrangement, their counts, and the time; time -1: none yet.

    With `as_of` the rows at that time; raises TimeIncomplete if it is after the published one.
    """

def take_errors(
    operators: Iterable[Fallible], layout: Layout, interner: Interner
) -> tuple[list[str], list[int], list[int]]:
    """Take the error updates of `operators` as (messages, root times, diffs)."""
