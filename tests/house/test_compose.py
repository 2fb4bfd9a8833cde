"""docker/compose.yaml holds together, and starts the versions that the tests run."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from api.settings import Settings

DOCKER = Path(__file__).parents[2] / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


@pytest.mark.parametrize(
    ("service", "pom", "artifact"),
    [
        ("broker", "broker", "kafka_2.13"),
        ("connect", "connect", "debezium-connector-postgres"),
        ("registry", "registry", "apicurio-registry-app"),
    ],
)
def test_a_service_is_of_the_version_that_the_tests_run(
    service: str, pom: str, artifact: str
) -> None:
    text = (DOCKER / "kafka" / f"{pom}.xml").read_text()
    version = re.search(rf"<artifactId>{artifact}</artifactId>\s*<version>(.*)</version>", text)
    assert version is not None
    assert SERVICES[service]["image"].endswith(f":{version[1]}")


@pytest.mark.parametrize("service", SERVICES)
def test_what_a_service_names_is_there(service: str) -> None:
    described = SERVICES[service]
    assert set(described.get("depends_on", {})) <= set(SERVICES)
    mounted = {each.split(":")[0] for each in described.get("volumes", [])}
    assert {each for each in mounted if not each.startswith(".")} <= set(COMPOSE["volumes"])
    waited_for = described.get("depends_on", {}).items()
    healthy = [name for name, how in waited_for if how["condition"] == "service_healthy"]
    # The service's check is the image's own.
    assert all(name == "ivm" or "healthcheck" in SERVICES[name] for name in healthy)


@pytest.mark.parametrize("service", SERVICES)
def test_what_a_service_waits_for_is_of_its_profiles(service: str) -> None:
    profiles = set(SERVICES[service].get("profiles", []))
    for name in SERVICES[service].get("depends_on", {}):
        among = SERVICES[name].get("profiles")
        assert among is None or profiles <= set(among)


@pytest.mark.parametrize("service", SERVICES)
def test_a_file_that_a_service_mounts_is_there(service: str) -> None:
    mounted = [each.split(":")[0] for each in SERVICES[service].get("volumes", [])]
    assert all((DOCKER / path).exists() for path in mounted if path.startswith("."))


def test_the_service_alone_needs_no_other() -> None:
    alone = [name for name, each in SERVICES.items() if "profiles" not in each]
    assert alone == ["ivm"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_port_is_published_on_loopback_only(service: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[service].get("ports", []))


def test_the_connection_of_the_service_leads_to_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_CONNECTIONS", SERVICES["ivm"]["environment"]["IVM_CONNECTIONS"])
    (connection,) = Settings().connections.values()
    registry = urlsplit(connection.schema_registry_url).hostname
    assert {connection.bootstrap_servers.split(":")[0], registry} == {"broker", "registry"}
