"""A small side of a join goes to all members, and the large one stays, with the same answers."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.pool import AnyPool, ClusterPool
from ivm.dataflow import copied_sides
from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.combinators import antijoin, semijoin
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.nodes import (
    Arrange,
    Constant,
    Distinct,
    Get,
    Iterate,
    Join,
    Negate,
    Node,
    Recursive,
    Reduce,
    TopK,
    Union,
    project,
)
from ivm.pool import Pool
from tests.property.members import Threads

INT = pa.int64()
SALES = pa.schema([pa.field(name, INT, nullable=False) for name in ("id", "shop", "amount")])
SHOPS = pa.schema([pa.field(name, INT, nullable=False) for name in ("shop", "city")])
SCHEMAS = {"sales": SALES, "shops": SHOPS}
KEYS = {"sales": ["id"], "shops": ["shop", "city"]}
sales, shops = Get("sales", SALES), Get("shops", SHOPS)
LARGE, SHOPS_THERE = 2_000, 20

count = Aggregate("count", None, "n", INT, False)
total = Aggregate("sum", 1, "total", pa.decimal128(38, 0), False)
by_shop = Arrange(sales, (1,))
cities = Join(by_shop, Arrange(shops, (0,)), (("city", 3), ("amount", 2)))
turned = Join(Arrange(shops, (0,)), by_shop, (("city", 1), ("id", 2), ("amount", 3), ("shop", 0)))
known = project(shops, (0,))
resold = Join(
    Arrange(Recursive("sold", SALES), (1,)),
    Arrange(shops, (0,)),
    (("id", 1), ("shop", 3), ("amount", 2)),
)
VIEWS: dict[str, Node] = {
    "pairs": cities,
    "the small side is the left one": turned,
    "sums by city": Reduce(cities, (0,), (count, total)),
    "rows with a partner": semijoin(by_shop, known),
    "rows without a partner": antijoin(by_shop, known),
    "small rows without a partner": Union((known, Negate(Distinct(project(turned, (3,)))))),
    "no key": Join(Arrange(sales, ()), Arrange(shops, ()), (("id", 0), ("city", 4))),
    "a small side that is distinct": Join(by_shop, Arrange(Distinct(known), (0,)), (("id", 1),)),
    "a chain of joins": delta_join(
        [sales, shops, shops], [{1, 3}, {4, 5}], [("id", 0), ("city", 4), ("next", 6)]
    ),
    "in a loop": Iterate((("sold", Distinct(Union((sales, resold)))),), "sold"),
}


def feed(pool: AnyPool, name: str, rows: list[tuple[int, ...]], diff: int = 1) -> None:
    """Queue rows of a table for the present time."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    batch = pa.record_batch(columns, schema=SCHEMAS[name])
    pool.feed(name, batch, np.full(len(rows), diff), pool.frontier)


def step(pool: AnyPool) -> None:
    pool.advance(pool.frontier + 1)


def sale(number: int) -> tuple[int, ...]:
    """A sale in one of twice as many shops as there are."""
    return number, number * 7 % (2 * SHOPS_THERE), number % 100


def shop(number: int) -> tuple[int, ...]:
    """A shop in one of five cities."""
    return number, number % 5


SALES_THERE = [sale(i) for i in range(LARGE)]


def fill(pool: AnyPool) -> None:
    """Declare both tables, and fill them."""
    for name, schema in SCHEMAS.items():
        pool.create_input(name, schema, KEYS[name])
    feed(pool, "sales", SALES_THERE)
    feed(pool, "shops", [shop(i) for i in range(SHOPS_THERE)])
    step(pool)


@pytest.fixture(autouse=True)
def soon_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a side be large for fewer rows than usual."""
    monkeypatch.setattr(copied_sides, "LEAST_ROWS", LARGE)


@pytest.fixture
def pool() -> Iterator[ClusterPool]:
    with Threads(3) as made:
        fill(made)
        yield made


@pytest.fixture
def alone() -> Pool:
    made = Pool()
    fill(made)
    return made


def found(pool: AnyPool) -> Counter[tuple[object, ...]]:
    """The rows of the view, with their counts."""
    snapshot = pool.scan("view")
    columns = [column.to_pylist() for column in snapshot.rows.columns]
    held: Counter[tuple[object, ...]] = Counter()
    for *row, n in zip(*columns, snapshot.counts.tolist(), strict=True):
        held[tuple(row)] += n
    return held


def changes_alone(pool: AnyPool) -> Counter[tuple[object, ...]]:
    """The deltas of the view since the last time, added up."""
    deltas = pool.drain("view")
    columns = [column.to_pylist() for column in deltas.rows.columns]
    changed: Counter[tuple[object, ...]] = Counter()
    for *row, n in zip(*columns, deltas.diffs.tolist(), strict=True):
        changed[tuple(row)] += n
    return Counter({row: n for row, n in changed.items() if n})


Fed = tuple[str, list[tuple[int, ...]], int]
CHANGES: dict[str, list[list[Fed]]] = {
    "a row is added": [[("shops", [(20, 3)], 1)]],
    "rows are removed": [[("shops", [shop(i) for i in range(3)], -1)]],
    "all are removed and some come again": [
        [("shops", [*(shop(i) for i in range(3, SHOPS_THERE)), (20, 3)], -1)],
        [("shops", [shop(i) for i in range(10)], 1)],
    ],
    "there are several of a row": [
        [("shops", [shop(i) for i in range(6)], 2)],
        [("shops", [shop(i) for i in range(4)], -1)],
    ],
    "the other side changes": [
        [("sales", [sale(LARGE + i) for i in range(50)], 1), ("sales", SALES_THERE[:50], -1)]
    ],
    "both sides change at once": [
        [
            ("sales", [sale(LARGE + i) for i in range(50, 99)], 1),
            ("sales", SALES_THERE[50:99], -1),
            ("shops", [(21, 3), (5, 4)], 1),
            ("shops", [shop(i) for i in range(3)], -2),
        ]
    ],
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_with_a_copied_side_is_that_of_one_process_as_both_sides_change(
    pool: ClusterPool, alone: Pool, view: str
) -> None:
    node = VIEWS[view]
    assert "to all" in pool.plan_text(node, [])
    for each in (pool, alone):
        each.install("view", node, [])
    assert found(pool) == found(alone)
    assert changes_alone(pool) == changes_alone(alone)
    for title, steps in CHANGES.items():
        for fed in steps:
            for each in (pool, alone):
                for name, rows, diff in fed:
                    feed(each, name, rows, diff)
                step(each)
            assert found(pool) == found(alone), title
            assert changes_alone(pool) == changes_alone(alone), title


def test_a_side_that_outgrows_the_other_is_still_right(pool: ClusterPool, alone: Pool) -> None:
    node = VIEWS["sums by city"]
    for each in (pool, alone):
        each.install("view", node, [])
        feed(each, "shops", [(i % 60, i) for i in range(5, LARGE)])
        step(each)
    assert found(pool) == found(alone)
    assert "to all" not in pool.plan_text(node, [])  # as it would be decided now


def sent_bytes(pool: ClusterPool) -> int:
    """The bytes that members send each other where as many sales come as there are."""
    before = sum(share.sent_bytes for share in pool.shares())
    feed(pool, "sales", [sale(LARGE + i) for i in range(LARGE)])
    step(pool)
    return sum(share.sent_bytes for share in pool.shares()) - before


def test_changes_of_the_large_side_do_not_travel(
    pool: ClusterPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.install("view", VIEWS["sums by city"], None)
    copied = sent_bytes(pool)
    pool.drop("view")
    monkeypatch.setattr(copied_sides, "LEAST_ROWS", 100 * LARGE)
    pool.install("view", VIEWS["sums by city"], None)
    assert 20 * copied < sent_bytes(pool)


def test_both_sides_travel_where_neither_is_small(pool: ClusterPool) -> None:
    both = Join(by_shop, Arrange(sales, (2,)), (("a", 1), ("b", 3)))
    assert "to all" not in pool.plan_text(both, None)


def test_a_side_without_rows_is_not_copied(pool: ClusterPool) -> None:
    pool.create_input("new", SHOPS, ["shop", "city"])
    empty = Join(by_shop, Arrange(Get("new", SHOPS), (0,)), (("city", 3),))
    assert "to all" not in pool.plan_text(empty, None)


@pytest.mark.parametrize(
    "few",
    [
        Constant(((1, 2), (3, 4)), SHOPS),
        Reduce(shops, (), (Aggregate("max", 0, "shop", INT, False),)),
        TopK(shops, (), (Order(0),), 3),
        Distinct(project(Constant(((1, 2), (1, 4)), SHOPS), (0,))),
    ],
)
def test_a_side_that_can_never_have_many_rows_is_copied_before_there_are_any(few: Node) -> None:
    with Threads(2) as empty:
        for name, schema in SCHEMAS.items():
            empty.create_input(name, schema, KEYS[name])
        joined = Join(by_shop, Arrange(few, (0,)), (("id", 1),))
        assert "sales[shop]" in empty.plan_text(joined, None)


def test_a_side_that_lies_by_the_key_stays_without_copies(pool: ClusterPool) -> None:
    by_id = Join(Arrange(sales, (0,)), Arrange(shops, (0,)), (("city", 3), ("amount", 2)))
    assert "to all" not in pool.plan_text(by_id, None)


def test_an_exchanged_arrangement_that_there_is_serves_instead_of_copies(pool: ClusterPool) -> None:
    both = Join(by_shop, Arrange(sales, (2,)), (("a", 1), ("b", 3)))
    pool.install("view", both, None)
    assert "to all" not in pool.plan_text(cities, None)


def test_views_share_the_arrangements_of_both_sides(pool: ClusterPool) -> None:
    pool.install("view", cities, None)
    pool.install("other", Reduce(cities, (0,), (count,)), None)
    own = pool.plan_text(Reduce(cities, (0,), (total,)), None)
    assert {line for line in own.splitlines() if not line.startswith(" ")} == {
        "reuse sales[shop]",
        "reuse view[shop]",
        "deliver",
    }


def test_a_forecast_counts_copies_once_for_each_member(pool: ClusterPool, alone: Pool) -> None:
    made = {each.name: each.rows for each in pool.explain(cities, None).foretold}
    assert made == {"sales[shop]": LARGE, "(new)[shop]": 3 * SHOPS_THERE}
    assert pool.explain(VIEWS["no key"], None).pairs == alone.explain(VIEWS["no key"], None).pairs


def test_an_arrangement_that_stays_is_not_told_of_as_one_for_every_join(pool: ClusterPool) -> None:
    pool.install("view", cities, ["city"])
    assert {info.name for info in pool.arrangements()} >= {"sales[shop]"}
    assert pool.arranged() >= {"sales[id]", "view[city]"}
    assert "sales[shop]" not in pool.arranged()


def test_rows_that_stay_are_found_by_the_key_of_the_join_on_all_members(
    pool: ClusterPool, alone: Pool
) -> None:
    keys = pa.record_batch([[7, 500, 0]], schema=pa.schema([SALES.field("shop")]))
    for each in (pool, alone):
        each.install("view", cities, None)
    of_one, of_many = pool.peek("sales", {"shop": 7}), pool.look_up("sales", keys)
    assert ids(of_one.rows) == ids(alone.peek("sales", {"shop": 7}).rows)
    assert ids(of_many.rows) == ids(alone.look_up("sales", keys).rows)
    assert of_many.owners.tolist() == alone.look_up("sales", keys).owners.tolist()


def ids(rows: pa.RecordBatch) -> list[int]:
    """The numbers of sales, in order."""
    return sorted(row["id"] for row in rows.to_pylist())
