"""The processor time that queries over the schema of TPC-DS take to compile and to install.

Run `python -m benchmarks.compile`: a line for each query, over empty tables, the median of five.
"""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import pyarrow as pa

from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.types import parse_type

HERE = Path(__file__).parent / "tpcds"
QUERIES = {path.stem: path.read_text() for path in sorted((HERE / "queries").glob("*.sql"))}
TIMES = 5


def catalog() -> Catalog:
    """Make the catalog of the schema: every column but those of a key is nullable."""
    tables = json.loads((HERE / "schema.json").read_text())
    return Catalog(_table(name, told["key"], told["columns"]) for name, told in tables.items())


def _table(name: str, key: list[str], columns: dict[str, str]) -> Table:
    fields = [pa.field(c, parse_type(kind), c not in key) for c, kind in columns.items()]
    return Table(name, pa.schema(fields), tuple(key))


def pool_of(tables: Catalog) -> Pool:
    """Make a pool with the empty tables of a catalog."""
    pool = Pool(1)
    for table in tables.tables:
        pool.create_input(table.name, table.schema, table.key)
    pool.advance(1)
    return pool


def measure(query: str, tables: Catalog, pool: Pool) -> tuple[float, float]:
    """Compile and install a query, and give the milliseconds of either."""
    began = process_time()
    view = compile_view(query, tables)
    compiled = process_time()
    pool.install("view", view.node, view.key)
    installed = process_time()
    pool.drop("view")
    return 1000 * (compiled - began), 1000 * (installed - compiled)


def report(tell: Callable[[str], object] = print) -> None:
    """Tell the times of every query."""
    tables = catalog()
    tell("query  compile ms  install ms")
    for name, query in QUERIES.items():
        taken = [measure(query, tables, pool_of(tables)) for _ in range(TIMES)]
        tell(f"{name:5}  {median(t[0] for t in taken):10.1f}  {median(t[1] for t in taken):10.1f}")


if __name__ == "__main__":
    report()
