"""Of an error in another process only name and message come back; its table is among them."""

import pytest

from connectors.attribution import reading, told
from connectors.errors import BrokerFault, RegistryUnavailable, Stalled, TopicTruncated
from connectors.spark.query import _failure
from ivm.errors import IvmError


@pytest.mark.parametrize("kind", [TopicTruncated, RegistryUnavailable])
def test_an_error_of_reading_goes_on_with_its_table(kind: type[IvmError]) -> None:
    with pytest.raises(kind, match=r"^table 'people': gone$"), reading("people"):
        raise kind("gone")


def test_other_errors_go_on_as_they_are() -> None:
    with pytest.raises(OSError, match=r"^full$"), reading("people"):
        raise OSError("full")


def test_the_table_of_a_message_is_found() -> None:
    assert told(Stalled, "table 'people': gone").table == "people"
    assert told(Stalled, "topic 'people': gone").table is None
    assert told(RegistryUnavailable, "table 'people': away").table == "people"


def test_the_setting_of_a_message_is_found() -> None:
    fault = told(BrokerFault, "connections.main.bootstrap_servers: no answer")
    assert (fault.part, fault.setting) == ("connection main", "connections.main.bootstrap_servers")
    assert told(BrokerFault, "no answer").part == "kafka"


def test_a_report_of_sparks_tells_the_table() -> None:
    report = """Job aborted: Traceback (most recent call last):
connectors.errors.TopicTruncated: /data/0.jsonl: shorter

The above exception was the direct cause of the following exception:

connectors.errors.TopicTruncated: table 'people': /data/0.jsonl: shorter

\tat org.apache.spark.sql"""
    cause = _failure(report).cause
    assert isinstance(cause, TopicTruncated)
    assert (cause.table, str(cause)) == ("people", "table 'people': /data/0.jsonl: shorter")
