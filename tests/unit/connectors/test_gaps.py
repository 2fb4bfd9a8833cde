"""Behind the last record of a topic there may be offsets without any: they are found, and once."""

from collections.abc import Mapping

import pytest

from connectors.errors import BrokerFault, RecordsLost
from connectors.kafka.gaps import Gaps
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import SCHEMA

AT = "t", 0


def table(name: str) -> TableSpec:
    return TableSpec(name, "t", SCHEMA, ("id",), connector="kafka", connection="main")


class Topic:
    """A partition with these records and this end."""

    def __init__(self, *offsets: int, end: int) -> None:
        self.offsets, self.end = offsets, end
        self.looks: list[tuple[str, int, int]] = []
        self.fault: Exception | None = None
        self.gaps = Gaps(self._last_record)

    def _last_record(self, spec: TableSpec, partition: int, first: int, end: int) -> int:
        self.looks.append((spec.name, first, end))
        if self.fault is not None:
            raise self.fault
        return max((o + 1 for o in self.offsets if first <= o < end), default=first)

    def look(self, times: int = 2, **positions: int) -> Mapping[tuple[str, int], tuple[int, int]]:
        """Look so many times with sources at these positions."""
        reached = {(name, 0): position for name, position in positions.items()}
        for _ in range(times):
            self.gaps.look([table(name) for name in positions], {AT: self.end}, reached)
        return self.gaps.found


def test_a_gap_begins_behind_the_last_record_and_reaches_to_the_end() -> None:
    assert Topic(0, 4, end=7).look(a=5) == {AT: (5, 7)}
    assert Topic(0, 4, end=7).look(a=1) == {AT: (5, 7)}
    assert Topic(end=3).look(a=0) == {AT: (0, 3)}


def test_a_record_at_the_end_leaves_no_gap() -> None:
    assert Topic(0, 6, end=7).look(a=1) == {}
    assert Topic(0, 6, end=7).look(a=7) == {}


def test_only_what_stays_as_it_is_is_looked_at_and_that_once() -> None:
    topic = Topic(0, end=3)
    assert topic.look(1, a=1) == {}
    topic.end = 4
    assert topic.look(1, a=1) == {}
    assert topic.looks == []
    topic.look(5, a=1)
    assert topic.looks == [("a", 1, 4)]


def test_records_that_a_source_does_not_get_to_are_looked_at_once() -> None:
    topic = Topic(0, 1, 6, end=7)
    topic.look(5, a=1)
    assert topic.looks == [("a", 1, 7)]


def test_sources_of_one_topic_agree_on_its_gap() -> None:
    topic = Topic(0, 4, end=9)
    assert topic.look(late=7) == {AT: (7, 9)}
    assert topic.look(late=7, a=5) == {AT: (5, 9)}
    assert topic.look(late=7, a=5, b=2) == {AT: (5, 9)}


def test_a_gap_goes_with_its_topic() -> None:
    topic = Topic(0, end=9)
    assert topic.look(a=1) == {AT: (1, 9)}
    topic.end = 2
    assert topic.look(1, a=1) == {}


@pytest.mark.parametrize("fault", [BrokerFault("away"), RecordsLost("gone")])
def test_what_cannot_be_looked_at_now_is_looked_at_later(fault: Exception) -> None:
    topic = Topic(0, end=3)
    topic.fault = fault
    assert topic.look(a=1) == {}
    topic.fault = None
    assert topic.look(1, a=1) == {AT: (1, 3)}
