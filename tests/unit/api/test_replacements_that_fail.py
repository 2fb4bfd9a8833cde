"""Replacements that cannot be hydrated or kept up to date leave their view as it was."""

from typing import Any

import pytest

from tests.unit.api.orders import order
from tests.unit.api.test_failed_views import COUNTED, Service, service

__all__ = ["service"]

NUMBERS = "SELECT id AS n FROM orders"


@pytest.fixture
def numbers(service: Service) -> Service:
    """A service with a view of two numbers."""
    assert service.put("numbers", NUMBERS).status_code == 201
    service.pipeline.deliver("orders", *((order(n, "ada", "1"), 1) for n in (1, 10)))
    return service


def replace(service: Service, query: str) -> Any:
    """Put a replacement, and wait until nothing more happens by itself: its preview."""
    answer = service.client.put("/v1/views/numbers", json={"query": query, "replace": True})
    assert answer.status_code == 202, answer.text
    assert service.runtime.replacements.get("numbers").ended.wait(10)
    return service.client.get("/v1/views/numbers/replacement").json()


def approve(service: Service, version: str) -> Any:
    return service.client.post("/v1/views/numbers/approve", json={"version": version}).json()


def expect_as_it_was(service: Service, *numbers: int) -> None:
    """The view has these, and goes on."""
    assert service.view("numbers")["status"] == "running"
    assert sorted(row["n"] for row in service.rows("numbers")) == [*numbers]


def test_one_that_cannot_be_hydrated_says_why(numbers: Service) -> None:
    found = replace(numbers, COUNTED.format(end=100))
    assert found["status"] == "failed"
    assert "max_rounds" in found["reason"]
    assert approve(numbers, found["version"])["code"] == "replacement-failed"
    expect_as_it_was(numbers, 1, 10)
    assert not any("next" in name or "difference" in name for name in numbers.runtime.pool.names)


def test_one_that_fails_later_says_why(numbers: Service) -> None:
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    found = replace(numbers, COUNTED.format(end=28))
    assert found["status"] == "ready"
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    later = numbers.client.get("/v1/views/numbers/replacement").json()
    assert later["status"] == "failed"
    assert approve(numbers, found["version"])["code"] == "replacement-failed"
    numbers.pipeline.deliver("orders", (order(2, "ada", "1"), 1))
    expect_as_it_was(numbers, 1, 2, 10)


def test_another_may_be_put_after_it(numbers: Service) -> None:
    replace(numbers, COUNTED.format(end=100))
    found = replace(numbers, COUNTED.format(end=12))
    assert found["status"] == "ready"
    assert "time" in approve(numbers, found["version"])
    assert max(row["n"] for row in numbers.rows("numbers")) == 12


def test_the_same_may_be_tried_again(numbers: Service) -> None:
    query = COUNTED.format(end=28)
    assert replace(numbers, query)["status"] == "failed"
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    assert replace(numbers, query)["status"] == "ready"


def test_a_failed_one_is_discarded(numbers: Service) -> None:
    replace(numbers, COUNTED.format(end=100))
    assert numbers.client.post("/v1/views/numbers/discard").status_code == 204
    expect_as_it_was(numbers, 1, 10)


def test_a_view_that_has_failed_is_not_replaced(numbers: Service) -> None:
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    assert numbers.put("counted", COUNTED.format(end=28)).status_code == 201
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    body = {"query": NUMBERS, "replace": True}
    answer = numbers.client.put("/v1/views/counted", json=body)
    assert answer.json()["code"] == "view-failed"


def test_a_view_that_fails_while_its_replacement_waits_is_not_replaced(numbers: Service) -> None:
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    assert numbers.put("counted", COUNTED.format(end=28)).status_code == 201
    body = {"query": NUMBERS, "replace": True}
    version = numbers.client.put("/v1/views/counted", json=body).json()["version"]
    numbers.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert numbers.view("counted")["status"] == "failed"
    found = numbers.client.get("/v1/views/counted/replacement").json()
    assert found["status"] == "failed"
    answer = numbers.client.post("/v1/views/counted/approve", json={"version": version})
    assert answer.json()["code"] in ("view-failed", "replacement-failed")
    assert numbers.client.delete("/v1/views/counted").status_code == 204
