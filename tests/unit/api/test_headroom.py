"""The input stops while a shard of a cluster of processes uses more memory than it may."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from api.services import headroom
from api.services.headroom import Headroom
from connectors.errors import MemoryShort
from ivm.cluster.pool import ClusterPool
from ivm.cluster.processes import Processes
from ivm.rows.owners import owners_of

ROWS = 1_000_000
LARGE = 16 * ROWS
"""The bytes of their words, at least so many of which a shard takes for them."""
FULL = 1
"""The shard that owns all rows."""

FIELDS: list[pa.Field] = [pa.field(name, pa.int64(), nullable=False) for name in ("id", "value")]
EVENTS = pa.schema(FIELDS)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPool]:
    """A cluster of two processes, at which each `expect` looks."""
    monkeypatch.setattr(headroom, "LOOK_SECONDS", 0.0)
    with Processes(members=2) as pool:
        pool.create_input("events", EVENTS, ["id"])
        pool.advance(1)
        yield pool


def fill(pool: ClusterPool) -> None:
    """Feed rows that one shard owns."""
    numbers = np.arange(2.2 * ROWS, dtype=np.int64)
    rows = pa.record_batch([numbers, numbers], schema=EVENTS)
    owned = np.flatnonzero(owners_of(rows, EVENTS, (0,), 2) == FULL)[:ROWS]
    pool.feed("events", rows.take(owned), np.ones(ROWS, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def test_a_full_shard_is_named_and_room_is_there_again_once_it_uses_less(pool: ClusterPool) -> None:
    limited = Headroom(pool, max(pool.used_bytes()) + LARGE // 2)
    limited.expect()
    fill(pool)
    with pytest.raises(MemoryShort, match=rf"^shard {FULL} uses .* bytes of memory, and max_proc"):
        limited.expect()
    pool.drop_input("events")
    limited.expect()


def test_a_look_holds_for_a_while(pool: ClusterPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headroom, "LOOK_SECONDS", 60.0)
    looked = Headroom(pool, max(pool.used_bytes()) + LARGE // 2)
    looked.expect()
    fill(pool)
    looked.expect()


def test_a_cluster_that_has_yet_to_begin_has_room() -> None:
    Headroom(ClusterPool(), 1).expect()
