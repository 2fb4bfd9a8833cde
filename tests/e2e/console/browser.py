"""A service over file topics, and Debian's Chromium, which looks at its console.

A process has one console, as NiceGUI has one application, so there is one such service in it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, ViewportSize, sync_playwright

from api.runtime import Runtime
from connectors.files.writer import TopicWriter
from ivm_client import Client
from tests.unit.api.filed import FilePipeline, close_all, make_runtime, pipeline_of
from tests.unit.api.listening import served

COLUMNS = {"id": "bigint", "customer": "text", "amount": "numeric(12, 2)"}
TOTALS = "SELECT customer, count(*) AS orders, sum(amount) AS total FROM orders GROUP BY customer"
WINDOW: ViewportSize = {"width": 1280, "height": 800}


class NoBrowser(RuntimeError):
    """The machine has no Chromium."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service with the table `orders` and the view `totals`, and a client of it."""

    url: str
    runtime: Runtime
    client: Client

    @property
    def pipeline(self) -> FilePipeline:
        return pipeline_of(self.runtime)

    def write(self, *rows: tuple[int, str, str]) -> None:
        """Write rows of `orders`; they are reflected on return."""
        self.client.write(
            "orders", [{"id": i, "customer": c, "amount": amount} for i, c, amount in rows]
        )
        self.pipeline.step()

    def quarantine(self, record: bytes) -> None:
        """Let a table `people` read a record that it cannot decode."""
        columns = [{"name": "id", "type": "bigint"}]
        self.client.create_source("people", columns=columns, key=["id"])
        writer = TopicWriter(self.runtime.topics, "people")
        writer.append([record])
        writer.close()
        self.pipeline.step()


@contextmanager
def serving(data: Path) -> Iterator[Service]:
    """A service that has `orders`, some rows of it, and `totals`."""
    runtime = make_runtime(data)
    with served(runtime) as (host, port), Client(f"http://{host}:{port}") as client:
        client.create_table("orders", COLUMNS, key=["id"])
        client.create_view("totals", TOTALS)
        found = Service(client.url, runtime, client)
        found.write((1, "ada", "2.50"), (2, "ada", "5.00"), (3, "bob", "1.25"))
        yield found
    close_all()


@contextmanager
def looking(url: str) -> Iterator[BrowserContext]:
    """A browser to which no host exists but this one, with a cache that its pages share.

    Raises NoBrowser.
    """
    executable = shutil.which("chromium")
    if executable is None:
        raise NoBrowser("there is no Chromium (Debian's package `chromium`)")
    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield chromium.new_context(base_url=f"{url}/console/", viewport=WINDOW)
        chromium.close()
