"""docs/reliability.md: each of the 36 faults of the matrix has tests, which are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
ROWS = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", PAGE.read_text(), re.M)
FAULTS = 36


def test_every_row_is_there_once() -> None:
    assert [int(number) for number, _ in ROWS] == list(range(1, FAULTS + 1))


@pytest.mark.parametrize(("row", "tests"), ROWS)
def test_a_row_has_tests_by_name(row: str, tests: str) -> None:
    named = re.findall(r"\[(\w+)\]\(([^)]+)\)", tests)
    assert named
    for name, path in named:
        module = ast.parse((PAGE.parent / path).read_text())
        there = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
        assert name in there, f"row {row}: {path} has no {name}"


def test_a_test_that_bears_the_number_of_a_row_stands_in_it() -> None:
    named = {name for _, tests in ROWS for name in re.findall(r"\[(\w+)\]", tests)}
    files = {path for _, tests in ROWS for path in re.findall(r"\(\.\./([^)]+)\)", tests)}
    for path in sorted((ROOT / "tests" / "faults").rglob("test_[0-9][0-9]_*.py")):
        assert str(path.relative_to(ROOT)) in files, path
        assert named & set(re.findall(r"^def (test_\w+)", path.read_text(), re.M)), path
