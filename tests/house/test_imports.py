"""Imports run one way, in Cython as in Python.

import-linter (see `make check`) holds the Python files to the same rule, through chains of
imports; it cannot read `.pyx`, `.pxd` and `.pyi`, so these are read here line by line.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = {
    "ivm": {"ivm"},
    "views": {"views", "ivm"},
    "connectors": {"connectors", "ivm"},
    "api": {"api", "views", "connectors", "ivm"},
}
IMPORT = re.compile(r"^\s*(?:from\s+(?P<origin>[\w.]+)\s+)?c?import\s+(?P<names>[^#\n]*)", re.M)
FILES = sorted(
    path.relative_to(ROOT)
    for room in ALLOWED
    for path in (ROOT / room).rglob("*.p*")
    if path.suffix in {".py", ".pyi", ".pyx", ".pxd"}
)


def rooms_imported(text: str) -> set[str]:
    """The rooms that a source text names in an import or cimport statement."""
    modules: list[str] = []
    for match in IMPORT.finditer(text):
        modules += [match["origin"]] if match["origin"] else match["names"].split(",")
    return {module.strip().split(".")[0].split(" ")[0] for module in modules} & set(ALLOWED)


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_imports_only_the_rooms_below_its_own(path: Path) -> None:
    assert rooms_imported((ROOT / path).read_text()) <= ALLOWED[path.parts[0]]


@pytest.mark.parametrize(
    "text",
    [
        "import numpy, views.catalog as catalog",
        "from views.catalog import Catalog",
        "    from views cimport catalog",
        "cimport views.catalog",
        "from views.catalog import (\n    Catalog,\n)",
    ],
)
def test_every_form_of_import_is_seen(text: str) -> None:
    assert rooms_imported(text) == {"views"}
