"""The small registry answers as the real one does, and fails on command."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.kafka.apicurio import Apicurio
from tests.kafka.java import NoJars
from tests.kafka.registry import Registry

SCHEMA = {"type": "record", "name": "person", "fields": [{"name": "id", "type": "long"}]}
WIDER = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "age", "type": "int", "default": 0}]}


@pytest.fixture(scope="module", params=["small", pytest.param("apicurio", marks=pytest.mark.jvm)])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if request.param == "small":
        with Registry.started() as small:
            yield small.url
        return
    try:
        with Apicurio.started(tmp_path_factory.mktemp("apicurio")) as apicurio:
            yield apicurio.url
    except NoJars as reason:
        pytest.skip(str(reason))


def register(url: str, subject: str, schema: Any) -> Any:
    body = {"schema": json.dumps(schema)}
    return httpx.post(f"{url}/subjects/{subject}/versions", json=body).raise_for_status().json()


def test_a_schema_is_found_by_its_id_and_by_its_subject(url: str) -> None:
    number = register(url, "people-value", SCHEMA)["id"]
    by_id = httpx.get(f"{url}/schemas/ids/{number}").json()
    latest = httpx.get(f"{url}/subjects/people-value/versions/latest").json()
    assert json.loads(by_id["schema"]) == json.loads(latest["schema"]) == SCHEMA
    assert (latest["subject"], latest["version"], latest["id"]) == ("people-value", 1, number)
    assert "people-value" in httpx.get(f"{url}/subjects").json()


def test_the_same_schema_keeps_its_id_and_a_new_one_is_the_next_version(url: str) -> None:
    first = register(url, "growing-value", SCHEMA)["id"]
    assert register(url, "growing-value", SCHEMA)["id"] == first
    assert register(url, "growing-value", WIDER)["id"] != first
    assert httpx.get(f"{url}/subjects/growing-value/versions").json() == [1, 2]
    assert httpx.get(f"{url}/subjects/growing-value/versions/1").json()["id"] == first


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("schemas/ids/999999", 40403),
        ("subjects/nobody/versions/latest", 40401),
        ("subjects/growing-value/versions/77", 40402),
    ],
)
def test_what_is_not_there_has_a_code(url: str, path: str, code: int) -> None:
    register(url, "growing-value", SCHEMA)
    answer = httpx.get(f"{url}/{path}")
    assert (answer.status_code, answer.json()["error_code"]) == (404, code)


def test_a_schema_that_is_none_is_refused(url: str) -> None:
    answer = httpx.post(f"{url}/subjects/bad-value/versions", json={"schema": '{"type": '})
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)


def test_the_small_one_fails_and_heals_on_command() -> None:
    with Registry.started() as small:
        small.register("people-value", SCHEMA)
        small.fail(500)
        assert httpx.get(f"{small.url}/subjects").status_code == 500
        small.fail(409, 409, "incompatible")
        assert httpx.get(f"{small.url}/subjects").json()["error_code"] == 409
        small.heal()
        assert httpx.get(f"{small.url}/subjects").json() == ["people-value"]


def test_the_small_one_hangs_on_command() -> None:
    with Registry.started() as small:
        small.hang()
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{small.url}/subjects", timeout=0.3)
        small.heal()
        assert httpx.get(f"{small.url}/subjects").json() == []
