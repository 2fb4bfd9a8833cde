"""A mirror shows the layers of a trace as they are."""

import numpy as np

from ivm.runtime.mirror import Mirror
from ivm.trace import shims
from ivm.trace.spine import Trace

ROWS = (4_000, 2_500, 1_500, 800)


def layered() -> Trace:
    """A trace of several layers, the later ones smaller, that a further batch would merge."""
    trace = Trace(1, 1, 1, ())
    for time, rows in enumerate(ROWS):
        array = np.zeros((rows, 4), np.uint64)
        array[:, 0] = np.arange(rows) * len(ROWS) + time
        array[:, 2], array[:, 3] = time, 1
        shims.seal(trace, array, 0)
    return trace


def test_a_mirror_costs_references_however_many_layers_there_are() -> None:
    trace = layered()
    assert len(shims.layers(trace)) > 1
    before = shims.held(trace)
    mirror = Mirror(trace)
    shown = shims.layers(mirror.own)
    assert len(shown) == len(shims.layers(trace))
    for ours, theirs in zip(shown, shims.layers(trace), strict=True):
        assert np.array_equal(ours, theirs)
    assert shims.held(trace) == before
    assert shims.held(mirror.own) == before


def test_a_mirror_goes_on_from_what_it_shows() -> None:
    trace = layered()
    mirror = Mirror(trace)
    time = len(ROWS)
    row = np.array([[7, 7, time, 1]], np.uint64)
    shims.seal(trace, row, 0)
    assert mirror.take_over() == 1
    mirror.pass_on(time + 1)
    shims.absorb(mirror.own, 0)
    shims.absorb(trace, 0)
    assert shims.as_of(mirror.own, (time,)) == shims.as_of(trace, (time,))
