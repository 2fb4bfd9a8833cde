"""The first sentence of a docstring names its thing and says in few words what that does."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("views",)
MODULES = sorted(p.relative_to(ROOT) for name in PACKAGES for p in (ROOT / name).rglob("*.py"))
MOST_WORDS = 25
QUESTIONS = ("What", "Whatever", "Which", "Who", "Whoever", "How", "Where")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def first_sentence(docstring: str) -> str:
    """The text up to the first period before a space, within the first paragraph."""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=\.) ", paragraph)[0]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_first_sentence_is_short_and_begins_with_no_question(module: Path) -> None:
    nodes = [
        n for n in ast.walk(ast.parse((ROOT / module).read_text())) if isinstance(n, DOCUMENTED)
    ]
    sentences = [first_sentence(text) for n in nodes if (text := ast.get_docstring(n))]
    assert not [s for s in sentences if len(s.split()) > MOST_WORDS]
    assert not [s for s in sentences if s.split()[0] in QUESTIONS]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_line_of_a_map_is_cut_off(package: str) -> None:
    maps = (ROOT / package).rglob("__init__.py")
    lines = [line for path in maps for line in path.read_text().splitlines()]
    assert not [line for line in lines if line.startswith("- `") and line.endswith("…")]
