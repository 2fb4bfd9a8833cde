"""Pieces of a dataflow share stages, and yet go once nothing needs them any more."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
)
from ivm.pool import Pool

INT = pa.int64()
EDGES = pa.schema([pa.field(name, INT, nullable=False) for name in ("x", "y")])
edges = Get("edges", EDGES)
x, y = columns(edges)
both = (("x", 1), ("y", 2))


def _mapped(node: Node) -> Node:
    first, second = columns(node)
    return Map(node, (("x", second), ("y", Call("add", (first, Literal(1, INT)), INT, False))))


def _paired(node: Node) -> Node:
    """`node` as it is, and as an arrangement's rows."""
    by_first = Arrange(node, (0,))
    return Union((node, Join(by_first, by_first, both)))


def _reached() -> Iterate:
    step = Join(Arrange(Recursive("r", EDGES), (1,)), Arrange(edges, (0,)), both)
    return Iterate((("r", Distinct(Union((edges, step)))),), "r")


def _counted(node: Node) -> Node:
    return Reduce(node, (0,), (Aggregate("count", None, "n", INT, False),))


mapped = _mapped(edges)
twice = Arrange(_mapped(mapped), (1,))
SHARING = {
    "a map": _paired(mapped),
    "a map within another arrangement": Union((mapped, Join(Arrange(mapped, (0,)), twice, both))),
    "a loop": _paired(_reached()),
    "a loop within a loop's body": _paired(_mapped(_reached())),
    "groups": _paired(_counted(mapped)),
    "a sum of what is shared": _paired(_paired(mapped)),
}


@pytest.fixture(params=list(SHARING.values()), ids=list(SHARING))
def shared(request: pytest.FixtureRequest) -> Node:
    node: Node = request.param
    return node


@pytest.fixture(params=[1, 2])
def pool(request: pytest.FixtureRequest) -> Pool:
    made = Pool(request.param)
    made.create_input("edges", EDGES, ["x"])
    _feed(made, [(i, i + 1) for i in range(9)])
    return made


def _feed(pool: Pool, rows: list[tuple[int, int]]) -> None:
    batch = pa.record_batch([pa.array(c, INT) for c in zip(*rows, strict=True)], schema=EDGES)
    pool.feed("edges", batch, np.ones(len(rows), np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _answer(pool: Pool, name: str) -> list[tuple[tuple[int, ...], int]]:
    found = pool.scan(name)
    rows = zip(*found.rows.to_pydict().values(), strict=True)
    return sorted(zip(rows, found.counts.tolist(), strict=True))


def _names(pool: Pool) -> list[str]:
    return [each.name for each in pool.arrangements()]


def test_a_dropped_dataflow_leaves_nothing(pool: Pool, shared: Node) -> None:
    before = _names(pool)
    pool.install("view", shared, [shared.schema.names[0]])
    pool.drop("view")
    assert _names(pool) == before


def test_no_two_pieces_need_each_other(pool: Pool, shared: Node) -> None:
    pool.install("view", shared, [shared.schema.names[0]])
    for piece in pool._core.catalog.living:
        assert all(piece not in needed.all_needed() for needed in piece.needs)


def test_what_another_dataflow_shares_goes_on_without_the_first(pool: Pool, shared: Node) -> None:
    key = [shared.schema.names[0]]
    pool.install("view", shared, key)
    pool.install("other", _paired(shared), key)
    pool.install("judge", shared, key)
    pool.drop("view")
    _feed(pool, [(20, 0), (3, 20)])
    alone = Pool()
    alone.create_input("edges", EDGES, ["x"])
    alone.install("other", _paired(shared), key)
    alone.install("judge", shared, key)
    _feed(alone, [(i, i + 1) for i in range(9)])
    _feed(alone, [(20, 0), (3, 20)])
    for name in ("other", "judge"):
        assert _answer(pool, name) == _answer(alone, name)
