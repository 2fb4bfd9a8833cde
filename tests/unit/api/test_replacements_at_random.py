"""Definitions change at random amid batches, checkpoints and restarts: topics fold to the views."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from api.errors import ReplacementRefused
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.sinks.json_rows import json_rows
from tests.unit.api.filed import runtime_on, take_checkpoint
from tests.unit.api.test_replacements import folded, shown
from tests.unit.api.test_widening import table, write
from views.errors import StillUsed

SUM = "sum(amount)::bigint AS total"
# For each view the definitions that it may have; some break the views over it.
DEFINITIONS = {
    "totals": [
        f"SELECT customer, {SUM} FROM orders GROUP BY customer",
        f"SELECT customer, {SUM} FROM orders WHERE id % 2 = 0 GROUP BY customer",
        "SELECT customer, max(amount) AS total FROM orders GROUP BY customer",
        f"SELECT customer, {SUM}, count(*) AS n FROM orders GROUP BY customer",
        f"SELECT {SUM}, customer FROM orders GROUP BY customer",
        "SELECT DISTINCT customer, amount AS total FROM orders",
        "SELECT customer FROM orders",
    ],
    "plain": [
        "SELECT * FROM orders",
        "SELECT * FROM orders WHERE amount > 5",
        "SELECT id, customer, amount FROM orders WHERE amount / (id - 3) > 0",
        "SELECT id, customer, amount FROM orders WHERE now() > TIMESTAMPTZ '2020-01-01'",
    ],
    "best": [
        "SELECT customer FROM totals WHERE total > 6",
        "SELECT customer FROM totals WHERE total <= 6 OR total IS NULL",
        "SELECT p.customer FROM plain p",
        "SELECT t.customer FROM totals t JOIN plain p USING (customer) WHERE p.id > 2",
    ],
    "last": [
        "SELECT customer, count(*) AS n FROM best GROUP BY customer",
        "SELECT customer, count(*) + 1 AS n FROM best GROUP BY customer",
        "SELECT customer, 1::bigint AS n FROM totals EXCEPT SELECT customer, 1::bigint FROM best",
    ],
}


@pytest.mark.parametrize("seed", range(10))
def test_topics_fold_to_the_views_whatever_they_were(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    lookups = {name: name != "last" or seed % 2 == 0 for name in DEFINITIONS}
    for name, queries in DEFINITIONS.items():
        runtime.views.put(Definition(name, queries[0], lookups=lookups[name]))
    orders: dict[int, dict[str, Any]] = {}
    number = 0
    for _ in range(25):
        act = random.choice(["insert", "insert", "delete", "put", "put", "approve", "approve"])
        if act == "insert":
            number += 1
            customer = random.choice("abc")
            orders[number] = {"id": number, "customer": customer, "amount": random.randrange(9)}
            write(tmp_path, runtime, orders[number])
        elif act == "delete" and orders:
            write(tmp_path, runtime, orders.pop(random.choice(sorted(orders))), op="d")
        elif act == "put":
            _put(runtime, random)
        elif act == "approve" and runtime.registry.replacements:
            _approve(runtime, random.choice(sorted(runtime.registry.replacements)))
        if random.random() < 0.1:
            take_checkpoint(runtime)
        if random.random() < 0.15:
            runtime = runtime_on(tmp_path)
            assert runtime.readiness.fault() is None
        _judge(runtime, tmp_path, lookups)


def _put(runtime: Runtime, random: Random) -> None:
    name = random.choice(sorted(DEFINITIONS))
    query = random.choice(DEFINITIONS[name])
    try:
        waiting = runtime.replacements.put(Definition(name, query))
    except (ReplacementRefused, StillUsed):
        return
    if waiting is not None:
        assert waiting.ended.wait(10)
        assert waiting.reason is None


def _approve(runtime: Runtime, name: str) -> None:
    waiting = runtime.replacements.get(name)
    assert waiting.ended.wait(10)
    runtime.replacements.approve(name, waiting.pending.version, None)


def _judge(runtime: Runtime, data: Path, lookups: dict[str, bool]) -> None:
    """Compare what is kept, what is published, and what the definition says anew."""
    for name in DEFINITIONS:
        published = folded(data, name)
        if lookups[name]:
            assert shown(runtime, name) == published, name
        if not any(runtime.applier.errors.values()):
            answer = runtime.queries.ask(runtime.views.get(name).query, "sql", 1_000)
            assert Counter(map(repr, json_rows(answer.rows))) == published, name
