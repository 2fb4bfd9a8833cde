"""Tables whose rows stay only grow: after corrections, checkpoints and restarts too."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from api.runtime import Runtime
from api.services.definition import Definition
from connectors.files.writer import TopicWriter
from connectors.quarantine.store import Place, Repair
from connectors.tables.spec import TableSpec
from ivm.errors import InsertOnly
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint

FIELDS: list[pa.Field] = [pa.field("src", pa.int64()), pa.field("dst", pa.int64())]
APPENDED = TableSpec(
    "edges", "edges", pa.schema(FIELDS), (), envelope="append", on_error="quarantine"
)
CHANGED = TableSpec("edges", "edges", pa.schema(FIELDS), ("src",))
REACHABLE = """
WITH RECURSIVE reachable (src, dst) AS (
    SELECT src, dst FROM edges
    UNION
    SELECT r.src, e.dst FROM reachable r JOIN edges e ON e.src = r.dst
) SELECT src, dst FROM reachable
"""
GROWS = "deliver, rows only come"


def edge(src: int, dst: int) -> bytes:
    return b'{"src": %d, "dst": %d}' % (src, dst)


def write(data: Path, runtime: Runtime, *values: bytes) -> None:
    """Append records to the topic of `edges`, and read them."""
    writer = TopicWriter(data / "topics", "edges")
    writer.append(values)
    writer.close()
    pipeline_of(runtime).step()


def reached(runtime: Runtime) -> set[tuple[int, int]]:
    return {(r["src"], r["dst"]) for r in runtime.pool.scan("reachable").rows.to_pylist()}


def physical(runtime: Runtime) -> str:
    """The plan that recursion over `edges` gets."""
    *_, stages = runtime.compiler.explain(REACHABLE, "sql", None)
    return stages[-1].text


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with edges, of which the second record is bad, and what is reachable over them."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(APPENDED)
    runtime.views.put(Definition("reachable", REACHABLE))
    write(tmp_path, runtime, edge(1, 2), b'{"src": 2, "dst": "?"}', edge(3, 4))
    return runtime


def test_recursion_over_rows_that_stay_keeps_no_history(runtime: Runtime) -> None:
    assert GROWS in physical(runtime)


def test_recursion_over_rows_that_change_keeps_its_history(tmp_path: Path) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(CHANGED)
    assert GROWS not in physical(runtime)


def test_no_row_can_be_taken_out_of_a_table_whose_rows_stay(runtime: Runtime) -> None:
    row = pa.RecordBatch.from_pylist([{"src": 1, "dst": 2}], schema=APPENDED.schema)
    with pytest.raises(InsertOnly):
        runtime.pool.feed("edges", row, np.array([-1]), runtime.pool.frontier)


def test_a_correction_adds_its_row(runtime: Runtime) -> None:
    place: Place = ("edges", 0, 1)
    runtime.repairs.fix(place, Repair(None, edge(2, 3)))
    runtime.repairs.replay([place], False)
    assert reached(runtime) == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}


def test_a_restored_table_still_only_grows(runtime: Runtime, tmp_path: Path) -> None:
    assert take_checkpoint(runtime)
    runtime.stop()
    again = runtime_on(tmp_path)
    assert GROWS in physical(again)
    write(tmp_path, again, edge(2, 3))
    assert reached(again) == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}


def test_a_correction_is_there_after_a_restart(runtime: Runtime, tmp_path: Path) -> None:
    assert take_checkpoint(runtime)
    place: Place = ("edges", 0, 1)
    runtime.repairs.fix(place, Repair(None, edge(2, 3)))
    runtime.repairs.replay([place], False)
    before = reached(runtime)
    runtime.stop()
    assert reached(runtime_on(tmp_path)) == before
