"""What docker/kubernetes holds is of Kubernetes' schemas, and its settings are the service's."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from api.settings import Settings

FILES = sorted((Path(__file__).parents[2] / "docker" / "kubernetes").glob("*.yaml"))
OBJECTS: list[dict[str, Any]] = [
    each for file in FILES for each in yaml.safe_load_all(file.read_text())
]


@pytest.mark.parametrize("described", OBJECTS, ids=lambda each: each["kind"])
def test_an_object_is_of_its_schema(described: dict[str, Any]) -> None:
    kubernetes_validate.validate(described, "1.37", strict=True)


def test_the_settings_are_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    (settings,) = (each["data"] for each in OBJECTS if each["kind"] == "ConfigMap")
    for name, value in settings.items():
        assert name.removeprefix("IVM_").lower() in Settings.model_fields
        monkeypatch.setenv(name, value)
    assert Settings().connections


def test_selectors_and_ports_find_the_container() -> None:
    of = {each["kind"]: each for each in OBJECTS}
    template = of["StatefulSet"]["spec"]["template"]
    (container,) = template["spec"]["containers"]
    labels = template["metadata"]["labels"]
    assert of["Service"]["spec"]["selector"] == labels
    assert of["StatefulSet"]["spec"]["selector"]["matchLabels"] == labels
    assert of["Service"]["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    claimed = {
        each["metadata"]["name"] for each in of["StatefulSet"]["spec"]["volumeClaimTemplates"]
    }
    assert mounted == claimed | {each["name"] for each in template["spec"]["volumes"]}
