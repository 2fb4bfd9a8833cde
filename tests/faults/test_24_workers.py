"""Row 24: a service that starts with other numbers of workers goes on as if nothing had changed."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from api.services.definition import Definition
from tests.unit.api.filed import close_all, pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.api.test_checkpoints import ORDERS, TOTALS, folded, order, rows

BIG_SPENDERS = "SELECT DISTINCT customer FROM orders WHERE amount > 3"


def told(found: list[dict[str, Any]]) -> dict[tuple[Any, ...], int]:
    """Rows as deltas have them: decimals as text."""
    return {
        tuple(str(v) if isinstance(v, Decimal) else v for v in row.values()): 1 for row in found
    }


@pytest.mark.parametrize("has_checkpoints", [True, False])
def test_workers_2_4_and_1_give_the_same_rows_and_publish_each_change_once(
    tmp_path: Path, has_checkpoints: bool
) -> None:
    runtime = runtime_on(tmp_path, workers=2)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    runtime.views.put(Definition("big", BIG_SPENDERS))
    taken = 0
    for workers in (2, 4, 1, 2):
        changes = [(order(taken + n, f"c{n % 7}", n % 5), 1) for n in range(50)]
        write_rows(tmp_path, "orders", *changes)
        taken += len(changes)
        pipeline_of(runtime).step()
        if has_checkpoints:
            assert take_checkpoint(runtime)
        write_rows(tmp_path, "orders", (changes[0][0], -1))
        pipeline_of(runtime).step()
        before = [rows(runtime, view) for view in ("totals", "big")]
        close_all()
        runtime = runtime_on(tmp_path, workers=workers)
        assert [rows(runtime, view) for view in ("totals", "big")] == before
        for view, there in zip(("totals", "big"), before, strict=True):
            assert folded(tmp_path, view)[0] == told(there)
