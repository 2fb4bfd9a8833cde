"""A page says what the machine gave while it was measured."""

from benchmarks.bounds import Machine, Together, together


def test_what_threads_did_together_is_told_by_its_median_and_its_range() -> None:
    measured = Together(1.0, 1.1), Together(1.9, 1.3), Together(2.0, 1.2)
    text = str(Machine("a processor", 2, None, None, measured))
    assert "1.90 (1.00 to 2.00) times the arithmetic" in text
    assert "1.20 (1.10 to 1.30) times as much memory" in text


def test_one_worker_needs_no_word_about_threads() -> None:
    assert str(Machine("a processor", 2, None, None, ())) == "a processor, 2 cores"


def test_threads_together_do_some_arithmetic_and_copy_some_memory() -> None:
    measured = together(2)
    assert measured.arithmetic > 0
    assert measured.copying > 0
