"""The stack that the tests here share."""

from collections.abc import Iterator

import pytest

from tests.e2e.kafka.stack import Stack
from tests.kafka.client import Kafka
from tests.kafka.java import NoJars
from tests.postgres import NoServer


@pytest.fixture(scope="package")
def stack(kafka: Kafka) -> Iterator[Stack]:
    try:
        with Stack.started(kafka) as started:
            yield started
    except (NoJars, NoServer) as reason:
        pytest.skip(str(reason))
