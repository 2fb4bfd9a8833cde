"""Members apply the changes of their own rows as one process applies those of all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from connectors.ingest.dealt_tables import DealtTables
from connectors.ingest.tables import LocalTables, Settled, Tables
from connectors.ingest.upsert import Changes
from connectors.tables.table import Table
from ivm.cluster.dealing import Dealer, parcels_of
from ivm.cluster.lending import LendingPool
from ivm.cluster.pool import AnyPool, ClusterPool
from ivm.pool import Pool
from tests.property.members import Threads
from tests.property.test_keyed import KEY, SCHEMA, Change, changes, histories

EXACT_FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string(), nullable=False),
]
EXACT = pa.schema(EXACT_FIELDS)

_numbers = count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[ClusterPool]:
    with Threads(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def dealer(cluster: ClusterPool) -> Iterator[Dealer]:
    assert cluster.owners is not None
    with closing(Dealer(cluster.owners)) as dealer:
        yield dealer


class Both:
    """A table of a pool of this process, and of a cluster; both are given the same changes."""

    def __init__(
        self, cluster: ClusterPool, dealer: Dealer, schema: pa.Schema, key: Sequence[str]
    ) -> None:
        self.table = Table(f"t{next(_numbers)}", schema, tuple(key))
        alone = Pool(1)
        self.dealer = dealer
        self.pools: tuple[AnyPool, AnyPool] = alone, cluster
        self.tables: tuple[Tables, Tables] = LocalTables(alone), DealtTables(cluster)
        for pool in self.pools:
            pool.create_input(self.table.name, schema, self.table.owner_key)
        self.frontiers = [pool.frontier for pool in self.pools]

    def given(self, made: Changes, cut: int) -> list[Changes]:
        """The changes for each; those for the cluster have references to two parcels."""
        key = self.table.owner_key
        parts = [
            self.dealer.deal(part, self.table.schema, key)
            for part in (made.rows.slice(0, cut), made.rows.slice(cut))
        ]
        self.dealer.flush()
        self.tables[1].release(set().union(*map(parcels_of, parts)))
        [references] = pa.Table.from_batches(parts).combine_chunks().to_batches() or parts[:1]
        there = [made.rows, references]
        return [
            Changes(rows, made.diffs, made.times + np.uint64(begin), made.missing)
            for rows, begin in zip(there, self.frontiers, strict=True)
        ]

    def complete(self, steps: int) -> None:
        for pool, begin in zip(self.pools, self.frontiers, strict=True):
            pool.advance(begin + steps)
        for tables in self.tables:
            tables.finish()

    def close(self) -> None:
        for pool in self.pools:
            pool.drop_input(self.table.name)


def rows_of(pool: AnyPool, table: Table) -> Counter[str]:
    found = pool.scan(table.name)
    return Counter(
        {repr(row): n for row, n in zip(found.rows.to_pylist(), found.counts, strict=True)}
    )


def told(settled: Settled) -> tuple[int, list[int]]:
    return settled.absent, settled.unavailable.tolist()


@given(histories, st.lists(st.integers(1, 25), max_size=3))
def test_keyed_changes_come_to_the_same_rows(
    cluster: ClusterPool, dealer: Dealer, history: list[Change], cuts: list[int]
) -> None:
    both = Both(cluster, dealer, SCHEMA, KEY)
    timed, time = [], 0
    for change in history:
        time += change.steps
        timed.append((time, change))
    ends = sorted({c for c in cuts if 0 < c < len(timed) and timed[c][0] > timed[c - 1][0]})
    for begin, end in zip([0, *ends], [*ends, len(timed)], strict=True):
        made = changes(timed[begin:end])
        given_each = both.given(made, (end - begin) // 2)
        settled = [
            told(tables.settle(both.table, own))
            for tables, own in zip(both.tables, given_each, strict=True)
        ]
        assert settled[0] == settled[1]
        both.complete(timed[end - 1][0] + 1 if end else 0)
    alone, shared = (rows_of(pool, both.table) for pool in both.pools)
    assert shared == alone
    assert cluster.carry_out(_parcels, [()] * 2) == [0, 0]
    both.close()


exact = st.lists(
    st.lists(st.tuples(st.sampled_from([1, 1, -1, 0]), st.integers(0, 3), st.sampled_from("ab"))),
    max_size=4,
)


@given(exact, st.sampled_from([("id",), ()]))
def test_whole_images_come_to_the_same_rows_and_the_same_keys_at_fault(
    cluster: ClusterPool, dealer: Dealer, batches: list[list[Any]], key: tuple[str, ...]
) -> None:
    both = Both(cluster, dealer, EXACT, key)
    known: list[pa.RecordBatch | None] = [None, None]
    for time, batch in enumerate(batches):
        columns = [[None if kind == 0 else row[i] for kind, *row in batch] for i in (0, 1)]
        rows = pa.RecordBatch.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, EXACT, strict=True)], schema=EXACT
        )
        diffs = np.array([kind for kind, *_ in batch], np.int64)
        made = Changes(rows, diffs, np.full(len(batch), time, np.uint64))
        given_each = both.given(made, len(batch) // 2)
        for tables, own in zip(both.tables, given_each, strict=True):
            tables.feed(both.table, own)
        for pool, begin in zip(both.pools, both.frontiers, strict=True):
            pool.advance(begin + time + 1)
        found = []
        for at, (tables, own) in enumerate(zip(both.tables, given_each, strict=True)):
            noted = own.rows.filter(pa.array(own.diffs != 0))
            fault = tables.miscounted(both.table, [tables.keys_of(both.table, noted)], known[at])
            known[at] = fault.keys if fault is not None else None
            found.append(
                (sorted(map(repr, fault.keys.to_pylist())), dict(fault.messages)) if fault else None
            )
        assert found[0] == found[1]
        both.complete(time + 1)
    alone, shared = (rows_of(pool, both.table) for pool in both.pools)
    assert shared == alone
    both.close()


def _parcels(pool: LendingPool) -> int:
    return len(pool.parcels)
