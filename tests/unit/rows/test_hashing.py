"""Hashes of keys, by which rows are sharded."""

from collections import Counter

import pyarrow as pa

from ivm.rows.interner import Interner, word_of
from ivm.rows.shims import hash_of, hash_of_first
from tests.unit.rows.values import schema_of

PLAIN = schema_of(("a", pa.int64(), False), ("b", pa.string(), False))
NULLABLE = schema_of(("b", pa.string(), True), ("a", pa.int64(), True))


def test_a_key_hashes_alike_wherever_its_columns_lie() -> None:
    interner = Interner()
    row = [7, "a key that is long"]
    assert hash_of(row, PLAIN, [0, 1], interner) == hash_of(row[::-1], NULLABLE, [1, 0], interner)


def test_the_hash_does_not_depend_on_what_was_interned_before() -> None:
    busy = Interner()
    word_of(busy, b"something that comes first")
    row = [7, "a key that is long"]
    assert hash_of_first(row, PLAIN, 2, busy) == hash_of_first(row, PLAIN, 2, Interner())


def test_columns_outside_the_key_do_not_count() -> None:
    interner = Interner()
    assert hash_of_first([7, "x"], PLAIN, 1, interner) == hash_of_first(
        [7, "y"], PLAIN, 1, interner
    )


def test_null_is_not_zero() -> None:
    interner = Interner()
    null, empty = (hash_of([v, 1], NULLABLE, [0], interner) for v in (None, ""))
    assert null != empty


def test_consecutive_keys_spread_evenly() -> None:
    interner = Interner()
    shards = Counter((hash_of([i, ""], PLAIN, [0], interner) >> 32) * 8 >> 32 for i in range(4000))
    assert all(400 <= shards[s] <= 600 for s in range(8))
