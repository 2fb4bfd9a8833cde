"""Settings of topics under which a source or a sink loses what it will need are told."""

import pytest

from api.cli.topics import on_replicas, on_sink, on_source
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import SCHEMA

DAY = 24 * 3600 * 1000


def source(**members: str) -> TableSpec:
    given = {"connector": "kafka", "connection": "main", **members}
    return TableSpec("people", "people", SCHEMA, ("id",), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "settings", "found"),
    [
        ({}, {"cleanup.policy": "delete", "retention.ms": str(7 * DAY)}, []),
        ({}, {"cleanup.policy": "delete", "retention.ms": "-1"}, []),
        ({}, {"cleanup.policy": "delete", "retention.ms": str(DAY - 1)}, ["retention.ms"]),
        ({}, {"cleanup.policy": "compact", "delete.retention.ms": str(DAY)}, []),
        ({}, {"cleanup.policy": "compact", "delete.retention.ms": "100"}, ["delete.retention.ms"]),
        ({"replica_identity": "full"}, {"cleanup.policy": "compact"}, ["cleanup.policy"]),
    ],
)
def test_a_source_is_to_find_what_it_has_not_read(
    members: dict[str, str], settings: dict[str, str], found: list[str]
) -> None:
    assert [told.split(" is ")[0] for told in on_source(source(**members), settings)] == found


@pytest.mark.parametrize(
    ("envelope", "settings", "is_told"),
    [
        ("delta", {"cleanup.policy": "delete", "retention.ms": "1000"}, False),
        ("delta", {"cleanup.policy": "compact"}, True),
        ("upsert", {"cleanup.policy": "compact"}, False),
        ("upsert", {"cleanup.policy": "delete", "retention.ms": "1000"}, True),
        ("upsert", {"cleanup.policy": "delete", "retention.ms": "-1"}, False),
    ],
)
def test_readers_of_a_sink_are_to_find_all_rows(
    envelope: str, settings: dict[str, str], is_told: bool
) -> None:
    target = KafkaTarget("main", "totals", envelope)  # type: ignore[arg-type]
    assert bool([*on_sink(target, settings)]) == is_told


@pytest.mark.parametrize(
    ("replicas", "in_sync", "is_told"), [(3, 2, False), (2, 2, True), (1, 0, True)]
)
def test_a_broker_may_be_away(replicas: int, in_sync: int, is_told: bool) -> None:
    found = [*on_replicas(replicas, {"min.insync.replicas": str(in_sync)})]
    assert bool(found) == is_told
