"""The registry's client: schemas by id, and what keeps them out of reach."""

import json
from collections.abc import Iterator

import pytest

from connectors.errors import RegistryUnavailable
from connectors.formats import schema_registry as module
from connectors.formats.schema_registry import Registry, RegistryConfig, registry
from connectors.formats.schemas import SchemaId
from tests.kafka.registry import Registry as Server

SCHEMA = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(module, "_PAUSES", (0.0,))
    with Server.started() as server:
        yield server


def client(server: Server) -> Registry:
    return Registry(RegistryConfig("main", server.url))


def schema_id(number: int) -> SchemaId:
    return SchemaId("id", str(number))


def test_a_schema_is_fetched_once(server: Server) -> None:
    number = server.register("people-value", SCHEMA)
    found = client(server)
    for _ in range(3):
        texts = found.texts(schema_id(number))
        assert texts is not None
        assert [json.loads(schema.text) for schema in texts] == [SCHEMA]
    assert server.requests == 1


def test_that_a_schema_does_not_exist_is_an_answer_and_remembered(server: Server) -> None:
    found = client(server)
    assert [found.texts(schema_id(7)) for _ in range(3)] == [None] * 3
    assert server.requests == 1


@pytest.mark.parametrize(
    ("status", "named"),
    [
        (500, "answers 500: .*out of order"),
        (401, "schema_registry_username"),
        (403, "schema_registry_password"),
        (302, "redirect"),
    ],
)
def test_any_other_answer_names_the_setting_to_look_at(
    server: Server, status: int, named: str
) -> None:
    server.fail(status)
    with pytest.raises(RegistryUnavailable, match=f"'main', schema_registry_url http.*{named}"):
        client(server).texts(schema_id(1))


def test_a_registry_that_was_down_is_asked_again(server: Server) -> None:
    number = server.register("people-value", SCHEMA)
    found = client(server)
    server.fail(503)
    with pytest.raises(RegistryUnavailable):
        found.texts(schema_id(number))
    server.heal()
    assert found.texts(schema_id(number)) is not None


def test_a_registry_that_does_not_listen_is_unavailable() -> None:
    with pytest.raises(RegistryUnavailable, match="schema_registry_url"):
        Registry(RegistryConfig("main", "http://127.0.0.1:1")).texts(schema_id(1))


def test_a_registry_that_hangs_is_unavailable(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.1)
    server.hang()
    with pytest.raises(RegistryUnavailable, match="timed out"):
        client(server).texts(schema_id(1))


def test_an_answer_is_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BYTES", 10)
    number = server.register("people-value", SCHEMA)
    with pytest.raises(RegistryUnavailable, match="exceeds 10 bytes"):
        client(server).texts(schema_id(number))


def test_a_schema_is_registered_under_its_subject(server: Server) -> None:
    found = client(server)
    assert found.latest("deltas-value") is None
    number = found.register("deltas-value", json.dumps(SCHEMA))
    assert found.latest("deltas-value") == (number, json.dumps(SCHEMA))


def test_a_schema_that_is_refused_is_an_error(server: Server) -> None:
    server.fail(409, 409, "incompatible")
    with pytest.raises(RegistryUnavailable, match="incompatible"):
        client(server).register("deltas-value", json.dumps(SCHEMA))


def test_a_password_is_not_shown() -> None:
    config = RegistryConfig("main", "http://user:secret@127.0.0.1:1", "user", "secret")
    assert "secret" not in repr(Registry(config))
    with pytest.raises(RegistryUnavailable) as raised:
        Registry(config).texts(schema_id(1))
    assert "secret" not in str(raised.value)


def test_a_process_has_one_client_for_a_registry() -> None:
    config = RegistryConfig("main", "http://127.0.0.1:1")
    assert registry(config) is registry(RegistryConfig("main", "http://127.0.0.1:1"))
