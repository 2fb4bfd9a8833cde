"""What docker/observability watches are metrics that the service has."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from tests.house.tables import written

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "docker" / "observability"
DASHBOARD: dict[str, Any] = json.loads((PLACE / "dashboard.json").read_text())
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]


def metrics() -> set[str]:
    """The names of the samples that the page of metrics lists."""
    found = set()
    for line in written("observability.md", "metrics")[2:]:
        name = line.split("`")[1]
        kinds = ("_bucket", "_sum", "_count") if "| histogram |" in line else ("",)
        found |= {f"{name}{each}" for each in kinds}
    return found


def names(expression: str) -> set[str]:
    return set(re.findall(r"\bivm_\w+", expression))


def test_alerts_are_over_metrics_of_the_service() -> None:
    alerts = yaml.safe_load((PLACE / "alerts.yml").read_text())["groups"][0]["rules"]
    for alert in alerts:
        assert names(alert["expr"]) <= metrics(), alert["alert"]
        assert alert["annotations"].keys() == {"summary", "runbook"}


def test_panels_are_over_metrics_of_the_service() -> None:
    for target in TARGETS:
        assert names(target["expr"])
        assert names(target["expr"]) <= metrics()


def test_panels_ask_the_source_that_is_provisioned() -> None:
    (source,) = yaml.safe_load((PLACE / "datasource.yml").read_text())["datasources"]
    for panel in DASHBOARD["panels"]:
        assert panel["datasource"] == {"type": source["type"], "uid": source["uid"]}


def test_panels_lie_beside_each_other() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for a, b in combinations(places, 2):
        assert (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
