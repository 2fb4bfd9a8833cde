"""The locks of a pool: who excludes whom, and what is left once a step has failed."""

from contextlib import AbstractContextManager
from threading import Event, Thread

import pytest

from ivm.errors import PoolFailed
from ivm.threads.locks import Both, Gate, Lock

PATIENCE = 10.0
FAILED = "a step did not complete"


def _entered(lock: AbstractContextManager[None]) -> tuple[Thread, Event]:
    """A thread that waits for `lock`, and what it sets once it has it."""
    inside = Event()

    def enter() -> None:
        with lock:
            inside.set()

    thread = Thread(target=enter, daemon=True)
    thread.start()
    return thread, inside


def _locks() -> dict[str, AbstractContextManager[None]]:
    return {"lock": Lock(), "gate": Gate(), "both": Both(Lock(), Gate())}


@pytest.mark.parametrize("name", _locks())
def test_another_thread_enters_once_the_first_has_left(name: str) -> None:
    lock = _locks()[name]
    with lock:
        thread, inside = _entered(lock)
        assert not inside.wait(0.05)  # which also shows that whoever waits lets others run
    assert inside.wait(PATIENCE)
    thread.join(PATIENCE)


@pytest.mark.parametrize("name", _locks())
def test_a_thread_may_enter_again(name: str) -> None:
    lock = _locks()[name]
    with lock, lock:
        _, inside = _entered(lock)
    assert inside.wait(PATIENCE)


@pytest.mark.parametrize("name", _locks())
def test_an_error_within_leaves_it_free(name: str) -> None:
    lock = _locks()[name]
    with pytest.raises(ValueError, match="within"), lock:
        raise ValueError("within")
    _, inside = _entered(lock)
    assert inside.wait(PATIENCE)


def test_nobody_passes_a_gate_that_failed_and_nobody_is_kept_waiting() -> None:
    gate = Gate()
    gate.failure = FAILED
    with pytest.raises(PoolFailed, match=FAILED), gate:
        pass
    gate.failure = ""
    _, inside = _entered(gate)
    assert inside.wait(PATIENCE)


def test_what_is_not_free_is_not_waited_for() -> None:
    gate, tried = Gate(), []
    with gate:
        thread = Thread(target=lambda: tried.append(gate.try_enter()))
        thread.start()
        thread.join(PATIENCE)
    assert tried == [False]
    assert gate.try_enter()
    gate.leave()
    _, inside = _entered(gate)
    assert inside.wait(PATIENCE)


def test_a_gate_that_has_failed_is_not_entered_without_waiting_either() -> None:
    gate = Gate()
    gate.failure = FAILED
    assert not gate.try_enter()
    gate.failure = ""
    _, inside = _entered(gate)
    assert inside.wait(PATIENCE)


def test_both_locks_are_free_again_where_the_gate_has_failed() -> None:
    lock, gate = Lock(), Gate()
    gate.failure = FAILED
    with pytest.raises(PoolFailed, match=FAILED), Both(lock, gate):
        pass
    gate.failure = ""
    for each in (lock, gate):
        _, inside = _entered(each)
        assert inside.wait(PATIENCE)


def test_both_exclude_those_who_take_either() -> None:
    lock, gate = Lock(), Gate()
    with Both(lock, gate):
        waiting = [_entered(lock), _entered(gate)]
        assert not any(inside.wait(0.05) for _, inside in waiting)
    assert all(inside.wait(PATIENCE) for _, inside in waiting)
