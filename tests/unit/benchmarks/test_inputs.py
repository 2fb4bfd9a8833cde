"""Generated inputs and their files."""

from pathlib import Path

import numpy as np

from benchmarks.inputs import interleaved, read, sliding, write


def test_a_file_gives_back_its_sections(tmp_path: Path) -> None:
    sections = [np.array([[1, 2], [3, 2**32 - 1]], np.uint32), np.zeros((0, 2), np.uint32)]
    write(tmp_path / "in.bin", sections)
    again = read(tmp_path / "in.bin")
    assert [s.tolist() for s in again] == [[[1, 2], [3, 2**32 - 1]], []]


def test_generating_twice_gives_the_same() -> None:
    first, second = (sliding(10, 20, 30, 5) for _ in range(2))
    assert [s.tolist() for s in first] == [s.tolist() for s in second]


def test_a_window_slides_from_the_oldest_row_on() -> None:
    initial, removed, inserted = sliding(1000, 1000, 30, 5)
    assert removed.tolist() == initial[:5].tolist()
    assert inserted.shape == (5, 2)


def test_a_window_that_slides_beyond_its_size_removes_what_it_inserted() -> None:
    _, removed, inserted = sliding(1000, 1000, 3, 10)
    assert removed[3:].tolist() == inserted[:7].tolist()


def test_rows_removed_and_inserted_take_turns() -> None:
    removed, inserted = (np.array([[n, n]], np.uint32) for n in (1, 2))
    rows, diffs = interleaved(removed, inserted)
    assert (rows.tolist(), diffs.tolist()) == ([[1, 1], [2, 2]], [-1, 1])
