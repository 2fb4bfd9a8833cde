"""A page says what the machine gave while it was measured."""

from benchmarks.bounds import Machine, together


def test_what_threads_did_together_is_told_by_its_median_and_its_range() -> None:
    text = str(Machine("a processor", 2, None, None, (1.0, 1.9, 2.0)))
    assert "1.90 times" in text
    assert "from 1.00 to 2.00" in text


def test_one_worker_needs_no_word_about_threads() -> None:
    assert str(Machine("a processor", 2, None, None, ())) == "a processor, 2 cores"


def test_threads_together_do_some_arithmetic() -> None:
    assert together(2) > 0
