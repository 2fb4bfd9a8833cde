"""`ivm view apply`: the views that a Python file defines, registered as SQL.

The file runs here, in the command line's own process; the service gets the SQL that it makes.
"""

import runpy
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from api.cli.filling import put_view
from connectors.tables.spec import type_of
from ivm_client.service import ServiceClient
from views.builder import Database, ViewDefinition
from views.builder import table as builder
from views.catalog import Catalog, Table, View
from views.errors import BadDefinition, SqlError


@dataclass(frozen=True, slots=True)
class Applied:
    """A view that a file defines, and whether the service had not got it yet."""

    name: str
    query: str
    is_new: bool


def definitions(file: Path) -> list[ViewDefinition]:
    """The views that `file` defines, in order (raises BadDefinition, OSError).

    As a script, it may import the modules that lie beside it.
    """
    sys.path.insert(0, str(file.resolve().parent))
    with _placed(file):
        members = runpy.run_path(str(file)).values()
    found = [value for value in members if isinstance(value, ViewDefinition)]
    if not found:
        raise BadDefinition(f"{file} defines no view; put @view() before a function of a Database")
    return found


def apply(file: Path, service: ServiceClient) -> Iterator[Applied]:
    """Register the views of `file` one after another, each over those before it.

    Raises Problem where the service refuses one, BadDefinition where the file is wrong.
    """
    for definition in definitions(file):
        query = query_of(definition, file, catalog_of(service))
        known = {view["name"] for view in service.get("/v1/views")["views"]}
        body = {"query": query, "language": "sql", "key": definition.key}
        put_view(definition.name, body, service)
        yield Applied(definition.name, query, definition.name not in known)


def query_of(definition: ViewDefinition, file: Path, catalog: Catalog) -> str:
    """The SQL of a view (raises BadDefinition)."""
    name = f"view {definition.name!r}: "
    with _placed(file, name):
        built: object = definition.build(Database(catalog))
        if isinstance(built, builder.Table):
            return built.sql()
    raise BadDefinition(f"{file}: {name}{_not_a_table(built)}")


@contextmanager
def _placed(file: Path, name: str = "") -> Iterator[None]:
    """Tell a fault in one line, with the line of `file` that it lies in (raises BadDefinition)."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # whatever the file's own code comes to
        message = error.message if isinstance(error, SqlError) else _words(error)
        raise BadDefinition(f"{_place(file, error)}: {name}{message}") from error


def _words(error: Exception) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}"


def _place(file: Path, error: Exception) -> str:
    """The line of `file` that raised an error, or that called the code that did."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines.append(error.lineno)
    return f"{file}:{lines[-1]}" if lines else str(file)


def _not_a_table(built: object) -> str:
    """The error of a function that answers `built`, which is no table."""
    advice = {builder.Grouped: "end with agg()", builder.Ordered: "end with limit()"}
    ending = advice.get(type(built), "return one")
    return f"its function answers {type(built).__name__}, which is no table; {ending}"


def catalog_of(service: ServiceClient) -> Catalog:
    """The catalog of the service, as a builder sees it."""
    tables = map(table_of, service.get("/v1/sources")["sources"])
    views = [
        View(
            v["name"],
            v["query"],
            v["language"],
            _schema(v["columns"]),
            tuple(v["key"]),
            tuple(v["reads"]),
            v["lookups"],
        )
        for v in service.get("/v1/views")["views"]
    ]
    return Catalog(tables, views)


def table_of(source: Mapping[str, Any]) -> Table:
    """The table of a source, as the service answers it."""
    return Table(source["name"], _schema(source["columns"]), tuple(source["key"]))


def _schema(columns: list[dict[str, Any]]) -> pa.Schema:
    return pa.schema([pa.field(c["name"], type_of(c["type"]), c["nullable"]) for c in columns])
