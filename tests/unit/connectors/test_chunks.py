"""A chunk tells of each record that is passed over what it is, whatever stands beside it."""

import orjson
import pyarrow as pa

from connectors.records import Records
from connectors.spark.chunks import chunks, encode
from tests.unit.connectors.records import insert, table

SCHEMA = {"type": "struct", "fields": []}
TOMBSTONES = [None, b"null", b" null ", orjson.dumps({"schema": SCHEMA, "payload": None})]
IGNORED = b'{"op":"m"}'


def test_tombstones_are_told_from_other_records_that_say_nothing_of_rows() -> None:
    values = [insert(1), IGNORED, *TOMBSTONES, b"{", IGNORED]
    records = Records(values, range(5, 5 + len(values)))
    (chunk,) = chunks(pa.Table.from_batches([encode("people@0", table(), records)]))
    passed = dict(zip(*chunk.passed.to_pydict().values(), strict=True))
    assert passed == {6: False, 7: True, 8: True, 9: True, 10: True, 12: False}
    assert [record.offset for record in chunk.rejected] == [11]
