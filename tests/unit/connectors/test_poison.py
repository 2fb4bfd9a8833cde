"""Poison between good records of every kind of table: it is refused with a reason, and only it."""

import pytest

from connectors.decode import decode
from connectors.formats.format import REASONS
from connectors.records import Decoded, Records
from tests.fuzz.kinds import KINDS, Kind, Record

# What no format takes for a record with values, whatever the table.
POISON: dict[str, bytes] = {
    "no bytes": b"",
    "a byte of nothing": b"\0",
    "a magic byte of nobody": b"\x07\0\0\0\1abc",
    "an unknown schema": b"\0\0\0\xff\xff\2",
    "an unknown schema of 8 bytes": b"\0\0\0\0\0\0\0\xff\xff\2",
    "a truncated schema id": b"\0\0\1",
    "half a text": b'{"op":"c","after":{"id":1,',
    "two texts": b'{"op":"c"}{"op":"c"}',
    "invalid UTF-8": b'{"op":"\xff\xfe"}',
    "half a surrogate": b'{"op":"\\ud800"}',
    "deep arrays": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep in the envelope": b'{"op":"c","after":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "a deep schema": b'{"schema":'
    + b'{"items":' * 500
    + b"1"
    + b"}" * 500
    + b',"payload":{"id":1}}',
    "a long number": b'{"op":"c","after":{"id":' + b"9" * 5_000 + b"}}",
    "a large exponent": b'{"op":"c","after":{"id":1e999999999}}',
    "no number": b'{"op":"c","after":{"id":NaN}}',
    "an array": b"[1]",
    "a text": b'"abc"',
    "an object of nothing": b"{}",
    "a megabyte of nothing": b"\0" * (1 << 20),
    "a megabyte of quotes": b'"' * (1 << 20),
}
# Anything in UTF-8 is a row of texts.
CASES = [kind for name, kind in KINDS.items() if name != "bytes"]


def run(kind: Kind, *records: Record) -> Decoded:
    columns = Records(
        [record.value for record in records],
        range(len(records)),
        keys=[record.key for record in records],
        headers=[record.headers for record in records],
    )
    return decode(columns, kind.table, kind.writers)


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
def test_poison_is_refused_and_nothing_else_is(kind: Kind, poison: bytes) -> None:
    good = kind.records[0]
    alone = run(kind, good)
    assert alone.rejected == ()
    decoded = run(kind, good, Record(poison, good.key), good)
    (refused,) = decoded.rejected
    assert (refused.offset, refused.value, refused.key) == (1, poison, good.key)
    assert refused.reason in REASONS
    assert set(decoded.offsets.tolist()) == {0, 2}
    assert decoded.rows.to_pylist() == alone.rows.to_pylist() * 2


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
def test_a_poisoned_key_is_refused_too(poison: bytes) -> None:
    kind = KINDS["upsert"]
    good = kind.records[0]
    decoded = run(kind, good, Record(good.value, poison), Record(None, poison), good)
    assert [record.offset for record in decoded.rejected] == [1, 2]
    assert decoded.offsets.tolist() == [0, 3]
