"""Headroom: stops the input while a shard uses more memory than it may, before that ends it.

Keys may lie unevenly, so that the fullest shard decides for all.
"""

from time import monotonic

from connectors.errors import MemoryShort
from ivm.cluster.pool import ClusterPool

LOOK_SECONDS = 1.0
"""The time for which a look at the shards holds."""


class Headroom:
    """The room for rows in `pool`, of whose shards each may use `most` bytes of memory."""

    def __init__(self, pool: ClusterPool, most: int) -> None:
        self._pool = pool
        self._most = most
        self._until = 0.0

    def expect(self) -> None:
        """See that there is room, as of late (raises MemoryShort, PoolFailed)."""
        if monotonic() < self._until:
            return
        used = self._pool.used_bytes()
        fullest = max(used, default=0)
        if fullest > self._most:
            raise MemoryShort(
                f"shard {used.index(fullest)} uses {fullest:,} bytes of memory, and "
                f"max_process_bytes allows {self._most:,}: nothing is read until it uses less; "
                "drop views, or start again with more shards or a higher limit"
            )
        self._until = monotonic() + LOOK_SECONDS
