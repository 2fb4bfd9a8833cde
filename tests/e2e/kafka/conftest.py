"""The stack that the tests here share."""

from collections.abc import Iterator

import pytest

from tests.e2e.kafka.stack import Stack
from tests.kafka.broker import Broker
from tests.kafka.java import NoJars
from tests.postgres import NoServer


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    directory = tmp_path_factory.mktemp("broker")
    try:
        with Broker.started(directory) as broker, Stack.started(broker) as started:
            yield started
    except (NoJars, NoServer) as reason:
        pytest.skip(str(reason))
