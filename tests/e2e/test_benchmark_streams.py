"""Nexmark through Kafka: the service's results are DuckDB's, and take a time."""

import pytest

from benchmarks.streams.queries import QUERIES
from benchmarks.streams.run import measure
from benchmarks.streams.systems import OURS
from tests.kafka.java import NoJars

pytestmark = [pytest.mark.broker, pytest.mark.jvm]

EVENTS = 2_000


def test_the_service_has_the_answer_after_a_time() -> None:
    query = QUERIES[1]
    try:
        (figure,) = measure(EVENTS, [OURS], [query], lambda what, advance: None)
    except NoJars as reason:
        pytest.skip(str(reason))
    assert (figure.system, figure.query, figure.changes) == (OURS.name, query.name, 1_844)
    assert figure.seconds > 0
    assert figure.bytes > 0
    assert figure.messages > 0
