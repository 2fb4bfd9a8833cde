"""The service and its broker are killed and frozen amid load; readers see each change once.

Rows 1, 3, 5, 6, 14 and 15 of the matrix, under the load that `IVM_TEST_LOAD` names.
"""

import math
import os
import random
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import httpx
import pytest

from api.demo.service import Service, descendants
from tests.faults.dying import POINTS
from tests.faults.load.system import LOADS, Load, System
from tests.kafka.broker import Broker
from tests.kafka.java import await_true

FROZEN_SECONDS = 20.0


@pytest.fixture
def load() -> Load:
    return LOADS[os.environ.get("IVM_TEST_LOAD", "short")]


@pytest.fixture
def system(tmp_path: Path, broker: Broker, load: Load) -> Iterator[System]:
    made = System(tmp_path, broker, load)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def endless(tmp_path: Path, broker: Broker, load: Load) -> Iterator[System]:
    made = System(tmp_path, broker, replace(load, seconds=math.inf))
    made.start()
    yield made
    made.stop()


def test_01_the_service_is_killed_at_random(system: System) -> None:
    chance = random.Random(1)
    for _ in range(3):
        system.wait(chance.uniform(0.03, 0.15))
        system.service.kill()
        system.service.start()
        system.await_ready()
    expect_all(system)


def test_01_the_service_is_killed_at_the_points_of_its_work(endless: System) -> None:
    names = sorted(POINTS)
    random.Random(endless.load.seed).shuffle(names)
    for point in islice(cycle(names), endless.load.points):
        endless.service.kill()
        endless.service.start("tests.faults.dying", point)
        await_true(point, lambda: not endless.service.is_running)
    endless.service.kill()
    endless.service.start()
    endless.await_ready()
    expect_all(endless)


def test_03_the_service_aborts_in_native_code(system: System) -> None:
    system.wait(0.2)
    os.kill(system.service.pid, signal.SIGABRT)
    while system.service.is_running:
        time.sleep(0.05)
    system.service.start()
    system.await_ready()
    expect_all(system)


def test_05_the_service_is_killed_before_it_is_ready(system: System) -> None:
    chance = random.Random(5)
    system.wait(0.05)
    for _ in range(5):
        system.service.kill()
        system.service.start()
        time.sleep(chance.uniform(0.2, 6.0))
    system.await_ready()
    expect_all(system)


def test_06_a_service_that_was_frozen_and_replaced_is_fenced(system: System) -> None:
    system.wait(0.2)
    frozen = descendants(system.service.pid)
    signal_all(frozen, signal.SIGSTOP)
    zombie = system.go_on_elsewhere()
    try:
        system.await_ready()
        system.wait(0.2)
        signal_all(frozen, signal.SIGCONT)
        await_true("the zombie is told", lambda: "another instance" in readiness(zombie))
        expect_all(system)
    finally:
        zombie.kill()


def signal_all(processes: Iterable[int], number: signal.Signals) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):  # it had ended, and its parent has noticed only now
            os.kill(pid, number)


def readiness(service: Service) -> str:
    """What a service says of itself, whether it is ready or not."""
    return httpx.get(f"{service.url}/readyz", timeout=30).text


def test_14_the_broker_is_killed_again_and_again(system: System) -> None:
    for _ in range(3):
        system.wait(0.05)
        system.broker.kill()
        system.wait(0.05)
        system.broker.start()
    system.await_ready()
    expect_all(system)


def test_15_the_broker_is_frozen(system: System) -> None:
    system.wait(0.05)
    system.broker.pause()
    time.sleep(FROZEN_SECONDS)
    system.broker.resume()
    system.await_ready()
    expect_all(system)


def expect_all(system: System) -> None:
    verdicts = system.judge()
    assert all(verdict.frontiers > 1 for verdict in verdicts.values())
    assert all(verdict.rows for verdict in verdicts.values())
