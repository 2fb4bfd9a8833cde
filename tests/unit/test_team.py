"""The team of threads: who does the parts of what is shared, and how an error gets out."""

import subprocess
import sys
import time
from collections import Counter
from threading import Barrier, Event, Semaphore, Thread, get_ident

import pytest

from ivm.rows.shims import Chore, share_work

PATIENCE = 10.0
MORE_THAN_HELPERS = 20
"""Parts of which each thread gets one, however many helpers the tests before have left awake."""
IN_A_CHILD = """
import os, threading
from ivm.rows.shims import share_work

def share_some(times):
    together = threading.Barrier(2)
    for _ in range(times):
        share_work(lambda part: together.wait(10), 2, 2)

share_some(3)
child = os.fork()
share_some(5)
if child == 0:
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
AT_THE_END = """
from ivm.rows.shims import share_work
share_work(id, 1000, 4)
"""


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("parts", [0, 1, 2, 7, 1_000, 70_000])
def test_each_part_is_done_once(parts: int, threads: int) -> None:
    done = Counter[int]()
    share_work(lambda part: done.update([part]), parts, threads)
    assert done == Counter(range(parts))


@pytest.mark.parametrize("threads", [2, 3])
def test_helpers_do_parts_beside_the_caller(threads: int) -> None:
    together = Barrier(threads)
    share_work(lambda part: together.wait(PATIENCE), threads, threads)


def test_helpers_that_sleep_are_woken() -> None:
    together = Barrier(2)
    for _ in range(3):
        share_work(lambda part: together.wait(PATIENCE), 2, 2)
        time.sleep(0.02)  # ten times as long as a helper waits before it sleeps


def test_the_caller_waits_for_parts_that_helpers_have_begun() -> None:
    together = Barrier(2)
    ended: list[int] = []

    def do(part: int) -> None:
        together.wait(PATIENCE)
        if get_ident() != caller:
            time.sleep(0.05)
        ended.append(part)

    caller = get_ident()
    share_work(do, 2, 2)
    assert sorted(ended) == [0, 1]


@pytest.mark.parametrize("by_caller", [True, False])
def test_an_error_is_raised_where_the_work_was_shared(by_caller: bool) -> None:
    has_failed = Event()

    def do(part: int) -> None:
        if (get_ident() == caller) == by_caller:
            has_failed.set()
            raise LookupError("a part failed")
        assert has_failed.wait(PATIENCE)

    caller = get_ident()
    with pytest.raises(LookupError, match="a part failed"):
        share_work(do, MORE_THAN_HELPERS, 2)
    together = Barrier(2)
    share_work(lambda part: together.wait(PATIENCE), 2, 2)  # which leaves nothing behind


def test_of_several_errors_one_is_raised() -> None:
    together = Barrier(2)

    def do(part: int) -> None:
        together.wait(PATIENCE)
        raise LookupError(part)

    with pytest.raises(LookupError):
        share_work(do, 2, 2)


def test_what_a_part_shares_is_done_by_the_thread_that_does_the_part() -> None:
    together = Barrier(2)
    inner: list[tuple[int, int]] = []

    def do(part: int) -> None:
        together.wait(PATIENCE)
        by = get_ident()
        share_work(lambda _: inner.append((by, get_ident())), 3, 2)

    share_work(do, 2, 2)
    assert len(inner) == 6
    assert all(outer == by for outer, by in inner)


def test_a_caller_does_all_while_another_has_the_helpers() -> None:
    begun, over = Event(), Event()

    def do(part: int) -> None:
        begun.set()
        assert over.wait(PATIENCE)

    other = Thread(target=share_work, args=(do, 2, 2))
    other.start()
    assert begun.wait(PATIENCE)
    by = []
    share_work(lambda part: by.append(get_ident()), 5, 2)
    assert by == [get_ident()] * 5
    over.set()
    other.join(PATIENCE)


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("parts", [1, 2, 7, 1_000])
def test_each_part_of_a_chore_is_done_once(parts: int, threads: int) -> None:
    done = Counter[int]()
    Chore(lambda part: done.update([part]), parts, threads).end()
    assert done == Counter(range(parts))


def test_helpers_do_a_chore_while_its_caller_goes_on() -> None:
    together = Barrier(2)
    chore = Chore(lambda part: together.wait(PATIENCE), 1, 2)
    together.wait(PATIENCE)
    chore.end()


def test_the_caller_does_what_helpers_have_not_begun() -> None:
    over, by = Event(), list[int]()
    kept_busy = Chore(lambda part: over.wait(PATIENCE), 8, 5)  # all that were ever hired here
    chore = Chore(lambda part: by.append(get_ident()), 3, 2)
    chore.end()
    assert by == [get_ident()] * 3
    over.set()
    kept_busy.end()


def test_the_end_of_a_chore_waits_for_what_helpers_have_begun() -> None:
    begun, over, ended = Event(), Event(), list[int]()

    def do(part: int) -> None:
        begun.set()
        over.wait(PATIENCE)
        ended.append(part)

    chore = Chore(do, 1, 2)
    assert begun.wait(PATIENCE)
    waiting = Thread(target=chore.end)
    waiting.start()
    assert not ended
    over.set()
    waiting.join(PATIENCE)
    assert ended == [0]


def test_work_is_shared_while_helpers_do_chores() -> None:
    begun, over, done = Event(), Event(), list[int]()

    def do(part: int) -> None:
        begun.set()
        over.wait(PATIENCE)

    chore = Chore(do, 1, 2)
    assert begun.wait(PATIENCE)
    share_work(done.append, 5, 2)
    assert sorted(done) == [0, 1, 2, 3, 4]
    over.set()
    chore.end()


def test_a_helper_is_woken_for_a_chore_while_others_are_at_work() -> None:
    begun, over, chores = Semaphore(0), Event(), []

    def do(part: int) -> None:
        begun.release()
        over.wait(PATIENCE)

    for _ in range(4):  # each of which another helper does
        time.sleep(0.02)  # ten times as long as a helper waits before it sleeps
        chores.append(Chore(do, 1, 5))
        assert begun.acquire(timeout=PATIENCE)
    over.set()
    for chore in chores:
        chore.end()


def test_chores_that_end_in_another_order_are_all_done() -> None:
    done = Counter[int]()
    chores = [Chore(lambda part: done.update([part]), 5, 3) for _ in range(20)]
    for chore in reversed(chores):
        chore.end()
    assert done == Counter(dict.fromkeys(range(5), 20))


def test_a_forked_child_has_helpers_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", IN_A_CHILD], check=True, timeout=PATIENCE)


def test_a_process_may_end_while_helpers_begin() -> None:
    for _ in range(10):
        subprocess.run([sys.executable, "-c", AT_THE_END], check=True, timeout=PATIENCE)
