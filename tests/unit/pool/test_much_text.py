"""A column of Arrow holds 2 GiB of text at most; a collection may have more."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Literal
from ivm.dataflow.nodes import Get, Map, columns
from ivm.errors import Unsupported
from ivm.pool import Pool

ROWS = 2_048
NUMBERS = pa.schema([pa.field("number", pa.int64(), nullable=False)])
numbers = Get("numbers", NUMBERS)
TEXT = Literal("x" * (1 << 20), pa.string())  # held once, however many rows have it
COMPLAINT = f"{1 << 31} bytes of text in one batch"


@pytest.fixture
def pool() -> Pool:
    """The texts of a view's rows are one byte more than fits."""
    pool = Pool()
    pool.create_input("numbers", NUMBERS, ["number"])
    pool.install(
        "texts", Map(numbers, (("number", columns(numbers)[0]), ("text", TEXT))), ["number"]
    )
    batch = pa.record_batch([pa.array(range(ROWS))], schema=NUMBERS)
    pool.feed("numbers", batch, np.ones(ROWS, np.int64), 0)
    pool.advance(1)
    return pool


def test_rows_with_more_text_than_fits_are_refused(pool: Pool) -> None:
    with pytest.raises(Unsupported, match=COMPLAINT):
        pool.scan("texts")


def test_deltas_with_more_text_than_fits_are_refused(pool: Pool) -> None:
    with pytest.raises(Unsupported, match=COMPLAINT):
        pool.drain("texts")


def test_some_of_the_rows_are_answered(pool: Pool) -> None:
    found = pool.peek("texts", {"number": ROWS - 1})
    assert found.rows.column("text").to_pylist() == [TEXT.value]
