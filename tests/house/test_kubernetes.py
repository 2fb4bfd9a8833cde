"""What docker/kubernetes holds is of Kubernetes' schemas, and its settings are the service's."""

import json
import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from api.settings import Settings

Described = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "docker" / "kubernetes"
OF_FILES: dict[str, list[Described]] = {
    file.stem: list(yaml.safe_load_all(file.read_text())) for file in sorted(FOLDER.glob("*.yaml"))
}
OBJECTS = [each for objects in OF_FILES.values() for each in objects]
PODS = [each for each in OBJECTS if each["kind"] in ("Deployment", "StatefulSet")]


@pytest.mark.parametrize("described", OBJECTS, ids=lambda each: each["kind"])
def test_an_object_is_of_its_schema(described: Described) -> None:
    kubernetes_validate.validate(described, "1.37", strict=True)


def test_the_settings_are_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    (settings,) = (each["data"] for each in OBJECTS if each["kind"] == "ConfigMap")
    for name, value in settings.items():
        assert name.removeprefix("IVM_").lower() in Settings.model_fields
        monkeypatch.setenv(name, value)
    assert Settings().connections


@pytest.mark.parametrize("described", PODS, ids=lambda each: each["metadata"]["name"])
def test_selectors_and_ports_find_the_container(described: Described) -> None:
    template = described["spec"]["template"]
    (container,) = template["spec"]["containers"]
    labels = template["metadata"]["labels"]
    assert described["spec"]["selector"]["matchLabels"] == labels
    (service,) = [
        each["spec"]
        for each in OBJECTS
        if each["kind"] == "Service" and each["spec"]["selector"] == labels
    ]
    for port in service.get("ports", ()):
        assert port["targetPort"] in {each["name"] for each in container["ports"]}


def test_each_volume_that_is_mounted_is_claimed_or_described() -> None:
    (described,) = [each for each in OF_FILES["ivm"] if each["kind"] == "StatefulSet"]
    template = described["spec"]["template"]
    (container,) = template["spec"]["containers"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    claimed = {each["metadata"]["name"] for each in described["spec"]["volumeClaimTemplates"]}
    assert mounted == claimed | {each["name"] for each in template["spec"]["volumes"]}


def test_the_command_that_a_cluster_needs_gives_settings_of_the_service() -> None:
    comment = (FOLDER / "cluster.yaml").read_text().partition("\napiVersion")[0]
    (given,) = re.findall(r"IVM_CLUSTER='(.*)'", comment)
    settings = Settings(cluster=json.loads(given))
    assert settings.cluster is not None
    assert settings.cluster.shards == 3
