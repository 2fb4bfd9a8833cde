"""Apicurio Registry as a process: schemas of Avro by Confluent's API, kept in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import httpx

from api.demo.ports import free_ports
from tests.kafka.java import JavaProcess


class Apicurio:
    """A registry; `url` is where Confluent's API is, `native` where its own."""

    def __init__(self, directory: Path) -> None:
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        self.native = f"http://127.0.0.1:{port}/apis/registry/v2"
        options = ("-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={port}")
        main = "io.quarkus.runner.GeneratedMain"
        self.process = JavaProcess(directory, "registry", main, [], options)

    @classmethod
    @contextmanager
    def started(cls, directory: Path) -> Iterator[Self]:
        """A registry that runs, and is stopped in the end."""
        registry = cls(directory)
        registry.process.start(registry._answers)
        try:
            yield registry
        finally:
            registry.process.kill()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/subjects").is_success
        except httpx.TransportError:
            return False
