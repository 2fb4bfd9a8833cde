"""Digests of outputs."""

import numpy as np

from benchmarks.digest import Answer


def digest(*rows: tuple[int, int, int]) -> tuple[int, int]:
    answer = Answer()
    first, second, diffs = zip(*rows, strict=True)
    words = np.array(first, np.uint64), np.array(second, np.uint64)
    answer.absorb(words, np.array(diffs, np.int64))
    return answer.rows, answer.sum


def test_the_order_of_rows_does_not_matter() -> None:
    assert digest((1, 2, 1), (3, 4, 2)) == digest((3, 4, 2), (1, 2, 1))


def test_multiplicity_matters() -> None:
    assert digest((1, 2, 2)) == digest((1, 2, 1), (1, 2, 1)) != digest((1, 2, 1))


def test_the_order_of_columns_matters() -> None:
    assert digest((1, 2, 1)) != digest((2, 1, 1))


def test_rows_that_cancel_leave_nothing() -> None:
    assert digest((1, 2, 1), (1, 2, -1)) == (0, 0)
