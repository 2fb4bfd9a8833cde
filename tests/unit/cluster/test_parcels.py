"""Rows come to the members that own them in parcels, and are used by reference."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from multiprocessing import AuthenticationError
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.credentials import Credentials
from ivm.cluster.dealing import OWNER, PARCEL, Dealer, Lying, dealt, parcels_of
from ivm.cluster.lending import LendingPool
from ivm.cluster.pool import ClusterPool
from ivm.errors import PoolFailed
from ivm.rows.owners import owners_of
from tests.property.members import Threads

FIELDS: list[pa.Field] = [
    pa.field("note", pa.string()),
    pa.field("id", pa.int64(), nullable=False),
    pa.field("region", pa.string()),
]
SCHEMA = pa.schema(FIELDS)
KEY = ("region", "id")
MEMBERS = 3


@pytest.fixture
def pool(encrypted: bool) -> Iterator[ClusterPool]:
    with Threads(MEMBERS, encrypted=encrypted) as pool:
        yield pool


@pytest.fixture
def dealer(pool: ClusterPool) -> Iterator[Dealer]:
    assert pool.owners is not None
    with closing(Dealer(pool.owners)) as dealer:
        yield dealer


def some_rows(count: int) -> pa.RecordBatch:
    rows = [
        {"note": f"a long note {i}", "id": i, "region": None if i % 5 == 0 else f"region {i % 7}"}
        for i in range(count)
    ]
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def dealt_rows(dealer: Dealer, rows: pa.RecordBatch) -> pa.RecordBatch:
    references = dealer.deal(rows, SCHEMA, KEY)
    dealer.flush()
    return references


def there(pool: ClusterPool, references: pa.RecordBatch) -> list[tuple[Any, pa.RecordBatch]]:
    """The positions of the rows that each member has, and the rows that it finds."""
    parts = dealt(references, MEMBERS, np.zeros(references.num_rows, np.bool_))
    found = pool.carry_out(_found, [(lying,) for _, lying in parts])
    return list(zip((positions for positions, _ in parts), found, strict=True))


def _found(pool: LendingPool, given: Lying) -> pa.RecordBatch:
    return pool.parcels.rows(given.numbers, given.which, given.places, SCHEMA)


def _parcels(pool: LendingPool) -> int:
    return len(pool.parcels)


def _keep(pool: LendingPool, numbers: list[int]) -> None:
    pool.parcels.keep(numbers)


def _drop(pool: LendingPool, numbers: list[int]) -> None:
    pool.parcels.drop(numbers)


def test_each_row_is_with_the_owner_of_its_key(pool: ClusterPool, dealer: Dealer) -> None:
    rows = some_rows(100)
    references = dealt_rows(dealer, rows)
    owners = owners_of(rows, SCHEMA, [2, 1], MEMBERS)
    assert references[OWNER].to_numpy().tolist() == owners.tolist()
    for positions, found in there(pool, references):
        assert found.equals(rows.take(positions))


def test_references_are_chosen_and_put_together_as_rows_are(
    pool: ClusterPool, dealer: Dealer
) -> None:
    rows = some_rows(40)
    first, second = (dealt_rows(dealer, rows.slice(begin, 20)) for begin in (0, 20))
    order = np.random.default_rng(7).permutation(40)[:30]
    chosen = pa.Table.from_batches([first, second]).combine_chunks().to_batches()[0].take(order)
    for positions, found in there(pool, chosen):
        assert found.equals(rows.take(order).take(positions))


def test_a_row_without_values_has_an_owner_too(pool: ClusterPool, dealer: Dealer) -> None:
    nothing = pa.RecordBatch.from_arrays([pa.nulls(1, f.type) for f in SCHEMA], schema=SCHEMA)
    references = dealt_rows(dealer, nothing)
    everywhere = dealt(references, MEMBERS, np.ones(1, np.bool_))
    found = pool.carry_out(_found, [(lying,) for _, lying in everywhere])
    assert [rows.to_pylist() for rows in found] == [nothing.to_pylist()] * MEMBERS


def test_what_is_dropped_is_there_no_more(pool: ClusterPool, dealer: Dealer) -> None:
    first, second = dealt_rows(dealer, some_rows(30)), dealt_rows(dealer, some_rows(30))
    pool.post(_drop, [(list(parcels_of(first)),)] * MEMBERS)
    assert pool.carry_out(_parcels, [()] * MEMBERS) == [1] * MEMBERS
    pool.post(_keep, [(list(parcels_of(first)),)] * MEMBERS)
    assert pool.carry_out(_parcels, [()] * MEMBERS) == [0] * MEMBERS
    with pytest.raises(PoolFailed, match="are not there"):
        there(pool, second)


def test_many_parcels_are_on_their_way_at_once(pool: ClusterPool, dealer: Dealer) -> None:
    rows = some_rows(20)
    references = [dealer.deal(rows, SCHEMA, KEY) for _ in range(300)]
    dealer.flush()
    assert dealer.is_flushed
    assert len({one[PARCEL][0].as_py() for one in references}) == 300
    assert sum(share.received_rows for share in pool.shares()) == 300 * 20


def test_a_stranger_brings_nothing(pool: ClusterPool) -> None:
    assert pool.owners is not None
    stranger = replace(pool.owners, credentials=Credentials.new(encrypted=False))
    with pytest.raises((AuthenticationError, OSError, EOFError)):
        Dealer(stranger)
    assert pool.carry_out(_parcels, [()] * MEMBERS) == [0] * MEMBERS


def test_a_member_that_has_gone_is_told(pool: ClusterPool, dealer: Dealer) -> None:
    pool.close()
    with pytest.raises((OSError, EOFError)):
        dealt_rows(dealer, some_rows(30))
