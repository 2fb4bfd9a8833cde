"""The pool maintains what a query means: after every batch, views equal their recomputation."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.pool import Pool
from tests.oracle import evaluate
from tests.property.queries import QUERIES
from tests.property.shop import CATALOG, Row, Tables, feed, rows_of, tables
from views.compile import compile_view

EVERY_COLUMN = {f"{t.name}[{column}]" for t in CATALOG.tables for column in t.schema.names}
# Every second view reads all arrangements that it can, as a delta join if possible.
VIEWS = {
    f"view{i}": compile_view(query, CATALOG, arranged=EVERY_COLUMN if i % 2 else ())
    for i, query in enumerate(QUERIES)
}


def without_zeros(rows: Counter[Row]) -> Counter[Row]:
    return Counter({row: n for row, n in rows.items() if n})


@given(history=st.lists(tables, min_size=1, max_size=4), late=st.integers(0, 4))
@settings(max_examples=8, deadline=None)
def test_views_follow_their_inputs(history: list[Tables], late: int) -> None:
    """Every second view is installed only before step `late`, over what has arrived by then."""
    pool = Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    early = [name for i, name in enumerate(VIEWS) if i % 2 == 0]
    for name in early:
        pool.install(name, VIEWS[name].node, VIEWS[name].key)
    followed = {name: Counter[Row]() for name in early}
    held: Tables = {table.name: [] for table in CATALOG.tables}
    for step, target in enumerate(history):
        if step == late:
            for name in VIEWS.keys() - set(early):
                pool.install(name, VIEWS[name].node, VIEWS[name].key)
                followed[name] = Counter[Row]()
        feed(pool, held, target, step)
        held = target
        _check(pool, followed, held)


def _check(pool: Pool, followed: dict[str, Counter[Row]], held: Tables) -> None:
    inputs = {name: Counter(rows) for name, rows in held.items()}
    for name, total in followed.items():
        expected = evaluate(VIEWS[name].node, inputs)
        assert not expected.errors
        deltas = pool.drain(name)
        total.update(rows_of(deltas.rows, deltas.diffs))
        snapshot = pool.scan(name)
        assert rows_of(snapshot.rows, snapshot.counts) == expected.rows, name
        assert without_zeros(total) == expected.rows, name
