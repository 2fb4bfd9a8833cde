"""The demo, small: its own verification must hold, and its figures must be there."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

CHANGES = 6_000
VIEWS = {
    "revenue_by_segment",
    "top_products",
    "customers_without_orders",
    "reachable",
    "orders_by_city",
}


@pytest.mark.jvm
def test_a_small_demo_verifies_every_view(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "api", "demo", "--changes", str(CHANGES), "--json"]
    done = subprocess.run([*command, str(figures)], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    report = orjson.loads(figures.read_bytes())
    assert {view["view"] for view in report["views"]} == VIEWS
    assert all(view["rows"] > 0 and not view["faults"] for view in report["views"])
    assert report["changes"] == CHANGES + CHANGES // 3
    assert report["latency_p99"] > 0
