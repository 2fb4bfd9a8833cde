"""Podman, the service's image, and the whole of the compose file, once for all tests here."""

from collections.abc import Iterator

import pytest

from tests.containers.images import STANDINS, build_service, build_standins
from tests.containers.podman import NoContainers, Podman
from tests.containers.stack import Stack


@pytest.fixture(scope="session")
def podman() -> Podman:
    try:
        return Podman()
    except NoContainers as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def image(podman: Podman) -> Podman:
    """Podman, with the service's image in its store."""
    build_service(podman)
    return podman


@pytest.fixture(scope="session")
def stack(image: Podman) -> Iterator[Stack]:
    """The shop, captured and watched; a test leaves every service running."""
    build_standins(image, *STANDINS)
    stack = Stack(image, "cdc", "observability")
    stack.down("--volumes")  # what a run that was killed left
    try:
        stack.up("broker", "postgres", "registry", "ivm")
        stack.up("connect", "shop", "prometheus")
        yield stack
    finally:
        stack.down("--volumes")
        stack.client.close()
