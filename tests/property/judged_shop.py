"""The shop beside PostgreSQL: a view is compared with PostgreSQL's answer after each step."""

from collections import Counter

import psycopg
from hypothesis import reject

from ivm.pool import Pool
from tests.postgres import Judge, emptied
from tests.property.shop import CATALOG, Row, Tables, feed, hashable, normal, rows_of
from views.compile import compile_view
from views.types import type_name


def opened(judge: Judge) -> Judge:
    """PostgreSQL with the shop's tables."""
    emptied(judge)
    for table in CATALOG.tables:
        columns = ", ".join(f"{f.name} {type_name(f.type)}" for f in table.schema)
        judge.execute(f"CREATE TABLE {table.name} ({columns})".encode())
    return judge


def fill(shop: Judge, given: Tables) -> None:
    """Replace what the tables hold."""
    for name, rows in given.items():
        shop.execute(f"DELETE FROM {name}".encode())
        with shop.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)


def follow(shop: Judge, query: str, history: list[Tables]) -> None:
    """Compare the view with PostgreSQL's answer after each step."""
    view = compile_view(query, CATALOG)
    pool = Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    pool.install("view", view.node, view.key)
    held: Tables = {table.name: [] for table in CATALOG.tables}
    summed: Counter[Row] = Counter()
    for step, target in enumerate(history):
        feed(pool, held, target, step)
        held = target
        fill(shop, target)
        snapshot, deltas = pool.scan("view"), pool.drain("view")
        summed.update(rows_of(deltas.rows, deltas.diffs))
        try:
            answer = shop.execute(query.encode()).fetchall()
            expected = normal(Counter(tuple(map(hashable, row)) for row in answer))
        except psycopg.errors.FeatureNotSupported:  # some conditions of FULL JOIN
            reject()
        except psycopg.DataError:  # a division by zero, a text that is no number, …
            assert snapshot.errors
            continue
        assert not snapshot.errors
        assert normal(rows_of(snapshot.rows, snapshot.counts)) == expected
        assert normal({row: n for row, n in summed.items() if n}) == expected
