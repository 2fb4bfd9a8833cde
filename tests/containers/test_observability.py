"""Prometheus accepts what `docker/observability` holds, and its alerts do what they say."""

import json
from pathlib import Path

from tests.containers.podman import ROOT, Podman

PLACE = ROOT / "docker" / "observability"


def test_the_configuration_and_its_alerts_are_accepted(podman: Podman) -> None:
    podman.run("promtool", "check", "config", PLACE / "prometheus.yml")


def test_alerts_fire_when_they_should(podman: Podman) -> None:
    podman.run("promtool", "test", "rules", PLACE / "alerts_test.yml")


def test_every_query_of_the_dashboard_is_accepted(podman: Podman, tmp_path: Path) -> None:
    dashboard = json.loads((PLACE / "dashboard.json").read_text())
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
    rules = [{"record": f"query:{number}", "expr": q} for number, q in enumerate(queries)]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    podman.run("promtool", "check", "rules", file)
