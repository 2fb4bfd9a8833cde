"""Snapshots in parts: bounded in rows and in bytes, and taken from a file without a name."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from api.feed import LINES
from api.snapshots import Part, take
from ivm.pool import Pool
from ivm.values.types import INTERVAL, UUID

BYTES = 10_000
# The name of a column may be any, and so may its type.
FIELDS: list[pa.Field] = [
    pa.field("counts", pa.int64(), nullable=False),
    pa.field("text", pa.string()),
    pa.field("uuid", UUID),
    pa.field("interval", INTERVAL),
]
SCHEMA = pa.schema(FIELDS)


def parts(directory: Path, texts: list[str], many: int = 1) -> list[Part]:
    """The parts of a snapshot of these rows, each there `many` times."""
    pool = Pool(1)
    pool.create_input("rows", SCHEMA, ["counts"])
    rows = [{"counts": n, "text": text} for n, text in enumerate(texts)]
    diffs = np.full(len(rows), many, np.int64)
    pool.feed("rows", pa.RecordBatch.from_pylist(rows, SCHEMA), diffs, pool.frontier)
    pool.advance(pool.frontier + 1)
    time, taken = take(pool, "rows", directory, BYTES)
    found = list(taken)
    assert {part.time for part in found} == {time}
    return found


@pytest.mark.parametrize(
    "texts",
    [[], ["a"], ["a"] * (2 * LINES + 1), ["b" * 3_000] * 20, ["a"] * 1_000 + ["c" * 20_000] * 3],
    ids=["empty", "one", "many", "wide", "skewed"],
)
def test_the_parts_of_a_snapshot_are_its_rows(tmp_path: Path, texts: list[str]) -> None:
    found = parts(tmp_path, texts, many=2)
    assert [row["text"] for part in found for row in part.rows] == texts
    assert [count for part in found for count in part.counts] == [2] * len(texts)
    assert [part.is_last for part in found] == [False] * (len(found) - 1) + [True]
    for part in found:
        assert len(part.rows) <= LINES
        assert len(part.rows) == 1 or sum(len(row["text"]) for row in part.rows) <= BYTES


def test_the_file_of_a_snapshot_has_no_name(tmp_path: Path) -> None:
    assert len(parts(tmp_path, ["b" * 3_000] * 20)) > 1
    assert list(tmp_path.iterdir()) == []
