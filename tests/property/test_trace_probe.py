"""Looking keys up in a batch, by galloping and by probes, against a look-up in a dict."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ivm.trace import shims
from ivm.trace.spine import Trace
from tests.unit.trace.updates import seal

Key = tuple[int, ...]
GREATEST = 2**64 - 1


def keys_of(width: int, most: int) -> st.SearchStrategy[list[Key]]:
    """Different keys, many of them neighbours."""
    word = st.integers(0, 200) | st.integers(GREATEST - 200, GREATEST) | st.integers(0, GREATEST)
    return st.lists(st.tuples(*[word] * width), unique=True, min_size=1, max_size=most).map(sorted)


def holding(keys: Sequence[Key], values_of_each: int) -> Trace:
    """A trace of one layer."""
    trace = Trace(len(keys[0]), 1, 1, ())
    rows = [(*key, value) for key in keys for value in range(values_of_each)]
    seal(trace, [(row, (0,), 1) for row in rows])
    shims.absorb(trace, 0)
    return trace


@pytest.mark.parametrize("width", [1, 2])
@given(data=st.data(), values=st.integers(1, 2))
def test_keys_are_found_where_they_are(width: int, data: st.DataObject, values: int) -> None:
    present = data.draw(keys_of(width, 400))
    some = data.draw(st.lists(st.sampled_from(present), max_size=50))
    wanted = sorted({*some, *data.draw(keys_of(width, 100))})
    expected = [present.index(key) if key in present else -1 for key in wanted]
    assert shims.sought(holding(present, values), holding(wanted, 1)) == (expected, expected)


@given(first=st.integers(0, 500), wanted=st.integers(1, 500))
@example(first=0, wanted=500)
def test_every_key_of_a_run_is_found(first: int, wanted: int) -> None:
    trace = holding([(key,) for key in range(500)], 1)
    keys = range(first, first + wanted)
    expected = [key if key < 500 else -1 for key in keys]
    assert shims.sought(trace, holding([(key,) for key in keys], 1)) == (expected, expected)
