"""After a test of faults nothing of its services stays open, also where it was killed amid them."""

from collections.abc import Iterator

import pytest

from tests.unit.api.filed import close_all


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    """Close what the test has left open."""
    yield
    close_all()
