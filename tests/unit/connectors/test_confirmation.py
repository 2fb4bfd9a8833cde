"""What waits for a check of the topics, and what does not."""

import threading
from dataclasses import dataclass

import pytest

from connectors.errors import TopicRecreated
from connectors.kafka import confirmation
from connectors.kafka.confirmation import Confirmation


@dataclass
class Clock:
    """Stands still but for the test."""

    now: float = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(confirmation, "time", made)
    return made


class Checks:
    """Counts checks; `gate` lets them end."""

    def __init__(self) -> None:
        self.count = 0
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None

    def __call__(self) -> None:
        self.count += 1
        assert self.gate.wait(10)
        if self.error is not None:
            raise self.error


def test_the_first_records_wait_for_a_check(clock: Clock) -> None:
    checks = Checks()
    Confirmation(checks).confirm()
    assert checks.count == 1


def test_records_right_after_a_check_need_no_other(clock: Clock) -> None:
    checks = Checks()
    confirmed = Confirmation(checks)
    confirmed.confirm()
    clock.now += 0.1
    confirmed.confirm()
    assert checks.count == 1


def test_records_soon_after_a_check_do_not_wait_for_the_next(clock: Clock) -> None:
    checks = Checks()
    confirmed = Confirmation(checks)
    confirmed.confirm()
    checks.gate.clear()
    clock.now += 0.2
    confirmed.confirm()
    checks.gate.set()


def test_records_long_after_a_check_wait_for_another(clock: Clock) -> None:
    checks = Checks()
    confirmed = Confirmation(checks)
    confirmed.confirm()
    clock.now += 60
    checks.error = TopicRecreated("topic 't' was deleted and created again")
    with pytest.raises(TopicRecreated):
        confirmed.confirm()


def test_a_check_that_failed_is_no_check(clock: Clock) -> None:
    checks = Checks()
    checks.error = TopicRecreated("topic 't' was deleted and created again")
    confirmed = Confirmation(checks)
    for _ in range(2):
        with pytest.raises(TopicRecreated):
            confirmed.confirm()
    assert checks.count == 2
