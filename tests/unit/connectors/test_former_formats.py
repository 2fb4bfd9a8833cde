"""What the service wrote before positions were told by source is still read."""

import pytest

from connectors.checkpoint.manifest import Manifest
from connectors.errors import SinkDiverged
from connectors.sinks.kafka.progress import check, decode

PROGRESS = (
    b'{"service":"s","instance":"i","batch":3,"time":7,"moment":9,"offsets":{"t":{"0":12}},'
    b'"ranges":[["a","t",0,3,12]],"views":{"v":{"topic":"out","topic_id":"id","plan":"plan",'
    b'"life":1,"sequence":4,"digest":"ff","failed":null}},"previous":"before",'
    b'"seal":"0b6b058fc8b5b09afe9c1658eeaf5805"}'
)
MANIFEST = (
    b'7bf171bc {"format":1,"journal":"j","time":7,"moment":9,"offsets":{"t":[[0,12]]},'
    b'"published":{"v":3},"tables":[{"name":"a","epoch":0,"topic":"t","columns":[["id","int64",'
    b'false]],"key":["id"],"positions":[[0,12]],"files":[],"seen":[]}]}\n'
)


def test_a_record_of_progress_keeps_its_seal_and_is_followed_by_those_with_sources() -> None:
    found = decode(PROGRESS, "here")
    assert (found.time, found.offsets, found.sources) == (7, {"t": {"0": 12}}, None)
    assert found.encode() == PROGRESS
    later = decode(found.next(sources={"a": {"0": 12}}).encode(), "there")
    check(found, later, "there")
    assert later.sources == {"a": {"0": 12}}


def test_sources_are_part_of_the_seal() -> None:
    record = decode(PROGRESS, "here").next(sources={"a": {"0": 12}}).encode()
    with pytest.raises(SinkDiverged, match="its seal does not hold"):
        decode(record.replace(b'"a":{"0":12}', b'"a":{"0":13}'), "there")


def test_the_tables_of_a_checkpoint_say_where_each_source_was() -> None:
    found = Manifest.from_bytes("m", MANIFEST)
    assert (found.time, found.published) == (7, {"v": 3})
    assert {table.name: table.positions for table in found.tables} == {"a": {("a", 0): 12}}
