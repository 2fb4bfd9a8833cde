"""The library reads the programs of this folder and puts a user's tables and values into them.

A program's file begins with a comment: sentences, the last paragraph of which is the source, then

    -- parameter: NAME = DEFAULT         stands in the text as $NAME
    -- reads: TABLE(COLUMN TYPE, …)      once for each table
    -- key: COLUMN, …                    what the view is looked up by
    -- example:                          rows of the tables, values, and the answer's `rows`

(`//` in Datalog). Where a table of the user has another name or other columns, the query begins
with a definition of the program's table by it, which costs nothing: a view that only renames
shares the arrangements of what it reads.

>>> print(load("degrees_of_degrees").query({"edges": "follows,src=follower"}))
WITH edges AS (SELECT follower AS src, dst FROM follows)
SELECT * FROM (
SELECT degree, count(*) AS nodes
FROM (SELECT src, count(*) AS degree FROM edges WHERE src IS NOT NULL GROUP BY src) AS counted
GROUP BY degree
) AS program
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from views.catalog import Language
from views.errors import BadDefinition, UnknownName, suggestion

_LANGUAGES: dict[str, tuple[Language, str]] = {".sql": ("sql", "--"), ".dl": ("datalog", "//")}
_PARAMETER = re.compile(r"(\w+) = (.+)")
_READS = re.compile(r"(\w+)\((.+)\)")
_VALUE = re.compile(r"[\w.+-]+(?: [\w.]+)*(?:\(\d+(?:, ?\d+)?\))?")
"""A number, or the name of a type; a value is put into the text of a query as it is."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table that a program reads: its columns by name, with the type that each should have."""

    name: str
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Binding:
    """The user's table that stands for a relation; `columns` maps the relation's names to its."""

    table: str
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the library; `example` holds the rows of its tables, values, and its `rows`."""

    name: str
    language: Language
    description: str
    source: str
    parameters: Mapping[str, str]
    relations: tuple[Relation, ...]
    key: tuple[str, ...]
    example: Mapping[str, Any]
    text: str

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.partition("\n")[0]

    def query(self, on: Mapping[str, str] | None = None, **values: object) -> str:
        """Writes the query over a user's tables.

        `on` names the user's table for a relation and, after it, columns that are called otherwise:
        `{"edges": "follows,src=follower,dst=followee"}`; a relation that is not in it is read from
        the table of its own name. `values` replace the defaults of parameters.
        Raises UnknownName for a relation, column or parameter that the program does not have,
        BadDefinition for a value that is neither a number nor the name of a type.
        """
        bindings = {name: _binding(written) for name, written in (on or {}).items()}
        self._check(bindings, values)
        given = {name: str(value) for name, value in values.items()}
        text = Template(self.text).substitute({**self.parameters, **given})
        renamed = [
            (relation, binding)
            for relation in self.relations
            if (binding := bindings.get(relation.name)) and binding != Binding(relation.name, {})
        ]
        if not renamed:
            return text
        return _over_sql(text, renamed) if self.language == "sql" else _over_rules(text, renamed)

    def _check(self, bindings: Mapping[str, Binding], values: Mapping[str, object]) -> None:
        known = {relation.name: relation.columns for relation in self.relations}
        for name, binding in bindings.items():
            self._known("relation", name, known)
            for column in binding.columns:
                self._known(f"column of {name}", column, known[name])
        for name, value in values.items():
            self._known("parameter", name, self.parameters)
            if not _VALUE.fullmatch(str(value)):
                raise BadDefinition(
                    f"parameter {name}: {str(value)!r} is neither a number nor the name of a type"
                )

    def _known(self, what: str, name: str, known: Mapping[str, object]) -> None:
        if name not in known:
            raise UnknownName(
                f"program {self.name!r} has no {what} {name!r}; it has {', '.join(known) or 'none'}"
            )


def names() -> tuple[str, ...]:
    """Lists the names of all programs, sorted."""
    return tuple(sorted(_paths()))


@cache
def load(name: str) -> Program:
    """Reads the program `name` (raises UnknownName, with near names)."""
    paths = _paths()
    if name not in paths:
        raise UnknownName(f"no program {name!r}{suggestion(name, paths)}")
    file = paths[name]
    language, mark = _LANGUAGES[file[len(name) :]]
    lines = files(__package__).joinpath(file).read_text().splitlines()
    body = next(i for i, line in enumerate(lines) if not line.startswith(mark))
    return _program(name, language, [line[len(mark) + 1 :] for line in lines[:body]], lines[body:])


@cache
def _paths() -> dict[str, str]:
    """The files of programs by the names of these."""
    found = [entry.name for entry in files(__package__).iterdir()]
    return {n[: n.index(".")]: n for n in found if n[n.index(".") :] in _LANGUAGES}


def _program(name: str, language: Language, comment: Sequence[str], body: Sequence[str]) -> Program:
    stated = next(i for i, line in enumerate(comment) if line.startswith("parameter: "))
    *paragraphs, source = "\n".join(comment[:stated]).strip().split("\n\n")
    parameters, relations, key, example = {}, [], tuple[str, ...](), {}
    for line in comment[stated:]:
        word, _, rest = line.strip().partition(": ")
        if line.startswith("  "):
            example[word] = ast.literal_eval(f"[{rest}]" if rest.startswith("(") else rest)
        elif found := _PARAMETER.fullmatch(rest):
            parameters[found[1]] = found[2]
        elif found := _READS.fullmatch(rest):
            columns = (column.partition(" ") for column in found[2].split(", "))
            relations.append(Relation(found[1], {column: kind for column, _, kind in columns}))
        elif word == "key":
            key = tuple(rest.split(", "))
    return Program(
        name,
        language,
        "\n\n".join(paragraphs),
        source,
        parameters,
        tuple(relations),
        key,
        example,
        "\n".join(body),
    )


def _binding(written: str) -> Binding:
    """Reads `TABLE,COLUMN=COLUMN,…` (raises BadDefinition)."""
    table, *columns = written.split(",")
    pairs = [column.partition("=") for column in columns]
    if not table or "=" in table or not all(own and theirs for own, _, theirs in pairs):
        raise BadDefinition(f"{written!r} is not of the form TABLE,COLUMN=YOURS,…")
    return Binding(table, {own: theirs for own, _, theirs in pairs})


def _over_sql(text: str, renamed: Sequence[tuple[Relation, Binding]]) -> str:
    tables = []
    for relation, binding in renamed:
        columns = ", ".join(
            column if theirs == column else f"{theirs} AS {column}"
            for column in relation.columns
            for theirs in [binding.columns.get(column, column)]
        )
        tables.append(f"{relation.name} AS (SELECT {columns} FROM {binding.table})")
    return f"WITH {', '.join(tables)}\nSELECT * FROM (\n{text}\n) AS program"


def _over_rules(text: str, renamed: Sequence[tuple[Relation, Binding]]) -> str:
    rules = []
    for relation, binding in renamed:
        if binding.table == relation.name:
            raise BadDefinition(
                f"a Datalog program reads {relation.name!r} by position: make a view with the "
                f"columns {', '.join(relation.columns)} under another name and name that"
            )
        columns = ", ".join(f"{binding.columns.get(c, c)}: {c}" for c in relation.columns)
        rules.append(
            f"{relation.name}({', '.join(relation.columns)}) :- {binding.table}({columns})."
        )
    return "\n".join([*rules, text])
