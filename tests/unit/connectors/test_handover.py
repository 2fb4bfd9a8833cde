"""Batches are applied in order on one thread, and none after one that failed."""

import threading
import time

import pyarrow as pa
import pytest

from connectors.spark.handover import Handover


def batch(number: int) -> pa.Table:
    return pa.table({"n": [number]})


def test_batches_are_passed_on_in_order() -> None:
    got: list[int] = []
    handover = Handover(lambda b: got.extend(b["n"].to_numpy().tolist()), lambda: None, room=3)
    handover.start()
    for number in range(20):
        handover.put(batch(number))
    handover.join()
    assert got == list(range(20))


def test_one_batch_waits_while_another_is_applied() -> None:
    at_work, go_on = threading.Event(), threading.Event()

    def deliver(_: pa.Table) -> None:
        at_work.set()
        assert go_on.wait(10)

    handover = Handover(deliver, lambda: None)
    handover.start()
    handover.put(batch(0))
    assert at_work.wait(10)
    handover.put(batch(1))
    go_on.set()
    handover.join()


def test_nothing_is_passed_on_after_a_failure() -> None:
    got: list[int] = []
    failures: list[bool] = []

    def deliver(b: pa.Table) -> None:
        got.append(b["n"][0].as_py())
        if len(got) == 2:
            raise RuntimeError("broken")

    handover = Handover(deliver, lambda: failures.append(True))
    handover.start()
    for number in range(5):
        handover.put(batch(number))
    handover.join()
    assert got == [0, 1]
    assert failures == [True]


def test_nothing_is_taken_after_the_end_and_nobody_waits_for_room() -> None:
    handover = Handover(lambda _: None, lambda: None)
    handover.start()
    handover.join()
    for number in range(2):
        with pytest.raises(RuntimeError, match="ended"):
            handover.put(batch(number))


def test_what_costs_much_is_passed_on_in_fewer_pieces() -> None:
    sizes: list[int] = []

    def deliver(b: pa.Table) -> None:
        sizes.append(len(b))
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass

    handover = Handover(deliver, lambda: None, room=1_000)
    handover.start()
    began = time.monotonic()
    for number in range(80):
        handover.put(batch(number))
        time.sleep(0.005)
    handover.join()
    assert sum(sizes) == 80
    assert len(sizes) <= 2 + (time.monotonic() - began) / 0.1


def test_nothing_waits_behind_many_bytes() -> None:
    at_work, go_on = threading.Event(), threading.Event()
    sizes: list[int] = []

    def deliver(b: pa.Table) -> None:
        sizes.append(len(b))
        at_work.set()
        assert go_on.wait(10)

    handover = Handover(deliver, lambda: None, room=100, room_bytes=2 * batch(0).nbytes)
    handover.start()
    handover.put(batch(0))
    assert at_work.wait(10)
    for number in range(2):
        handover.put(batch(number))
    late = threading.Thread(target=handover.put, args=(batch(2),))
    late.start()
    late.join(0.1)
    assert late.is_alive()
    go_on.set()
    late.join(10)
    handover.join()
    assert sum(sizes) == 4
    assert sizes[:2] == [1, 2]
