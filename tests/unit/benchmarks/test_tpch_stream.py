"""TPC-H as a stream: the order of its rows, and the answers it ends with."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.sides import parse
from benchmarks.tpch.data import TABLES, generate
from benchmarks.tpch.outputs import NULL, fnv, words_of
from benchmarks.tpch.stream import in_turn, run
from benchmarks.workload import Phase


def numbers(count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"n": list(range(count))})


def test_tables_take_turns_until_they_end() -> None:
    stream = in_turn(list(zip(TABLES, [numbers(1), numbers(3), numbers(2)], strict=False)))
    assert [places.tolist() for _, _, places in stream] == [[0], [1, 3, 5], [2, 4]]


def test_a_query_ends_with_the_same_answer_however_its_rows_are_batched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate(tmp_path / "tables", 0.001)
    phases = [Phase(f"q13 by {size}", 0, 0, size) for size in (1, 100, 10_000)]
    for _ in run(tmp_path / "tables", 1, phases):
        pass
    (measured,) = parse(capsys.readouterr().out)
    cases = measured.cases
    assert [case.name for case in cases] == [phase.case for phase in phases]
    assert len({(case.rows, case.sum) for case in cases}) == 1
    assert cases[0].rows > 0
    single, few, many = (case.differences or 0 for case in cases)
    assert single > few > many
    assert {case.tuples for case in cases} == {1_650}


def test_every_type_of_a_result_has_words() -> None:
    money = pa.array([Decimal("-0.01"), None, Decimal("2.50")], pa.decimal128(15, 2))
    assert words_of(money).tolist() == [2**64 - 1, int(NULL), 250]
    assert words_of(money.slice(2)).tolist() == [250]
    assert words_of(pa.array([1, -1], pa.int32())).tolist() == [1, 2**64 - 1]
    assert words_of(pa.array([9], pa.int32()).cast(pa.date32())).tolist() == [9]
    assert words_of(pa.array(["a", "", "a"])).tolist() == [fnv("a"), fnv(""), fnv("a")]
    assert fnv("a") == np.uint64(0xAF63DC4C8601EC8C)
