"""The docstring of every package is the map of its room: a line for each file and room in it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(
    path.parent.relative_to(ROOT)
    for package in ("api", "connectors", "ivm", "ivm_client", "views")
    for path in (ROOT / package).rglob("__init__.py")
)
LINE = re.compile(r"^- `(?P<name>\w+/?)`: (?P<says>.+)$", re.MULTILINE)


def contents(room: Path) -> set[str]:
    """The names of a room's modules, and of the rooms in it with a slash."""
    modules = {path.stem for path in room.iterdir() if path.suffix in {".py", ".pyx", ".pxd"}}
    rooms = {f"{path.parent.name}/" for path in room.glob("*/__init__.py")}
    return (modules | rooms) - {"__init__", "__main__"}


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_a_room_lists_what_is_in_it(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text())) or ""
    assert {line["name"] for line in LINE.finditer(docstring)} == contents(ROOT / package)


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_no_path_says_a_name_twice(package: Path) -> None:
    assert f"{package.name}/" not in contents(ROOT / package)
    assert package.name not in contents(ROOT / package)
