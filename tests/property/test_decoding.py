"""Laws of decoding: how records are cut into batches makes no difference, and no bytes break it."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from connectors.decode import DIFF, OFFSET, decode, decode_exactly
from connectors.files.reader import TopicReader
from connectors.files.reader import records as records_of
from connectors.files.writer import TopicWriter
from connectors.records import Decoded, Records
from connectors.spark.chunks import Chunk, chunks, encode
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import record, table

names = st.one_of(st.none(), st.text(max_size=3))
rows = st.fixed_dictionaries({"id": st.integers(0, 5), "name": names})
good = st.one_of(
    rows.map(lambda row: record("c", after=row)),
    rows.map(lambda row: record("d", before=row)),
    st.tuples(rows, rows).map(lambda pair: record("u", *pair)),
    st.just(b"null"),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "name", "x"]), inner),
    max_leaves=4,
)
envelopes = st.dictionaries(
    st.sampled_from(["op", "before", "after", "payload", "ts_ms"]),
    st.one_of(values, st.sampled_from(["c", "u", "d", "r", "t", "q"])),
)
bad = st.one_of(
    st.binary(max_size=8).filter(lambda value: b"\n" not in value),
    envelopes.map(orjson.dumps),
)
Update = tuple[int, int, Any]


def outcome(
    batches: Sequence[tuple[int, Sequence[bytes]]],
    way: Callable[[Records, TableSpec], Decoded] = decode,
) -> tuple[list[Update], list[Any], int]:
    """All updates, rejections and tombstones of records decoded in these batches."""
    updates: list[Update] = []
    rejected: list[Any] = []
    tombstones = 0
    for first, batch in batches:
        decoded = way(Records(batch, range(first, first + len(batch))), table())
        offsets, diffs = decoded.offsets.tolist(), decoded.diffs.tolist()
        updates += zip(offsets, diffs, decoded.rows.to_pylist(), strict=True)
        rejected += decoded.rejected
        tombstones += decoded.tombstones
    return updates, rejected, tombstones


@given(st.lists(good | bad), st.data())
def test_any_batching_gives_the_same_updates(records: list[bytes], data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(0, len(records))).map(sorted))
    bounds = [0, *cuts, len(records)]
    batches = [(a, records[a:b]) for a, b in pairwise(bounds)]
    assert outcome(batches) == outcome([(0, records)])


@given(st.lists(good | bad))
def test_records_are_decoded_natively_as_they_are_exactly(records: list[bytes]) -> None:
    batches = [(0, records)]
    assert outcome(batches) == outcome(batches, decode_exactly)


@given(st.lists(good | bad))
def test_every_record_is_applied_rejected_or_a_tombstone(records: list[bytes]) -> None:
    updates, rejected, tombstones = outcome([(0, records)])
    applied = {offset for offset, _, _ in updates}
    refused = {record.offset for record in rejected}
    assert not applied & refused
    assert len(applied) + len(refused) + tombstones == len(records)


@given(st.lists(good, max_size=40), st.integers(1, 200), st.integers(1, 7))
def test_any_segmentation_gives_the_same_updates(
    records: list[bytes], segment_bytes: int, step: int
) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory)
        writer = TopicWriter(root, "people", segment_bytes=segment_bytes)
        for start in range(0, len(records), step):
            writer.append(records[start : start + step])
        writer.close()
        reader = TopicReader(root, "people")
        end = reader.ends()[0]
        read = [
            update
            for span in reader.spans(0, 0, end)
            for chunk in chunks_of(encode("people@0", table(), records_of(span, 0)))
            for update in updates_of(chunk)
        ]
    assert end == len(records)
    assert read == outcome([(0, records)])[0]


def chunks_of(batch: Any) -> list[Chunk]:
    return list(chunks(batch))


def updates_of(chunk: Chunk) -> list[Update]:
    names = table().schema.names
    return [
        (row[OFFSET], row[DIFF], {name: row[name] for name in names})
        for row in chunk.updates.to_pylist()
    ]
