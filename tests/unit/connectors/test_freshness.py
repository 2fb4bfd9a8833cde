"""A partition is behind since the first end that its source has yet to reach was seen."""

from connectors.ingest.freshness import MOST, Freshness

PLACE = ("orders", 0)


def test_a_source_that_has_all_is_not_behind() -> None:
    fresh = Freshness()
    assert fresh.note(PLACE, end=5, position=5, now=1.0) == 0.0
    assert fresh.note(PLACE, end=9, position=9, now=2.0) == 0.0


def test_a_source_that_stands_still_falls_behind_with_the_clock() -> None:
    fresh = Freshness()
    fresh.note(PLACE, end=6, position=5, now=1.0)
    assert [fresh.note(PLACE, end=6, position=5, now=now) for now in (4.0, 9.0)] == [3.0, 8.0]


def test_a_source_that_gets_on_is_behind_as_its_oldest_missing_record_is() -> None:
    fresh = Freshness()
    for now in range(10):
        fresh.note(PLACE, end=10 * (now + 1), position=0, now=float(now))
    assert fresh.note(PLACE, end=100, position=55, now=10.0) == 5.0
    assert fresh.note(PLACE, end=100, position=100, now=11.0) == 0.0


def test_a_topic_that_begins_anew_forgets_the_ends_of_the_old_one() -> None:
    fresh = Freshness()
    fresh.note(PLACE, end=100, position=0, now=0.0)
    assert fresh.note(PLACE, end=3, position=0, now=5.0) == 0.0


def test_however_long_it_stands_still_few_ends_are_kept_and_the_oldest_counts() -> None:
    fresh = Freshness()
    for now in range(5 * MOST):
        fresh.note(PLACE, end=now + 1, position=0, now=float(now))
    assert len(fresh._ahead[PLACE]) <= MOST
    assert fresh.note(PLACE, end=5 * MOST, position=0, now=1e6) == 1e6


def test_partitions_that_are_gone_are_forgotten() -> None:
    fresh = Freshness()
    fresh.note(PLACE, end=6, position=5, now=1.0)
    fresh.keep([])
    assert fresh.note(PLACE, end=6, position=5, now=9.0) == 0.0
