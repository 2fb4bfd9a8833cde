"""The short form of the soak, and memory that comes back when its users go."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from ivm.dataflow.nodes import Arrange, Get, Join
from ivm.pool import Pool
from tests.soak.__main__ import RISES, run
from tests.soak.memory import resident_at_rest
from tests.soak.trend import rise

INT = pa.int64()
FIELDS: list[pa.Field] = [pa.field("id", INT, nullable=False), pa.field("text", pa.string())]
SCHEMA = pa.schema(FIELDS)
ROWS = 300_000


def test_memory_stays_flat_while_content_changes() -> None:
    figures = run(300_000, 1, Console(quiet=True))
    assert rise(figures["arranged"]) <= RISES["arranged"], figures["arranged"]
    # The allocator is still finding its level; texts that leak would be a quarter.
    assert rise(figures["resident"]) <= 0.12, figures["resident"]


def _fill_and_drop(pool: Pool) -> int:
    """Bytes in memory while there is a table with texts, and a view over it; both are dropped."""
    pool.create_input("texts", SCHEMA, ["id"])
    texts = Get("texts", SCHEMA)
    pairs = Join(Arrange(texts, (0,)), Arrange(texts, (0,)), (("id", 0), ("a", 1), ("b", 2)))
    pool.install("pairs", pairs, ["id"])
    numbers = pa.array(np.arange(ROWS))
    names = pc.utf8_lpad(numbers.cast(pa.string()), 240, "-")
    batch = pa.RecordBatch.from_arrays([numbers, names], schema=SCHEMA)
    pool.feed("texts", batch, np.ones(ROWS, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
    del batch, names, numbers
    full = resident_at_rest()
    pool.drop("pairs")
    pool.drop_input("texts")
    pool.advance(pool.frontier + 1)
    return full


def _fill_again_and_again() -> None:
    """Print the bytes in memory before there is a pool, and each time it is full."""
    before, pool = resident_at_rest(), Pool()
    print(before, *(_fill_and_drop(pool) for _ in range(4)))


def test_what_is_dropped_makes_room_for_what_comes() -> None:
    # In a process of its own, whose memory no other test has touched.
    code = "from tests.soak.test_soak import _fill_again_and_again; _fill_again_and_again()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, first, *later = map(int, done.stdout.split())
    assert first - before > 64 << 20
    assert max(later) - first < (first - before) // 4
