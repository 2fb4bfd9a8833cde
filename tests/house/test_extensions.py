"""The extensions are built from today's sources, whose headers and directives the build gives."""

import re
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import chain
from pathlib import Path

import pytest
from Cython.Build.Dependencies import create_dependency_tree

ROOT = Path(__file__).parents[2]
PACKAGES = ("ivm", "connectors")
HEADER = re.compile(r'^cdef extern from "(?P<header>[^"<]+)"', re.MULTILINE)

with (ROOT / "pyproject.toml").open("rb") as file:
    TOOL = tomllib.load(file)["tool"]
INCLUDED = TOOL["distutils"]["build_ext"].get("include-dirs", "").split(":")


def files(*kinds: str) -> list[Path]:
    """The files of these kinds, in all packages that have extensions."""
    return [
        path
        for package in PACKAGES
        for kind in kinds
        for path in (ROOT / package).rglob(f"*.{kind}")
    ]


SOURCES = sorted(files("pyx"))


def test_every_header_that_a_pxd_names_is_found_from_any_extension() -> None:
    texts = files("pyx", "pxd")
    named = {match["header"] for file in texts for match in HEADER.finditer(file.read_text())}
    assert named
    found = {name: [d for d in INCLUDED if (ROOT / d / name).exists()] for name in named}
    assert {name: places for name, places in found.items() if len(places) != 1} == {}


def test_directives_are_left_to_the_build() -> None:
    header = re.compile("^# *(cython|distutils):", re.MULTILINE)
    assert [file for file in files("pyx", "pxd") if header.search(file.read_text())] == []


def test_no_line_is_longer_than_120_characters() -> None:
    texts = files("pyx", "pxd", "hpp")
    lines = [(file, n, line) for file in texts for n, line in enumerate(file.open(), 1)]
    assert [(file, n) for file, n, line in lines if len(line.rstrip("\n")) > 120] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_extension_is_not_older_than_its_sources(path: Path) -> None:
    built = path.with_name(path.stem + EXTENSION_SUFFIXES[0])
    assert built.exists(), "not built: make build"
    tree = create_dependency_tree()  # type: ignore[no-untyped-call]
    needed = tree.all_dependencies(str(path)) | _headers(path)
    newest = max((ROOT / name for name in needed), key=lambda name: name.stat().st_mtime)
    assert built.stat().st_mtime >= newest.stat().st_mtime, f"older than {newest}: make build"


def _headers(path: Path) -> set[str]:
    texts = (file.read_text() for file in (path, path.with_suffix(".pxd")) if file.exists())
    found = chain.from_iterable(HEADER.finditer(text) for text in texts)
    headers = (path.parent / match["header"] for match in found)
    return {str(header.relative_to(ROOT)) for header in headers if header.exists()}
