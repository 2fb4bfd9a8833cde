"""The services of `docker/compose.yaml`, each published on a free port of loopback."""

import sys
from collections.abc import Mapping
from types import MappingProxyType

from psycopg import Connection, connect

from api.demo.ports import free_ports
from ivm_client.service import ServiceClient
from tests.containers.images import SERVICE
from tests.containers.podman import ROOT, Podman
from tests.kafka.client import Kafka
from tests.kafka.java import await_true

PROJECT = "ivm-test"
# Podman's form of `healthcheck: {disable: true}`.
_NO_CHECK = ["NONE"]
_PORTS = ("IVM", "BROKER", "REGISTRY", "POSTGRES", "CONNECT", "PROMETHEUS")


class Stack:
    """A project of compose: brought up, its services restarted, and taken down."""

    def __init__(
        self,
        podman: Podman,
        *profiles: str,
        project: str = PROJECT,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`variables` are those of the file, beside the ports."""
        self._podman = podman
        self.project = project
        self._profiles = [word for each in profiles for word in ("--profile", each)]
        numbers = free_ports(len(_PORTS))
        self.ports: Mapping[str, int] = dict(zip(_PORTS, numbers, strict=True))
        ports = {f"{name}_PORT": str(port) for name, port in self.ports.items()}
        self._variables = {**ports, **variables}
        self.client = ServiceClient(f"http://127.0.0.1:{self.ports['IVM']}")
        self.kafka = Kafka(f"127.0.0.1:{self.ports['BROKER']}")

    def compose(self, *arguments: str, image: str = SERVICE) -> None:
        """Run podman-compose over the file (raises CalledProcessError)."""
        program = (sys.executable, "-m", "podman_compose", "--project-name", self.project)
        file = ("--file", str(ROOT / "docker" / "compose.yaml"))
        self._podman.run(
            *program,
            *file,
            *self._profiles,
            *arguments,
            more=self._variables | {"IVM_IMAGE": image},
        )

    def up(self, *services: str, image: str = SERVICE) -> None:
        """Bring services up, and wait until they are healthy."""
        self.compose("up", "--detach", "--no-build", *services, image=image)
        for service in services:
            self.await_healthy(service)

    def await_healthy(self, service: str) -> None:
        """Wait until a service is healthy.

        Its check is run from here: podman's own timer is systemd's, which may not be there.
        """
        container = self.container(service)
        check = self._podman.inspected(container)["Config"].get("Healthcheck", {})
        if check.get("Test", _NO_CHECK) != _NO_CHECK:
            await_true(
                f"{service} healthy",
                lambda: self._podman.succeeds("healthcheck", "run", container),
            )

    def down(self, *options: str) -> None:
        """Take all down; volumes stay but with `--volumes`."""
        self.compose("down", *options)

    def container(self, service: str) -> str:
        """The name of a service's container."""
        return f"{self.project}_{service}_1"

    def database(self) -> Connection[tuple[object, ...]]:
        """A connection to PostgreSQL, in autocommit."""
        return connect(
            host="127.0.0.1",
            port=self.ports["POSTGRES"],
            user="postgres",
            password="postgres",
            dbname="postgres",
            autocommit=True,
        )
