"""The status of a view and of a source: planned, hydrating, running, stalled, failed."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.console.looks import Looks
from api.runtime import Runtime
from api.services.views import Views
from api.status import view_status
from ivm.installed import filling
from ivm.runtime import hydration
from ivm.runtime.hydration import Hydration
from tests.unit.api.conftest import ORDERS, TOTALS
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.filed import make_runtime as filed_runtime
from tests.unit.api.filed import pipeline_of, write_rows
from tests.unit.api.listening import served
from tests.unit.api.orders import order
from tests.unit.api.test_cli_json import run

SPENT = {"query": "SELECT day, sum(amount) AS spent FROM orders GROUP BY day"}
PATIENCE = 30.0


class Halt:
    """A hydration stands still before its first operator, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        halt = self

        class Halted(Hydration):
            def begin(self) -> None:
                halt.reached.set()
                assert halt.go_on.wait(PATIENCE)
                super().begin()

        monkeypatch.setattr(filling, "Hydration", Halted)
        monkeypatch.setattr(hydration, "LITTLE", -1)  # nothing is hydrated at once

    @contextmanager
    def beside(self, work: Callable[[], Any]) -> Iterator[list[Any]]:
        """Do work that hydrates something; the context is between its beginning and its end."""
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.append(work()))
        thread.start()
        try:
            assert self.reached.wait(PATIENCE)
            yield answers
        finally:
            self.go_on.set()
            thread.join()


@pytest.fixture
def halt(pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch) -> Halt:
    """Of a service with rows and the view `totals`."""
    pipeline.deliver("orders", (order(1, "ada", "1.00"), 1))
    return Halt(monkeypatch)


def view(client: TestClient, name: str) -> Any:
    return client.get(f"/v1/views/{name}").json()


def test_a_view_whose_put_is_not_answered_yet_is_hydrating(client: TestClient, halt: Halt) -> None:
    with halt.beside(lambda: client.put("/v1/views/spent", json=SPENT)) as answers:
        found = view(client, "spent")
        assert (found["status"], found["query"]) == ("hydrating", SPENT["query"])
        assert (found["hydrated"]["done"], found["hydrated"]["percent"]) == (0, 0)
        assert found["hydrated"]["of"] > 1
        listed = client.get("/v1/views").json()["views"]
        assert [(one["name"], one["status"]) for one in listed] == [
            ("totals", "running"),
            ("spent", "hydrating"),
        ]
    assert answers[0].status_code == 201
    assert (answers[0].json()["status"], "hydrated" in answers[0].json()) == ("running", False)


def test_the_console_shows_a_view_while_it_fills(
    client: TestClient, halt: Halt, runtime: Runtime
) -> None:
    with halt.beside(lambda: client.put("/v1/views/spent", json=SPENT)):
        rows = Looks(runtime).look().views
        assert {row["view"]: row["state"] for row in rows} == {
            "totals": "running",
            "spent": "hydrating 0%",
        }


def test_a_view_that_waits_for_its_turn_is_planned(
    client: TestClient, pipeline: DirectPipeline, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    install = Views._install

    def looking(self: Views, *given: Any) -> Any:
        told.append(view(client, "spent")["status"])
        return install(self, *given)

    monkeypatch.setattr(Views, "_install", looking)
    assert client.put("/v1/views/spent", json=SPENT).status_code == 201
    assert told == ["planned"]


def test_a_view_that_is_refused_is_there_no_more(client: TestClient, halt: Halt) -> None:
    body = SPENT | {"key": ["spent"], "sink": {"connection": "none", "topic": "t"}}
    assert client.put("/v1/views/spent", json=body).status_code == 422
    assert client.get("/v1/views/spent").status_code == 404
    assert [one["name"] for one in client.get("/v1/views").json()["views"]] == ["totals"]


def test_a_replacement_tells_how_far_the_present_dataflow_is(
    client: TestClient, halt: Halt
) -> None:
    body = {"query": TOTALS["query"] + " HAVING count(*) > 1", "replace": True}
    with halt.beside(lambda: client.put("/v1/views/totals", json=body)):
        found = client.get("/v1/views/totals/replacement").json()
        assert (found["status"], found["hydrated"]) == (
            "hydrating",
            {"done": 0, "of": 1, "percent": 0},
        )
        assert view(client, "totals")["status"] == "running"


def test_a_view_stands_still_with_a_source_that_it_reads(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    pipeline.stalled = {"orders": "topic 'orders' was deleted"}
    assert (view(client, "totals")["status"], view(client, "totals")["stalled"]) == (
        "stalled",
        "topic 'orders' was deleted",
    )
    assert client.get("/v1/sources/orders").json()["status"] == "stalled"
    pipeline.stalled = {}
    assert view(client, "totals")["status"] == "running"
    assert client.get("/v1/sources/orders").json()["status"] == "running"


def test_views_of_a_start_are_planned_until_their_turn_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TestClient(create_app(filed_runtime(tmp_path))) as client:
        assert client.put("/v1/sources/orders", json=ORDERS).is_success
        for name in ("a", "b"):
            assert client.put(f"/v1/views/{name}", json=SPENT).is_success
    told: list[Any] = []
    runtime = filed_runtime(tmp_path)
    restore = runtime.applier.restore

    def looking(output: Any, *given: Any, **options: Any) -> None:
        told.append([view_status(runtime, name)[0] for name in ("a", "b")])
        restore(output, *given, **options)

    monkeypatch.setattr(runtime.applier, "restore", looking)
    with TestClient(create_app(runtime)) as client:
        runtime.readiness.wait()
        assert [view(client, name)["status"] for name in ("a", "b")] == ["running", "running"]
    assert told == [["planned", "planned"], ["replaying", "planned"]]


def test_a_source_is_hydrating_until_it_has_what_was_there(tmp_path: Path) -> None:
    runtime = filed_runtime(tmp_path)
    with TestClient(create_app(runtime)) as client:
        write_rows(tmp_path, "late", *(({"id": n}, 1) for n in range(5)))
        body = {"columns": [{"name": "id", "type": "bigint", "nullable": False}], "key": ["id"]}
        put = client.put("/v1/sources/late", json=body | {"replica_identity": "full"})
        assert put.is_success, put.text
        pipeline_of(runtime).step(2)
        found = client.get("/v1/sources/late").json()
        assert (found["status"], found["hydrated"]) == (
            "hydrating",
            {"done": 2, "of": 5, "percent": 40},
        )
        pipeline_of(runtime).step()
        found = client.get("/v1/sources/late").json()
        assert (found["status"], "hydrated" in found) == ("running", False)


def test_the_command_line_tells_how_far_a_view_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = filed_runtime(tmp_path)
    with served(runtime) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        columns = ["--column", "id bigint", "--column", "day date", "--column", "amount bigint"]
        run("source", "create", "orders", "--topic", "orders", *columns, "--key", "id")
        write_rows(tmp_path, "orders", ({"id": 1, "day": "2024-01-01", "amount": 7}, 1))
        pipeline_of(runtime).step()
        halt = Halt(monkeypatch)
        create = ["view", "create", "spent", SPENT["query"], "--json"]
        with halt.beside(lambda: run(*create)) as printed:
            assert "hydrating 0%" in run("view", "list")
            assert json.loads(run("view", "show", "spent", "--json"))["status"] == "hydrating"
            assert "hydrating 0%" in run("top", "-n", "1")
        assert json.loads(printed[0])["status"] == "running"
