"""The pool's clock: the present moment as an input, for views that filter by now()."""

import numpy as np
import pyarrow as pa

from ivm.cluster.pool import AnyPool
from views.lowering.temporal_filter import CLOCK


class PoolClock:
    """Keeps the input `CLOCK` of `pool` at the latest moment that it was told."""

    def __init__(self, pool: AnyPool) -> None:
        self._pool = pool
        self._moment = 0
        pool.create_input(CLOCK.name, CLOCK.schema, CLOCK.schema.names)

    @property
    def moment(self) -> int:
        """The latest moment that it was told (0: none)."""
        return self._moment

    def feed(self, moment: int, time: int) -> None:
        """From `time` on it is `moment`, in microseconds since the epoch; it never goes back."""
        if moment <= self._moment:
            return
        changes = [(self._moment, -1)] if self._moment else []
        changes.append((moment, 1))
        moments = pa.array([m for m, _ in changes], CLOCK.schema.field(0).type)
        rows = pa.record_batch([moments], schema=CLOCK.schema)
        self._pool.feed(CLOCK.name, rows, np.array([diff for _, diff in changes]), time)
        self._moment = moment
