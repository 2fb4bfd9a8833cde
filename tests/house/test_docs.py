"""Every example of docs/datalog.md and docs/builder.md answers as the page says.

A page's first block of JSON declares tables with their rows; later ones are the rows of the view
that the block before them defines.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.oracle import evaluate
from views.builder import Database, ViewDefinition
from views.catalog import Catalog, Table
from views.compile import CompiledView, compile_view
from views.types import parse_type

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def examples(page: str) -> tuple[dict[str, Any], list[tuple[str, list[Any]]]]:
    """The tables of a page, and each example with its rows."""
    blocks = [b for b in BLOCK.findall((DOCS / page).read_text()) if b[0] != "sh"]
    tables = json.loads(blocks[0][1])
    return tables, [
        (text, json.loads(rows))
        for (_, text), (_, rows) in zip(blocks[1::2], blocks[2::2], strict=True)
    ]


def catalog(tables: dict[str, Any]) -> Catalog:
    return Catalog(
        Table(name, schema, (schema.names[0],))
        for name, table in tables.items()
        for schema in [pa.schema([(c, parse_type(t)) for c, t in table["columns"].items()])]
    )


def rows_of(view: CompiledView, tables: dict[str, Any]) -> list[list[Any]]:
    given = {name: Counter(map(tuple, table["rows"])) for name, table in tables.items()}
    found = evaluate(view.node, given)
    assert not found.errors
    return sorted(json.loads(json.dumps(list(found.rows.elements()), default=str)))


DATALOG, PROGRAMS = examples("datalog.md")
PYTHON, FILES = examples("builder.md")


@pytest.mark.parametrize(("program", "rows"), PROGRAMS)
def test_a_program_answers_as_the_page_says(program: str, rows: list[Any]) -> None:
    view = compile_view(program, catalog(DATALOG), language="datalog")
    assert rows_of(view, DATALOG) == rows


def test_the_views_of_the_python_page_answer_as_it_says() -> None:
    members: dict[str, Any] = {}
    for text, rows in FILES:
        before = set(members)
        exec(text, members)
        (made,) = (members[n] for n in members.keys() - before if n != "__builtins__"
                   and isinstance(members[n], ViewDefinition))  # fmt: skip
        query = made.build(Database(catalog(PYTHON))).sql()
        assert rows_of(compile_view(query, catalog(PYTHON), made.key), PYTHON) == rows
