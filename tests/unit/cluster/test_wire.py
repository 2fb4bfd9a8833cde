"""The texts of rows are on the wire, unless a cluster's connections are encrypted."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.links import Entrance
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Get, Reduce
from tests.property.members import Threads
from tests.unit.cluster.wire import Wire

TEXT = "a canary that nobody is to hear"
FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string(), nullable=False),
]
NAMES = pa.schema(FIELDS)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """The wire of all entrances: whoever asks where one is, is told of the proxy in front of it."""
    wire = Wire()
    address: Any = vars(Entrance)["address"]
    monkeypatch.setattr(Entrance, "address", property(lambda e: wire.before(address.fget(e))))
    yield wire
    wire.close()


def test_rows_can_be_read_on_the_wire_only_where_it_is_not_encrypted(
    wire: Wire, encrypted: bool
) -> None:
    with Threads(members=2, encrypted=encrypted) as pool:
        pool.create_input("names", NAMES, ["id"])
        count = Aggregate("count", None, "n", pa.int64(), False)
        pool.install("by_name", Reduce(Get("names", NAMES), (1,), (count,)), key=["name"])
        texts = [f"{TEXT} {number % 7}" for number in range(100)]
        rows = pa.record_batch([list(range(100)), texts], schema=NAMES)
        pool.feed("names", rows, np.ones(100, np.int64), pool.frontier)
        pool.advance(pool.frontier + 1)
        assert pool.scan("by_name").rows["n"].to_pylist() != []
    of_service, *of_members = wire.heard.values()
    of_mesh = max(of_members, key=len)  # of two members one connects with the other
    assert min(len(of_service), len(of_mesh)) > 1000
    assert [TEXT.encode() in heard for heard in (of_service, of_mesh)] == [not encrypted] * 2
