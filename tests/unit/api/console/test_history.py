"""The history keeps an hour of looks, and tells what happened between them."""

import numpy as np
import pytest

from api.console.history import History
from connectors.ingest.meter import Meter


def test_rates_are_those_between_two_looks() -> None:
    meter = Meter()
    history = History(meter)
    history.look(100.0)
    meter.records, meter.deltas["totals"] = 50, 20
    history.look(110.0)
    (stretch,) = history.stretches()
    assert (stretch.moment, stretch.records, stretch.deltas) == (110.0, 5.0, 2.0)


def test_quantiles_are_of_what_came_between_two_looks() -> None:
    meter = Meter()
    history = History(meter)
    meter.latency_seconds.observe(np.full(1000, 9.0))
    history.look(100.0)
    meter.latency_seconds.observe(np.array([0.010] * 99 + [0.100]))
    history.look(110.0)
    (stretch,) = history.stretches()
    assert stretch.latency_median == pytest.approx(0.010, rel=0.11)
    assert stretch.latency_p99 == pytest.approx(0.010, rel=0.11)


def test_a_quantile_of_nothing_is_none() -> None:
    history = History(Meter())
    history.look(100.0)
    history.look(110.0)
    (stretch,) = history.stretches()
    assert (stretch.latency_median, stretch.batch_p99) == (None, None)


def test_only_the_newest_looks_are_kept() -> None:
    history = History(Meter(), kept=3)
    for moment in range(10):
        history.look(float(moment))
    assert [stretch.moment for stretch in history.stretches()] == [7.0, 8.0, 9.0]
