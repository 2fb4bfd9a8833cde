"""A build in place compiles what has changed, and nothing for what only looks changed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / ".ci" / "build.py"
DESCRIPTION = """
[project]
name = "ivm"
version = "0"

[tool.setuptools]
packages = ["ivm"]

[tool.distutils.build_ext]
include-dirs = "ivm"
shared-utility-qualified-name = "ivm._cyutility"

[tool.distutils.build_ext.cython-directives]
language_level = 3
emit_code_comments = false
"""
FILES = {
    "pyproject.toml": DESCRIPTION,
    "setup.py": (ROOT / "setup.py").read_text(),
    "ivm/__init__.py": "",
    "ivm/one.hpp": "#define ONE 1\n",
    "ivm/counter.pxd": "cdef class Counter:\n    cdef public int value\n",
    "ivm/counter.pyx": 'cdef extern from "one.hpp":\n    int ONE\n\n'
    "cdef class Counter:\n    def count(self):\n        self.value += ONE\n",
    "ivm/user.pyx": "from ivm.counter cimport Counter\n\n"
    "def value_of(Counter counter):\n    return counter.value\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two extensions, of which one uses the other's class, as built once."""
    directory = tmp_path_factory.mktemp("tree")
    (directory / "ivm").mkdir()
    for name, text in FILES.items():
        (directory / name).write_text(text)
    assert build(directory) == {"_cyutility", "counter", "user"}
    return directory


def build(tree: Path) -> set[str]:
    """The extensions that a build compiles."""
    finished = subprocess.run(
        [sys.executable, BUILD],
        cwd=tree,
        env=os.environ | {"CXXFLAGS": "-std=c++17 -O0", "CFLAGS": "-O0"},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return set(re.findall(r"^building 'ivm\.(\w+)' extension$", finished.stdout, re.M))


def edit(file: Path, old: str, new: str) -> None:
    """Write a file anew with one change."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_what_was_built_works_together(tree: Path) -> None:
    program = "from ivm import counter, user; c = counter.Counter(); c.count(); print(c.value)"
    finished = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
    )
    assert finished.stdout == "1\n", finished.stderr


def test_nothing_is_compiled_where_nothing_changed(tree: Path) -> None:
    assert build(tree) == set()


def test_nothing_is_compiled_for_a_comment_in_a_pxd(tree: Path) -> None:
    edit(tree / "ivm" / "counter.pxd", "cdef class", "# A class.\ncdef class")
    assert build(tree) == set()
    assert build(tree) == set()


def test_all_that_use_a_class_are_compiled_where_a_field_is_added(tree: Path) -> None:
    edit(tree / "ivm" / "counter.pxd", "public int value", "public int limit, value")
    assert build(tree) == {"counter", "user"}


def test_only_an_extension_itself_is_compiled_for_an_edit_of_it(tree: Path) -> None:
    edit(tree / "ivm" / "user.pyx", "return counter.value", "return counter.value + 1")
    assert build(tree) == {"user"}


def test_an_extension_is_compiled_for_an_edit_of_its_header(tree: Path) -> None:
    edit(tree / "ivm" / "one.hpp", "ONE 1", "ONE 2")
    assert build(tree) == {"counter"}


def test_what_was_built_by_another_recipe_is_compiled_again(tree: Path) -> None:
    edit(tree / "pyproject.toml", "language_level = 3", "language_level = 3\nbinding = false")
    assert build(tree) == {"_cyutility", "counter", "user"}
