"""Plans before and after each rewrite, and dataflows and physical plans of whole queries, as golden
files.

With `REWRITE_GOLDEN=1` in the environment the files are written anew instead; a file is a list of
cases, each a query and the texts that belong to it.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Arrange, Distinct, Get
from ivm.pool import Pool
from tests.property.engine import KEYS, SCHEMAS
from tests.property.members import Threads
from tests.property.nodes import NODES
from tests.property.shop import CATALOG
from views.catalog import Table
from views.compile import compile_view
from views.explain import dataflow_text, plan_text
from views.lowering.lower import lower
from views.lowering.temporal_filter import CLOCK
from views.rewrites import RULES, rewrite
from views.rewrites.context import Context
from views.sql.bind import bind

FOREIGN_KEYS = {"orders[customer_id]", "items[order_id]", "items[product_id]"}
ARRANGED = FOREIGN_KEYS | {"customers[id]", "orders[id]", "items[order_id, line]", "products[id]"}
GOLDEN = Path(__file__).parent / "golden"
Case = dict[str, str]


def rewritten_by(rule: str, query: str, arranged: Collection[str] = ()) -> Case:
    """The plan before and after `rule`, where the arrangements `arranged` are there."""
    bound = bind(query, CATALOG)
    plan, context = bound.plan, Context(bound.numbers, arranged)
    for name, apply in RULES:
        before, plan = plan, apply(plan, context)
        if name == rule:
            return {"query": query, "before": plan_text(before), "after": plan_text(plan)}
    raise AssertionError(f"no rule {rule}")


def lowered(query: str, arranged: Collection[str] = ()) -> Case:
    """The dataflow of a query where the arrangements `arranged` are there."""
    bound = bind(query, CATALOG)
    node = lower(rewrite(bound.plan, Context(bound.numbers, arranged)), arranged)
    return {"query": query, "dataflow": dataflow_text(node)}


def planned(query: str, workers: int, arranged: Collection[str] = ()) -> Case:
    """The physical plan of a query in a pool of so many workers."""
    pool = Pool(workers)
    for table in (*CATALOG.tables, Table(CLOCK.name, CLOCK.schema, ())):
        pool.create_input(table.name, table.schema, table.key or table.schema.names)
    for name in arranged:
        source, _, column = name.removesuffix("]").partition("[")
        rows = Get(source, CATALOG[source].schema)
        by_column = Arrange(rows, (rows.schema.get_field_index(column),))
        pool.install(f"by {name}", Distinct(by_column), rows.schema.names)
    view = compile_view(query, CATALOG, arranged=arranged)
    return {"query": query, "physical": pool.plan_text(view.node, view.key)}


def planned_node(name: str) -> Case:
    """The physical plan of a node of the engine, whose changes alone are kept."""
    pool = Pool()
    for source, schema in SCHEMAS.items():
        pool.create_input(source, schema, KEYS[source])
    return {"query": name, "physical": pool.plan_text(NODES[name], None)}


def planned_for_members(query: str) -> Case:
    """The physical plan that each of two members has, of many items of few products."""
    tables: dict[str, list[tuple[int, ...]]] = {
        "items": [(i, 1, i % 9) for i in range(10_000)],
        "products": [(i,) for i in range(9)],
    }
    with Threads(2) as pool:
        for table in CATALOG.tables:
            pool.create_input(table.name, table.schema, table.key)
        for name, rows in tables.items():
            schema = CATALOG[name].schema
            there = [dict(zip(schema.names, row, strict=False)) for row in rows]
            batch = pa.RecordBatch.from_pylist(there, schema)
            pool.feed(name, batch, np.ones(len(rows), np.int64), 0)
        pool.advance(1)
        view = compile_view(query, CATALOG)
        return {"query": query, "physical": pool.plan_text(view.node, view.key)}


def read(path: Path) -> list[Case]:
    """The cases of a golden file."""
    cases: list[Case] = []
    for section in path.read_text().split("== ")[1:]:
        name, _, text = section.partition("\n")
        if name == "query":
            cases.append({})
        cases[-1][name] = text.strip("\n")
    return cases


def check(path: Path, produce: Callable[[str], Case]) -> None:
    """Compare each case with what is produced from its query."""
    cases = read(path)
    assert cases
    produced = [produce(case["query"]) for case in cases]
    if os.environ.get("REWRITE_GOLDEN") == "1":
        sections = [f"== {name}\n{text}\n" for case in produced for name, text in case.items()]
        path.write_text("\n".join(sections))
    else:
        assert produced == cases


@pytest.mark.parametrize("rule", [name for name, _ in RULES])
def test_a_rewrite_maps_plans_as_recorded(rule: str) -> None:
    check(GOLDEN / f"{rule}.txt", lambda query: rewritten_by(rule, query))


def test_joins_are_ordered_by_arrangements_that_there_are() -> None:
    path = GOLDEN / "order_joins_arranged.txt"
    check(path, lambda query: rewritten_by("order_joins", query, ARRANGED))


def test_queries_lower_to_dataflows_as_recorded() -> None:
    check(GOLDEN / "dataflow.txt", lowered)


def test_queries_lower_to_dataflows_over_arrangements_that_there_are() -> None:
    check(GOLDEN / "arranged.txt", lambda query: lowered(query, ARRANGED))


def test_queries_are_planned_as_recorded() -> None:
    check(GOLDEN / "physical.txt", lambda query: planned(query, 1))


def test_queries_are_planned_for_two_workers_as_recorded() -> None:
    check(GOLDEN / "physical_two_workers.txt", lambda query: planned(query, 2))


def test_queries_are_planned_over_arrangements_that_there_are() -> None:
    check(GOLDEN / "physical_arranged.txt", lambda query: planned(query, 1, FOREIGN_KEYS))


def test_nodes_are_planned_as_recorded() -> None:
    check(GOLDEN / "physical_nodes.txt", planned_node)


def test_queries_are_planned_for_two_members_as_recorded() -> None:
    check(GOLDEN / "physical_two_members.txt", planned_for_members)
