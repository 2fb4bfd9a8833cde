"""Offsets by source, and what they say of the topics that several sources read."""

from connectors.offsets import Offsets, offsets_of

EARLY = Offsets.of_source("customers", "t", {0: 650, 1: 40})
LATE = Offsets.of_source("late", "t", {0: 10})


def test_a_topic_is_reflected_as_far_as_the_source_most_behind() -> None:
    assert EARLY.join(LATE).by_topic() == {"t": {0: 10}}
    assert EARLY.join(LATE).by_source() == {"customers": {0: 650, 1: 40}, "late": {0: 10}}


def test_a_source_that_has_read_nothing_holds_its_topic_back() -> None:
    both = EARLY.join(Offsets.of_source("late", "t", {}))
    assert both.by_topic() == {}
    assert both.by_source()["late"] == {}


def test_a_join_has_the_greater_position_of_each_partition() -> None:
    further = Offsets.of_source("customers", "t", {0: 600, 1: 41, 2: 1})
    assert EARLY.join(further).ends("customers") == {0: 650, 1: 41, 2: 1}


def test_positions_are_covered_by_source_and_partition() -> None:
    both = EARLY.join(LATE)
    assert both.covers(LATE)
    assert not both.covers(Offsets.of_source("late", "t", {0: 11}))
    assert not EARLY.covers(LATE)


def test_what_is_forgotten_of_a_source_is_no_concern_of_its_topic() -> None:
    assert EARLY.join(LATE).without("late") == EARLY


def test_only_declared_sources_are_told() -> None:
    positions = {("customers", 0): 3, ("gone", 0): 9}
    assert offsets_of({"customers": "t"}, positions).by_source() == {"customers": {0: 3}}


def test_records_and_answers_have_both_by_topic_and_by_source() -> None:
    assert EARLY.join(LATE).told() == {
        "offsets": {"t": {"0": 10}},
        "sources": {"customers": {"0": 650, "1": 40}, "late": {"0": 10}},
    }
