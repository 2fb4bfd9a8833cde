"""Batches are applied in order on one thread, and none after one that failed."""

import threading

import pyarrow as pa

from connectors.spark.handover import Handover


def batch(number: int) -> pa.Table:
    return pa.table({"n": [number]})


def test_batches_are_passed_on_in_order() -> None:
    got: list[int] = []
    handover = Handover(lambda b: got.append(b["n"][0].as_py()), lambda: None)
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
