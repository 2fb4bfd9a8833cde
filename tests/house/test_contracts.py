"""Connectors, envelopes and formats are asked by their contracts, not known by their names."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Files that may compare names: the output's envelopes and formats are others, and the table of the
# boundaries of transactions is told from a user's by its envelope.
ELSEWHERE = ("connectors/sinks/", "connectors/progress/resolution.py")
FILES = sorted(
    path
    for room in ("connectors", "api")
    for path in (ROOT / room).rglob("*.py")
    if not str(path.relative_to(ROOT)).startswith(ELSEWHERE)
)


def compared(source: str) -> Iterator[str]:
    """Comparisons of a part's name with constants."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute):
            constants = [n for right in node.comparators for n in ast.walk(right)
                         if isinstance(n, ast.Constant) and isinstance(n.value, str)]  # fmt: skip
            if node.left.attr in ("connector", "envelope", "format") and constants:
                yield f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("source", ['spec.format == "json"', 'table.envelope in ("a", "b")'])
def test_a_comparison_with_a_name_is_found(source: str) -> None:
    assert len(list(compared(source))) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_part_is_known_by_its_name(path: Path) -> None:
    assert list(compared(path.read_text())) == []
