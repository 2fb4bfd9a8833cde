"""The examples in docstrings answer as they are written.

A module's own docstring makes the names that the examples of its classes and functions read.
"""

import doctest
from importlib import import_module

import pytest

MODULES = ("views.builder.expressions", "views.builder.table", "views.builder.view")


@pytest.mark.parametrize("name", MODULES)
def test_examples_answer_as_written(name: str) -> None:
    module = import_module(name)
    parts = {part.name: part for part in doctest.DocTestFinder().find(module)}
    examples = [part for part in parts.values() if part.examples and part.name != name]
    assert examples
    runner = doctest.DocTestRunner()
    for example in examples:
        parts[name].globs = dict(vars(module))
        runner.run(parts[name], clear_globs=False)
        example.globs = parts[name].globs
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0
