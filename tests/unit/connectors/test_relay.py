"""Real-time mode without Spark: what a task adds reaches the pool's process whole and in order."""

import itertools
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from connectors.spark.chunks import SCHEMA
from connectors.spark.endpoint import Address, Endpoint, Putter
from connectors.spark.handover import Handover
from connectors.spark.realtime import relay


def record(offset: int) -> pa.RecordBatch:
    return pa.record_batch({"offset": [offset]})


PUSH = pa.record_batch({"offset": pa.array([None], pa.int64())})


def chunk(first: int, end: int) -> pa.RecordBatch:
    row = {"key": "t@0", "partition": 0, "first": first, "end": end}
    return pa.RecordBatch.from_pylist([{**row, "updates": b"", "rejected": None}], schema=SCHEMA)


def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One chunk of each batch, whose records it does not look into."""
    for batch in batches:
        offsets = batch["offset"].to_numpy().tolist()
        yield chunk(offsets[0], offsets[-1] + 1)


def run(address: Address, offsets: Iterable[int]) -> None:
    """Let a task read these records, each pushed on as Spark needs it."""
    read = (batch for offset in offsets for batch in (record(offset), PUSH))
    assert list(relay(decode, address, read)) == []


class Deliveries:
    """Keeps what is delivered; `gate` lets deliveries go on."""

    def __init__(self) -> None:
        self.batches: list[pa.Table] = []
        self.gate = threading.Event()

    def __call__(self, batch: pa.Table) -> None:
        self.batches.append(batch)
        assert self.gate.wait(10)

    def ranges(self) -> list[tuple[int, int]]:
        table = pa.concat_tables(self.batches)
        firsts, ends = (table[name].to_numpy().tolist() for name in ("first", "end"))
        return list(zip(firsts, ends, strict=True))


@contextmanager
def endpoint(deliver: Deliveries) -> Iterator[Address]:
    handover = Handover(deliver, lambda: None, room=100)
    handover.start()
    served = Endpoint(handover.put)
    try:
        yield served.address
        deliver.gate.set()
        handover.join()
    finally:
        served.close()


def test_all_records_of_a_task_arrive_once_and_in_order() -> None:
    deliver = Deliveries()
    deliver.gate.set()
    with endpoint(deliver) as address:
        run(address, range(500))
    ranges = deliver.ranges()
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 500
    assert all(end == first for (_, end), (first, _) in itertools.pairwise(ranges))


def test_what_comes_during_a_delivery_is_delivered_together() -> None:
    deliver = Deliveries()
    with endpoint(deliver) as address:
        for offset in range(20):
            run(address, [offset])
    assert len(deliver.batches) == 2
    assert len(deliver.ranges()) == 20


def test_a_task_fails_when_its_chunks_are_not_taken() -> None:
    def refuse(_: pa.Table) -> None:
        raise RuntimeError("the pipeline has failed")

    served = Endpoint(refuse)
    try:
        with pytest.raises(flight.FlightError, match="the pipeline has failed"):
            run(served.address, [0])
    finally:
        served.close()


def test_a_record_that_cannot_be_decoded_fails_the_task() -> None:
    def broken(_: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise ConnectionError("the registry is down")

    deliver = Deliveries()
    with endpoint(deliver) as address, pytest.raises(ConnectionError, match="registry"):
        relay(broken, address, iter([record(0)]))
    assert deliver.batches == []


def test_nobody_puts_without_the_secret() -> None:
    deliver = Deliveries()
    with endpoint(deliver) as address:
        stranger = Putter(Address(address.location, "guess"))
        with pytest.raises(flight.FlightUnauthenticatedError):
            stranger.put(chunk(0, 1))
    assert deliver.batches == []


def test_an_address_does_not_show_its_secret() -> None:
    assert "guess" not in repr(Address("grpc://127.0.0.1:1", "guess"))
