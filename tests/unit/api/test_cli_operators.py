"""`ivm view operators` and `ivm explain --analyze` against a service that listens."""

import json

import pytest

from api.plan_tree import rounds_text
from api.settings import Settings
from ivm_client.service import ServiceClient
from tests.unit.api.test_cli_rows import pipeline as pipeline  # a service with two orders of ada
from tests.unit.api.test_cli_rows import run

LATER = """
WITH RECURSIVE later(id) AS (
    SELECT 1 UNION SELECT o.id FROM later l JOIN orders o ON o.id = l.id + 1
) SELECT id FROM later
"""


@pytest.fixture(autouse=True)
def view(pipeline: object) -> None:
    """The view `later`, of two orders one after the other."""
    service = ServiceClient(f"http://127.0.0.1:{Settings().port}")
    service.put("/v1/views/later", {"query": LATER})
    service.close()


def test_operators_are_a_tree_with_columns() -> None:
    lines = [line.strip("│ ") for line in run("view", "operators", "later").splitlines()]
    assert any(line.startswith("reuse orders[id]") for line in lines)
    assert any(line.startswith("deliver") for line in lines)
    (capture,) = [line for line in lines if "CaptureArranged" in line]
    assert [part.strip() for part in capture.split("│")[1:3]] == ["2", "0"]
    assert any("rounds=3 to 2 most=3 changes by round 0:0 1:1 2-3:1" in line for line in lines), (
        "\n".join(lines)
    )


def test_explain_analyze_shows_the_same() -> None:
    def kinds(output: str) -> list[str]:
        return [word for word in output.split() if word.startswith("#")]

    assert kinds(run("explain", "--analyze", "later")) == kinds(run("view", "operators", "later"))


def test_operators_are_json_too() -> None:
    found = json.loads(run("view", "operators", "later", "--json"))
    assert [reused["name"] for reused in found["reused"]] == ["orders[id]"]
    (loop,) = [each for each in found["operators"] if each["rounds"]]
    assert rounds_text(loop["rounds"]).startswith("rounds=3 to 2")


def test_a_view_that_is_not_there_is_told() -> None:
    assert "nobody" in run("view", "operators", "nobody", fails=True)
