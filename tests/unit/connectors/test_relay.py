"""Real-time mode without Spark: what a task reads reaches the pool's process whole and in order."""

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from connectors.errors import RegistryUnavailable, Unavailable
from connectors.records import Records
from connectors.source import BLOCK
from connectors.spark.chunks import SCHEMA
from connectors.spark.endpoint import Address, Endpoint, Putter
from connectors.spark.gathering import Gathering
from connectors.spark.handover import Handover
from connectors.spark.relay import Decode, patient, relay
from ivm.cluster.credentials import Certificate
from tests.kafka.java import await_true


class TopicEnds(Exception):
    """Nothing more is read."""


def records(offsets: Sequence[int]) -> Records:
    return Records([b"value"] * len(offsets), offsets, 0)


def chunk(first: int, end: int) -> pa.RecordBatch:
    row = {"key": "t@0", "partition": 0, "first": first, "end": end}
    return pa.RecordBatch.from_pylist([{**row, "updates": b"", "rejected": None}], schema=SCHEMA)


def decode(_: str, records: Records) -> Iterator[pa.RecordBatch]:
    """One chunk, whatever the records hold."""
    yield chunk(records.offsets[0], records.offsets[-1] + 1)


def run(address: Address, blocks: Iterable[Sequence[int]], decode: Decode = decode) -> None:
    """Let a task read these records, a block at a time, and then end."""
    left = iter(blocks)

    def read(_: float) -> list[tuple[str, Records]]:
        for offsets in left:
            return [("t", records(offsets))] if offsets else []
        raise TopicEnds

    with closing(Putter(address)) as putter, pytest.raises(TopicEnds):
        relay(read, patient(decode, putter), putter)


def expect_failure(address: Address, decode: Decode, kind: type[Exception], match: str) -> None:
    """Let a task read records until it fails."""
    with closing(Putter(address)) as putter, pytest.raises(kind, match=match):
        relay(lambda _: [("t", records([0]))], decode, putter)


class Deliveries:
    """Keeps what is delivered; `gate` lets deliveries go on."""

    def __init__(self) -> None:
        self.batches: list[pa.Table] = []
        self.gate = threading.Event()

    def __call__(self, batch: pa.Table) -> None:
        self.batches.append(batch)
        assert self.gate.wait(10)

    def ranges(self) -> list[tuple[int, int]]:
        if not self.batches:
            return []
        table = pa.concat_tables(self.batches)
        firsts, ends = (table[name].to_numpy().tolist() for name in ("first", "end"))
        return list(zip(firsts, ends, strict=True))


@contextmanager
def endpoint(
    deliver: Deliveries,
    hear: Callable[[Unavailable], None] = lambda _: None,
    *,
    encrypted: bool = False,
) -> Iterator[Address]:
    handover = Handover(deliver, lambda: None, room=100)
    handover.start()
    served = Endpoint(Gathering(handover.put).take, hear, encrypted=encrypted)
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
        run(address, [range(3), [], range(3, 4), range(4, 4 + 2 * BLOCK)])
        await_true("all", lambda: deliver.ranges() and deliver.ranges()[-1][1] == 4 + 2 * BLOCK)
    ranges = deliver.ranges()
    assert ranges[0][0] == 0
    assert all(end == first for (_, end), (first, _) in itertools.pairwise(ranges))


def test_what_is_encrypted_arrives_where_the_certificate_is_the_endpoints() -> None:
    deliver = Deliveries()
    deliver.gate.set()
    with endpoint(deliver, encrypted=True) as address:
        for unlike in (None, Certificate.new().public):
            with pytest.raises((flight.FlightError, pa.ArrowException)):
                Putter(replace(address, certificate=unlike)).greet()
        run(address, [range(3)])
        await_true("all", lambda: deliver.ranges() == [(0, 3)])


def test_what_comes_during_a_delivery_is_delivered_together() -> None:
    deliver = Deliveries()
    with endpoint(deliver) as address:
        run(address, [[offset] for offset in range(20)])
        deliver.gate.set()
        await_true("all", lambda: len(deliver.ranges()) == 20)
    assert len(deliver.batches) < 20


def test_a_task_fails_when_its_chunks_are_not_taken() -> None:
    def refuse(_: pa.Table) -> None:
        raise RuntimeError("the pipeline has failed")

    served = Endpoint(Gathering(refuse).take, lambda _: None)
    try:
        expect_failure(served.address, decode, flight.FlightError, "the pipeline has failed")
    finally:
        served.close()


def test_a_record_that_cannot_be_decoded_fails_the_task() -> None:
    def broken(_: str, __: Records) -> Iterator[pa.RecordBatch]:
        raise ValueError("a fault of ours")

    deliver = Deliveries()
    with endpoint(deliver) as address:
        expect_failure(address, broken, ValueError, "a fault of ours")
    assert deliver.ranges() == []


def test_a_record_waits_for_a_registry_that_is_out_of_reach_and_the_pool_hears_of_it() -> None:
    attempts = itertools.count()

    def decode_later(topic: str, records: Records) -> Iterator[pa.RecordBatch]:
        if next(attempts) == 0:
            raise RegistryUnavailable("the registry is down")
        return decode(topic, records)

    deliver = Deliveries()
    deliver.gate.set()
    heard: list[Unavailable] = []
    with endpoint(deliver, heard.append) as address:
        run(address, [[0]], decode_later)
        await_true("the record", lambda: deliver.ranges() == [(0, 1)])
    (error,) = heard
    assert (type(error), str(error)) == (RegistryUnavailable, "the registry is down")


def test_a_task_waits_while_there_is_no_room() -> None:
    deliver = Deliveries()
    handover = Handover(deliver, lambda: None)
    handover.start()
    served = Endpoint(Gathering(handover.put).take, lambda _: None)
    given = itertools.count()

    def blocks() -> Iterator[Sequence[int]]:
        for offset in range(10):
            next(given)
            yield [offset]

    task = threading.Thread(target=run, args=(served.address, blocks()), daemon=True)
    task.start()
    task.join(0.5)
    assert task.is_alive()
    assert next(given) < 5
    deliver.gate.set()
    task.join(30)
    handover.join()
    served.close()
    assert deliver.ranges() == [(offset, offset + 1) for offset in range(10)]


def test_a_task_ends_once_it_is_not_wanted_though_nothing_comes() -> None:
    served = Endpoint(lambda _, __: None, lambda _: None)
    with closing(Putter(served.address)) as putter:
        task = threading.Thread(target=relay, args=(lambda _: [], decode, putter), daemon=True)
        task.start()
        task.join(0.2)
        assert task.is_alive()
        served.finish()
        task.join(10)
        assert not task.is_alive()
    served.close()


def test_nobody_puts_without_the_secret() -> None:
    deliver = Deliveries()
    with endpoint(deliver) as address:
        stranger = Putter(Address(address.location, "guess"))
        with pytest.raises(flight.FlightUnauthenticatedError):
            stranger.put([chunk(0, 1)])
    assert deliver.batches == []


def test_an_address_does_not_show_its_secret() -> None:
    assert "guess" not in repr(Address("grpc://127.0.0.1:1", "guess"))
