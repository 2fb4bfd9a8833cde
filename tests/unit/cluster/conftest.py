"""Each kind of connection that a cluster has: plain, and encrypted."""

import pytest

from ivm.cluster.credentials import Credentials


@pytest.fixture(params=["plain", "encrypted"], scope="module")
def encrypted(request: pytest.FixtureRequest) -> bool:
    """Whether a cluster's connections are encrypted."""
    return bool(request.param == "encrypted")


@pytest.fixture
def known(encrypted: bool) -> Credentials:
    """The credentials of a cluster."""
    return Credentials.new(encrypted=encrypted)
