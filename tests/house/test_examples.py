"""Every module of the public rooms has an example in its docstrings, which holds.

A module's own docstring makes the names that the examples of its classes and functions read.
"""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("ivm/dataflow", "ivm/values")
FILES = (
    "connectors.envelopes.envelope",
    "connectors.formats.format",
    "connectors.sinks.sink",
    "connectors.source",
    "connectors.tables.connector",
    "ivm.constants",
    "ivm.pool",
    "views.builder.expressions",
    "views.builder.table",
    "views.builder.view",
    "views.programs.library",
)
MODULES = [
    f"{room.replace('/', '.')}.{path.stem}"
    for room in ROOMS
    for path in sorted((ROOT / room).glob("*.py"))
    if path.stem != "__init__"
]


@pytest.mark.parametrize("name", [*MODULES, *FILES])
def test_a_public_module_has_an_example_that_holds(name: str) -> None:
    module = import_module(name)
    parts = {part.name: part for part in doctest.DocTestFinder().find(module)}
    examples = [part for part in parts.values() if part.examples]
    assert examples
    runner = doctest.DocTestRunner()
    for example in examples:
        names = dict(vars(module))
        if example.name != name:
            parts[name].globs = names
            runner.run(parts[name], clear_globs=False)
        example.globs = names
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0
