"""The image of the service: small, without rights, and it keeps what it was told in its volume."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.demo.ports import free_ports
from ivm_client.service import ServiceClient
from tests.containers.images import SERVICE
from tests.containers.podman import Podman
from tests.kafka.java import await_true

MOST_BYTES = 700_000_000
NAME = "ivm-alone"
VISITS = {
    "connector": "http",
    "columns": [{"name": "id", "type": "bigint"}, {"name": "page", "type": "text"}],
    "key": ["id"],
}
BY_PAGE = {"query": "SELECT page, count(*) AS visits FROM visits GROUP BY page", "key": ["page"]}


@pytest.fixture
def volume(image: Podman) -> Iterator[str]:
    """An empty volume."""
    name = f"{NAME}-data"
    image("volume", "rm", "--force", name)
    image("volume", "create", name)
    yield name
    image("volume", "rm", "--force", name)


@contextmanager
def alone(podman: Podman, volume: str) -> Iterator[ServiceClient]:
    """The service in a container that can write to its volume and to /tmp alone."""
    (port,) = free_ports(1)
    podman(
        *("run", "--detach", "--replace", "--name", NAME, "--publish", f"127.0.0.1:{port}:8080"),
        *("--read-only", "--tmpfs", "/tmp", "--cap-drop", "all", "--env", "IVM_ACCESS=open"),
        *("--security-opt", "no-new-privileges", "--volume", f"{volume}:/data", SERVICE),
    )
    client = ServiceClient(f"http://127.0.0.1:{port}")
    try:
        await_true("the service healthy", lambda: podman.succeeds("healthcheck", "run", NAME))
        yield client
    finally:
        client.close()
        podman("rm", "--force", NAME)


def test_less_than_700_megabytes_are_pulled(image: Podman, tmp_path: Path) -> None:
    saved = tmp_path / "image"
    image("save", "--quiet", "--format", "docker-dir", "--compress", "--output", saved, SERVICE)
    assert sum(layer.stat().st_size for layer in saved.iterdir()) < MOST_BYTES


def test_the_service_has_no_rights(image: Podman) -> None:
    assert image("run", "--rm", SERVICE, "id", "--user") != "0"


def test_the_image_holds_no_tool_that_builds_or_installs(image: Podman) -> None:
    tools = "g++ gcc cython mvn javac"
    found = image("run", "--rm", SERVICE, "sh", "-c", f"command -v {tools} || true")
    assert found == ""


def test_a_service_that_is_told_to_stop_ends_well_and_goes_on_from_its_volume(
    image: Podman, volume: str
) -> None:
    with alone(image, volume) as client:
        client.put("/v1/sources/visits", VISITS)
        client.put("/v1/views/by_page", BY_PAGE)
        rows = b'{"id": 1, "page": "/"}\n{"id": 2, "page": "/"}\n'
        client.write("/v1/sources/visits/rows", rows, "application/x-ndjson", "first")
        await_true("a row", lambda: counted(client))
        image("stop", "--time", "60", NAME)
        assert image.inspected(NAME)["State"]["ExitCode"] == 0
    with alone(image, volume) as client:
        assert counted(client) == [{"page": "/", "visits": 2}]


def test_a_service_that_is_killed_goes_on_from_its_volume(image: Podman, volume: str) -> None:
    with alone(image, volume) as client:
        client.put("/v1/sources/visits", VISITS)
        client.put("/v1/views/by_page", BY_PAGE)
        client.write(
            "/v1/sources/visits/rows", b'{"id": 1, "page": "/"}\n', "application/x-ndjson", "1"
        )
        image("kill", NAME)
    with alone(image, volume) as client:
        await_true("the row", lambda: counted(client) == [{"page": "/", "visits": 1}])


def counted(client: ServiceClient) -> list[dict[str, object]]:
    """The rows of the view."""
    return list(client.get("/v1/views/by_page/rows", scan="true")["rows"])
