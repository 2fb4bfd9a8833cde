"""Tumbling, hopping and session windows are, after each step, what PostgreSQL's own SQL says."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ivm.pool import Pool
from tests.postgres import Judge, emptied
from tests.property.shop import Row, hashable, normal, rows_of
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.types import type_name

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), False),
    pa.field("k", pa.string()),
    pa.field("ts", pa.timestamp("us")),
    pa.field("tz", pa.timestamp("us", "UTC")),
    pa.field("d", pa.date32()),
    pa.field("n", pa.int32()),
]
EVENTS = Table("events", pa.schema(FIELDS), ("id",))
CATALOG = Catalog([EVENTS])

SESSIONS = """
(select *, min({t}) over s as window_start, max({t}) over s + interval '{gap}' as window_end from
(select *, count(*) filter (where begins) over ({by} order by {t}) as session from
(select *, lag({t}) over ({by} order by {t}) + interval '{gap}' < {t} as begins from events
where {t} is not null) b) n window s as (partition by {key} session))
"""


def sessions(gap: str, time: str = "ts", key: str = "") -> str:
    """Sessions as PostgreSQL's users find them: gaps, and a running count of those."""
    by = f"partition by {key}" if key else ""
    return SESSIONS.format(t=time, gap=gap, by=by, key=f"{key}," if key else "")


PAIRS = {
    "tumble": (
        "select id, window_start, window_end from tumble(events, ts, interval '10 minutes')",
        "select id, date_bin('10 minutes', ts, '1970-01-01') as a, "
        "date_bin('10 minutes', ts, '1970-01-01') + interval '10 minutes' as b from events",
    ),
    "tumble from an offset, grouped": (
        "select window_start, count(*), sum(n) from tumble(events, tz, interval '1' hour, "
        "interval '-20 minutes') as w group by window_start, window_end",
        "select date_bin('1 hour', tz, timestamptz '1969-12-31 23:40+00') as a, count(*), sum(n) "
        "from events group by a",
    ),
    "tumble of dates": (
        "select events.d, window_end from tumble(events, d, interval '3' day) where n > 1",
        "select d, date_bin('3 days', d::timestamp, '1970-01-01') + interval '3 days' "
        "from events where n > 1",
    ),
    "tumble as Flink writes it": (
        "select window_start, k, max(n) from table(tumble(table events, descriptor(ts), "
        "interval '15' minute)) group by window_start, window_end, k",
        "select date_bin('15 minutes', ts, '1970-01-01') as a, k, max(n) from events group by a, k",
    ),
    "hop": (
        "select id, window_start, window_end from hop(events, ts, interval '5 minutes', "
        "interval '15 minutes')",
        "select id, s, s + interval '15 minutes' from events, generate_series("
        "date_bin('5 minutes', ts, '1970-01-01') - interval '10 minutes', ts, '5 minutes') s",
    ),
    "hop of a size that is no multiple": (
        "select h.id, h.window_start from hop(events, tz, interval '7 minutes', "
        "interval '10 minutes', interval '1 minute') h",
        "select id, s from events, generate_series(date_bin('7 minutes', tz, "
        "timestamptz '1970-01-01 00:01+00') - interval '7 minutes', tz, '7 minutes') s "
        "where s + interval '10 minutes' > tz",
    ),
    "hop with gaps between": (
        "select id, window_start from hop(events, ts, interval '20 minutes', interval '5 minutes')",
        "select id, s from (select id, ts, date_bin('20 minutes', ts, '1970-01-01') as s "
        "from events) e where s + interval '5 minutes' > ts",
    ),
    "hop of a query": (
        "select count(*), window_end from hop((select * from events where n > 0) e, ts, "
        "interval '30 minutes', interval '1 hour') group by window_start, window_end",
        "select count(*), s + interval '1 hour' from events, generate_series(date_bin("
        "'30 minutes', ts, '1970-01-01') - interval '30 minutes', ts, '30 minutes') s "
        "where n > 0 group by s",
    ),
    "session": (
        "select id, window_start, window_end from session(events, ts, interval '10 minutes')",
        f"select id, window_start, window_end from {sessions('10 minutes')} s",
    ),
    "session of a key": (
        "select k, window_start, window_end, count(*), sum(n) from session(events partition by k, "
        "tz, interval '10 minutes') group by k, window_start, window_end",
        "select k, window_start, window_end, count(*), sum(n) from "
        f"{sessions('10 minutes', 'tz', 'k')} s group by k, window_start, window_end",
    ),
    "session of several keys as Flink writes it": (
        "select id, window_start from table(session(table events partition by (k, n), "
        "descriptor(ts), interval '20' minute)) as s",
        f"select id, window_start from {sessions('20 minutes', 'ts', 'k, n')} s",
    ),
    "session of days": (
        "select d, window_start, window_end from session(events, d, interval '1 day')",
        f"select d, window_start::timestamp, window_end from {sessions('1 day', 'd')} s",
    ),
    "frame of sessions": (
        "select id, count(*) over w, first_value(ts) over w, sum(n) over (partition by k order by "
        "ts session with gap interval '10 minutes') from events where ts is not null "
        "window w as (order by ts session with gap interval '10 minutes')",
        "select id, count(*) over s, window_start, (select sum(x.n) from "
        f"{sessions('10 minutes', 'ts', 'k')} x where x.k is not distinct from e.k and "
        "x.window_start = (select y.window_start from "
        f"{sessions('10 minutes', 'ts', 'k')} y where y.id = e.id)) "
        f"from {sessions('10 minutes')} e window s as (partition by window_start)",
    ),
    "frame of sessions downwards": (
        "select id, max(n) over (order by tz desc session with gap '15 minutes') from events "
        "where tz is not null",
        f"select id, max(n) over (partition by window_start) from {sessions('15 minutes', 'tz')} e",
    ),
    "row numbers of sessions": (
        "select k, n, row_number() over (partition by k, window_start order by id) from session("
        "events partition by k, ts, interval '10 minutes')",
        "select k, n, row_number() over (partition by k, window_start order by id) "
        f"from {sessions('10 minutes', 'ts', 'k')} s",
    ),
}

_START = datetime(2024, 2, 28, 23, 0)
_minutes = st.integers(0, 90).map(lambda m: _START + timedelta(minutes=m))
_moments = _minutes | st.sampled_from(
    [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)]
)
_rows = st.lists(
    st.tuples(
        st.integers(1, 12),
        st.none() | st.sampled_from("ab"),
        st.none() | _moments,
        st.none() | _moments.map(lambda at: at.replace(tzinfo=UTC)),
        st.none() | st.dates(date(2024, 1, 1), date(2024, 1, 12)),
        st.none() | st.integers(0, 3),
    ),
    max_size=10,
    unique_by=lambda row: row[0],
)


@pytest.fixture(scope="module")
def events(judge: Judge) -> Judge:
    """PostgreSQL with the table."""
    emptied(judge)
    columns = ", ".join(f"{f.name} {type_name(f.type)}" for f in FIELDS)
    judge.execute(f"CREATE TABLE events ({columns})".encode())
    return judge


def _answer(events: Judge, query: str, rows: list[Row]) -> Counter[Row]:
    events.execute(b"DELETE FROM events")
    with events.cursor() as cursor, cursor.copy(b"COPY events FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    found = events.execute(query.encode()).fetchall()
    return normal(Counter(tuple(map(hashable, row)) for row in found))


def _feed(pool: Pool, old: list[Row], new: list[Row], time: int) -> None:
    before, after = Counter(old), Counter(new)
    moved = [*((row, -1) for row in before - after), *((row, 1) for row in after - before)]
    columns: list[Any] = [pa.array([r[i] for r, _ in moved], f.type) for i, f in enumerate(FIELDS)]
    batch = pa.RecordBatch.from_arrays(columns, schema=EVENTS.schema)
    pool.feed("events", batch, np.array([n for _, n in moved], np.int64), time)
    pool.advance(time + 1)


@pytest.mark.parametrize("name", PAIRS)
@given(history=st.lists(_rows, min_size=2, max_size=4))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_windows_are_maintained_as_postgresql_says(
    events: Judge, name: str, history: list[list[Row]]
) -> None:
    query, theirs = PAIRS[name]
    view = compile_view(query, CATALOG)
    pool = Pool()
    pool.create_input("events", EVENTS.schema, EVENTS.key)
    pool.install("view", view.node, view.key)
    held: list[Row] = []
    summed: Counter[Row] = Counter()
    for step, rows in enumerate(history):
        _feed(pool, held, rows, step)
        held = rows
        snapshot, deltas = pool.scan("view"), pool.drain("view")
        assert not snapshot.errors
        summed.update(rows_of(deltas.rows, deltas.diffs))
        expected = _answer(events, theirs, rows)
        assert normal(rows_of(snapshot.rows, snapshot.counts)) == expected
        assert normal({row: n for row, n in summed.items() if n}) == expected
