"""A page says what the machine gave while it was measured."""

from benchmarks.bounds import Machine, at_once


def test_what_processes_did_at_once_is_told_by_its_median_and_its_range() -> None:
    text = str(Machine("a processor", 2, None, None, (1.0, 1.9, 2.0)))
    assert "loaded 1.90 (1.00 to 2.00) times the rows of one" in text


def test_one_worker_needs_no_word_about_processes() -> None:
    assert str(Machine("a processor", 2, None, None, ())) == "a processor, 2 cores"


def test_processes_at_once_do_about_as_much_as_one_or_more() -> None:
    assert at_once(2) > 0.5
