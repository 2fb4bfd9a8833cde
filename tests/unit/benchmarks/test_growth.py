"""Growth: sizes that fit memory, exponents, and the page that tells them."""

from pathlib import Path

import pytest

from benchmarks import growth
from benchmarks.bounds import Machine
from benchmarks.growth import GIB, GROWING, Cost, Growth
from benchmarks.sides import OURS

MACHINE = Machine("a processor", 2, None, None, ())


def test_the_largest_size_takes_the_memory_and_others_a_quarter_of_the_next() -> None:
    for growing in GROWING.values():
        sizes = growing.sizes(2)
        assert sizes[-1] == 2 * GIB // growing.row_bytes
        assert [size // growth.FACTOR for size in sizes[1:]] == sizes[:-1]


@pytest.mark.parametrize(("values", "exponent"), [((1, 4, 16, 64), 1), ((1, 16, 256, 4096), 2)])
def test_an_exponent_is_the_slope_of_the_logarithms(
    values: tuple[float, ...], exponent: float
) -> None:
    cost = Cost("load", "s", "ivm", values)
    assert cost.exponent((100, 400, 1600, 6400)) == pytest.approx(exponent)


def test_a_constant_cost_has_the_exponent_zero() -> None:
    cost = Cost("one edge", "s", "ivm", (2e-6,) * 4)
    assert cost.exponent((100, 400, 1600, 6400)) == pytest.approx(0)


def test_a_workload_is_measured_at_each_size_and_told_on_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "SIZES", 2)
    heard: list[str] = []
    grown = growth.grow("bfs", {OURS: OURS.prepare()}, 0.004, tmp_path, heard.append)
    assert len(heard) == 3
    assert [cost.name for cost in grown.costs] == ["load", "one edge", "1000 edges", "memory"]
    growth.draw([grown], tmp_path / "growth.svg")
    written = growth.page([grown], MACHINE, 0.004, "growth.svg")
    assert f"| bfs | side | {grown.rows[0]:,} rows |" in written
    assert "| memory | ivm |" in written
    assert "bfs" in (tmp_path / "growth.svg").read_text()


def test_the_page_shows_both_sides_of_a_cost() -> None:
    costs = (Cost("load", "s", "ivm", (1, 2, 4, 8)), Cost("load", "s", "peer", (1e-3,) * 4))
    written = growth.page([Growth("bfs", (1, 2, 4, 8), costs)], MACHINE, 4, "growth.svg")
    assert "| load | ivm | 1 s | 2 s | 4 s | 8 s | 1.00 |" in written
    assert "| load | peer | 1 ms | 1 ms | 1 ms | 1 ms | 0.00 |" in written
