"""Rows that a condition on now() lets in and out as the clock passes."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.errors import SqlError, UnsupportedSql
from views.lowering.temporal_filter import CLOCK

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MOMENT: pa.DataType = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("at", MOMENT),
        pa.field("until", MOMENT),
        pa.field("day", pa.date32()),
        pa.field("amount", pa.int64(), nullable=False),
    ]
)
CATALOG = Catalog([Table("events", SCHEMA, ("id",))])


def minutes(count: float) -> datetime:
    return NOON + timedelta(minutes=count)


class Clocked:
    """A view over `events` and the clock."""

    def __init__(self, query: str) -> None:
        self.pool = Pool()
        self.pool.create_input("events", SCHEMA, ["id"])
        self.pool.create_input(CLOCK.name, CLOCK.schema, ["now"])
        compiled = compile_view(query, CATALOG)
        self.pool.install("view", compiled.node, compiled.key)

    def put(self, *rows: dict[str, object], diff: int = 1) -> None:
        batch = pa.RecordBatch.from_pylist([{"amount": 1, **row} for row in rows], schema=SCHEMA)
        self.pool.feed("events", batch, np.full(len(rows), diff), self.pool.frontier)
        self.pool.advance(self.pool.frontier + 1)

    def tick(self, now: datetime) -> None:
        batch = pa.record_batch([pa.array([now], MOMENT)], schema=CLOCK.schema)
        self.pool.feed(CLOCK.name, batch, np.ones(1, np.int64), self.pool.frontier)
        self.pool.advance(self.pool.frontier + 1)

    def rows(self) -> list[tuple[object, ...]]:
        snapshot = self.pool.scan("view")
        assert snapshot.errors == 0
        return sorted(zip(*snapshot.rows.to_pydict().values(), strict=True))


@pytest.mark.parametrize(
    ("condition", "first", "last"),
    [
        ("at >= now() - interval '10 minutes'", None, minutes(10)),
        ("at > now() - interval '10 minutes'", None, minutes(10) - timedelta(microseconds=1)),
        ("now() < at + interval '1 day'", None, minutes(1440) - timedelta(microseconds=1)),
        ("at <= now()", NOON, None),
        ("now() > at", NOON + timedelta(microseconds=1), None),
        ("now() - interval '2 hours' >= at", minutes(120), None),
        ("interval '1 hour' + now() BETWEEN at AND until", minutes(-60), minutes(-30)),
        (
            "at <= now() AND current_timestamp < until",
            NOON,
            minutes(30) - timedelta(microseconds=1),
        ),
        ("now() < day", None, datetime(2026, 7, 2, tzinfo=UTC) - timedelta(microseconds=1)),
        ("(now() >= at AND amount = 1)", NOON, None),
    ],
)
def test_a_row_is_there_from_its_first_moment_to_its_last(
    condition: str, first: datetime | None, last: datetime | None
) -> None:
    clocked = Clocked(f"SELECT id FROM events WHERE {condition}")
    clocked.put({"id": 1, "at": NOON, "until": minutes(30), "day": datetime(2026, 7, 2).date()})
    step = timedelta(microseconds=1)
    moments = [(minutes(-100_000), first is None)]
    moments += [(first - step, False), (first, True)] if first else []
    moments += [(last, True), (last + step, False)] if last else [(minutes(100_000), True)]
    for now, there in moments:
        clocked.tick(now)
        assert clocked.rows() == ([(1,)] if there else []), now


def test_an_aggregate_forgets_rows_as_time_passes() -> None:
    clocked = Clocked(
        "SELECT count(*) AS n, sum(amount) AS total FROM events "
        "WHERE at > now() - interval '5 minutes'"
    )
    clocked.tick(NOON)
    clocked.put(*({"id": i, "at": minutes(i), "amount": i} for i in range(10)))
    assert clocked.rows() == [(10, 45)]
    clocked.tick(minutes(7))
    assert clocked.rows() == [(7, sum(range(3, 10)))]
    clocked.put({"id": 9, "at": minutes(9), "amount": 9}, diff=-1)
    clocked.tick(minutes(30))
    assert clocked.rows() == [(0, None)]


def test_a_row_with_a_null_moment_is_never_there() -> None:
    clocked = Clocked("SELECT id FROM events WHERE now() >= at AND now() < until")
    clocked.put({"id": 1, "at": NOON}, {"id": 2, "until": minutes(10)})
    clocked.tick(minutes(5))
    assert clocked.rows() == []


def test_the_latest_beginning_and_the_earliest_end_count() -> None:
    clocked = Clocked(
        "SELECT id FROM events WHERE now() >= at AND now() >= until - interval '20 minutes' "
        "AND now() < until AND at > now() - interval '25 minutes'"
    )
    clocked.put({"id": 1, "at": NOON, "until": minutes(30)})
    seen = []
    for minute in range(0, 40, 5):
        clocked.tick(minutes(minute))
        seen.append(len(clocked.rows()))
    assert seen == [0, 0, 1, 1, 1, 0, 0, 0]


def test_a_correlated_subquery_may_read_the_clock() -> None:
    clocked = Clocked(
        "SELECT id FROM events e WHERE NOT EXISTS "
        "(SELECT 1 FROM events f WHERE f.id > e.id AND f.at <= now())"
    )
    clocked.put({"id": 1, "at": minutes(0)}, {"id": 2, "at": minutes(10)})
    clocked.tick(minutes(5))
    assert clocked.rows() == [(1,), (2,)]
    clocked.tick(minutes(15))
    assert clocked.rows() == [(2,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT now() FROM events",
        "SELECT id FROM events WHERE at = now()",
        "SELECT id FROM events WHERE at > now() OR amount > 1",
        "SELECT id FROM events WHERE NOT at > now()",
        "SELECT id FROM events WHERE now() > now()",
        "SELECT id FROM events WHERE extract(hour FROM now()) > 1",
        "SELECT id FROM events WHERE at > now() - interval '1 month'",
        "SELECT id, count(*) FROM events GROUP BY id HAVING max(at) > now()",
    ],
)
def test_now_anywhere_else_is_refused_with_its_place(query: str) -> None:
    with pytest.raises(UnsupportedSql) as refused:
        compile_view(query, CATALOG)
    assert refused.value.position is not None


def test_now_is_compared_with_a_moment() -> None:
    with pytest.raises(SqlError, match="compared with a timestamp"):
        compile_view("SELECT id FROM events WHERE now() > amount", CATALOG)
