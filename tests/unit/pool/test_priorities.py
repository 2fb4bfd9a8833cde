"""Rows that enter a loop by priority."""

import pyarrow as pa
import pytest

from ivm.dataflow.nodes import EnterAt, Get, columns
from ivm.errors import Unsupported
from ivm.pool import Pool

NODES = pa.schema([pa.field("node", pa.int64(), nullable=False)])
nodes = Get("nodes", NODES)


def test_rows_cannot_enter_a_loop_that_there_is_not() -> None:
    pool = Pool()
    pool.create_input("nodes", NODES, ["node"])
    with pytest.raises(Unsupported, match="'labels'"):
        pool.install("out", EnterAt(nodes, columns(nodes)[0], "labels"), ["node"])
    pool.install("out", nodes, ["node"])
