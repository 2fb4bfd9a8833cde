"""A topic that takes no records concerns its view alone, whatever the cause and the moment.

The others go on, each change once; the view goes on by itself once a cause that may pass is gone,
and from a snapshot if it is put anew.
"""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from connectors.errors import BrokerRefused
from connectors.sinks.kafka.producer import TransactionalProducer
from connectors.sinks.kafka.sink import KafkaSink
from connectors.sinks.sink import Output
from ivm.errors import IvmError
from tests.faults.publishing import (
    History,
    Publishing,
    assert_exactly_once,
    folded,
    messages,
    output,
)
from tests.faults.refusing import (
    CONNECTION,
    DELETED,
    FORBIDDEN,
    SETTINGS,
    Cause,
    authorizing,
    without_making_topics,
)
from tests.kafka.broker import Broker
from tests.kafka.java import NoJars, await_true
from tests.unit.api.conftest import ORDERS
from tests.unit.api.orders import order
from tests.unit.api.test_kafka_sinks import Service, values

every_cause = pytest.mark.parametrize("cause", [FORBIDDEN, DELETED, *SETTINGS], ids=str)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that knows what its users may."""
    try:
        with authorizing(tmp_path_factory.mktemp("secured")) as broker:
            yield broker
    except NoJars as reason:
        pytest.skip(str(reason))


class World:
    """A service that publishes `b`; `a` is about to meet a topic that refuses."""

    def __init__(self, broker: Broker, directory: Path) -> None:
        self.broker = broker
        self.service = f"s{uuid.uuid4().hex[:8]}"
        self.a, self.b = (output(name, self.service) for name in ("a", "b"))
        self.histories = {"a": History(1), "b": History(2)}
        self.topic = f"{self.service}.a"
        self._directory = directory
        self.publishing = self._instance([self.b])
        self.publishing.open()
        for history in self.histories.values():
            history.at(1)
        self.publishing.deliver(self.histories)

    def _instance(self, outputs: list[Output]) -> Publishing:
        address = self.broker.addresses["SASL_PLAINTEXT"]
        return Publishing(self._directory, address, outputs, self.service, 20, **CONNECTION)

    def put(self) -> None:
        """Publish `a` from a snapshot on."""
        self.publishing.put(self.a, self.histories["a"])

    def deliver(self) -> None:
        """Publish the next time of the views that there are."""
        time = self.publishing.deliver(self.histories)
        self.histories["a"].at(time)

    def restart(self) -> None:
        """End, and start with the views that there are."""
        self.publishing.close()
        self.publishing = self._instance([self.a, self.b])
        self.publishing.restore(self.histories)

    def await_resumed(self) -> None:
        """Wait until `a` keeps pace again."""
        await_true("view a", lambda: _tended(self).stalled("a") is None, 30)
        assert self.publishing.sink.failed("a") is None

    def assert_published(self, *, anew: bool = False) -> None:
        """Readers find all of `b`, at every record of progress, and `a` as it is.

        `a` has one life, unless it was put `anew`.
        """
        for topic in (self.topic, f"{self.service}.b", f"{self.service}.progress"):
            await_true("the last commit", partial(self.broker.is_decided, topic))
        assert_exactly_once(self.broker, self.service, [self.b], self.histories)
        found = messages(self.broker, self.topic)
        lives = sorted({message.life for message in found})
        assert len(lives) == 1 or anew
        found = [message for message in found if message.life == lives[-1]]
        assert [message.sequence for message in found] == list(range(len(found)))
        last = max(self.histories["a"].states)
        assert folded(found) == self.histories["a"].states[last]
        assert max(message.time for message in found) == last


@pytest.fixture
def world(secured: Broker, tmp_path: Path) -> Iterator[World]:
    world = World(secured, tmp_path)
    yield world
    world.publishing.close()


def assert_told(error: IvmError, world: World) -> None:
    """The view and its topic are named, and the connection is not at fault."""
    assert "'a'" in str(error)
    assert repr(world.topic) in str(error)
    assert world.publishing.sink.faults() == []


@pytest.mark.parametrize("cause", [FORBIDDEN, *SETTINGS], ids=str)
def test_a_new_view_is_refused_and_can_be_put_after_the_mend(cause: Cause, world: World) -> None:
    world.put()
    world.publishing.drop("a")
    cause.do(world.broker, world.topic)
    with pytest.raises(IvmError) as caught:
        world.put()
    assert caught.value.code == cause.code
    assert_told(caught.value, world)
    world.deliver()
    cause.mend(world.broker, world.topic)
    world.put()
    world.deliver()
    world.assert_published(anew=True)


@every_cause
def test_a_topic_that_refuses_once_it_was_checked_leaves_no_view(
    cause: Cause, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put()
    world.publishing.drop("a")
    with monkeypatch.context() as amid:
        _before(amid, "begin", lambda: cause.do(world.broker, world.topic))
        with pytest.raises(IvmError) as caught:
            world.put()
    assert caught.value.code == cause.code
    assert_told(caught.value, world)
    world.deliver()
    cause.mend(world.broker, world.topic)
    world.put()
    world.deliver()
    world.assert_published(anew=True)


@every_cause
def test_a_batch_is_published_without_the_view_whose_topic_refuses(
    cause: Cause, world: World
) -> None:
    world.put()
    cause.do(world.broker, world.topic)
    world.deliver()
    world.deliver()
    _assert_isolated(cause, world)
    cause.mend(world.broker, world.topic)
    _heal(cause, world)
    world.deliver()
    world.assert_published(anew=not cause.passes)


@every_cause
def test_a_topic_that_refuses_while_its_transaction_is_open_gets_each_change_once(
    cause: Cause, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put()
    with monkeypatch.context() as amid:
        _before(amid, "commit", lambda: cause.do(world.broker, world.topic))
        world.deliver()  # which the broker may have taken before
    world.deliver()
    _assert_isolated(cause, world)
    cause.mend(world.broker, world.topic)
    _heal(cause, world)
    world.deliver()
    world.assert_published(anew=not cause.passes)


def test_a_user_who_may_not_make_topics_publishes_to_one_that_is_there(world: World) -> None:
    world.put()
    world.publishing.drop("a")
    with without_making_topics(world.broker):
        with pytest.raises(BrokerRefused, match=r"view 'c', topic .* make, describe and write"):
            world.publishing.put(output("c", world.service), world.histories["b"])
        world.put()
    world.deliver()
    world.assert_published(anew=True)


def test_the_service_tells_of_a_topic_that_refuses_and_resumes_by_itself(
    secured: Broker, tmp_path: Path
) -> None:
    service = Service(tmp_path, secured.addresses["SASL_PLAINTEXT"], **CONNECTION)
    topic = f"{service.name}.totals"
    secured.create_topic(topic)
    FORBIDDEN.do(secured, topic)
    assert service.client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    answer = service.put()
    assert (answer.status_code, answer.json()["code"]) == (503, "broker-refused")
    assert f"view 'totals', topic '{topic}': Broker: Topic auth" in answer.json()["detail"]
    assert service.client.get("/v1/views/totals").status_code == 404
    FORBIDDEN.mend(secured, topic)
    assert service.put().status_code == 201
    FORBIDDEN.do(secured, topic)
    for i in (1, 2):
        service.pipeline.deliver("orders", (order(i, "ada", "1"), 1))
    assert _sink(service)["status"] == "stalled"
    assert repr(topic) in _sink(service)["reason"]
    assert service.client.get("/readyz").status_code == 200
    assert 'ivm_sink_running{view="totals"} 0.0' in service.client.get("/metrics").text
    FORBIDDEN.mend(secured, topic)
    await_true("the sink", lambda: _sink(service)["status"] == "running", 30)
    assert 'ivm_sink_running{view="totals"} 1.0' in service.client.get("/metrics").text
    service.stop()
    await_true("the last commit", partial(secured.is_decided, topic))
    frontiers = [value["frontier"] for value in values(secured, topic) if "frontier" in value]
    assert frontiers == [0, 1, 2]


def _sink(service: Service) -> dict[str, Any]:
    sink = service.client.get("/v1/views/totals").json()["sink"]
    assert isinstance(sink, dict)
    return sink


def test_a_view_that_is_put_while_another_stalls_is_published(world: World) -> None:
    world.put()
    FORBIDDEN.do(world.broker, world.topic)
    world.deliver()
    world.publishing.put(output("c", world.service), world.histories["b"])
    assert world.publishing.sink.failed("c") is world.publishing.sink.stalled("c") is None
    world.publishing.drop("c")
    FORBIDDEN.mend(world.broker, world.topic)
    world.await_resumed()
    world.deliver()
    world.assert_published()


def test_a_view_that_stalls_when_the_service_ends_is_to_be_put_anew(world: World) -> None:
    world.put()
    FORBIDDEN.do(world.broker, world.topic)
    world.deliver()
    world.restart()
    assert (world.publishing.sink.failed("a") or "").startswith("sink-lagging")
    FORBIDDEN.mend(world.broker, world.topic)
    world.publishing.drop("a")
    world.put()
    world.deliver()
    world.assert_published(anew=True)


def test_a_view_that_stalls_keeps_no_more_than_it_may(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.sinks.kafka.view.BACKLOG_BYTES", 1)
    world.put()
    FORBIDDEN.do(world.broker, world.topic)
    world.deliver()
    world.deliver()
    assert (world.publishing.sink.failed("a") or "").startswith("sink-lagging")
    FORBIDDEN.mend(world.broker, world.topic)
    world.publishing.drop("a")
    world.put()
    world.assert_published(anew=True)


def test_a_topic_that_is_made_anew_while_its_view_stalls_stops_the_view(world: World) -> None:
    world.put()
    DELETED.do(world.broker, world.topic)
    world.deliver()
    world.broker.create_topic(world.topic, 2)
    await_true("the view's end", lambda: _tended(world).failed("a"), 30)
    assert (world.publishing.sink.failed("a") or "").startswith("topic-recreated")


def _tended(world: World) -> KafkaSink:
    publishing = world.publishing
    publishing.sink.tend(publishing.reached(publishing.journal.committed_time))
    return world.publishing.sink


def _before(monkeypatch: pytest.MonkeyPatch, call: str, do: object) -> None:
    """Have something done once, before the next `call` of a producer."""
    original = getattr(TransactionalProducer, call)
    left = [do]

    def wrapped(self: TransactionalProducer, *arguments: object) -> object:
        if left:
            left.pop()()  # type: ignore[operator]
        return original(self, *arguments)

    monkeypatch.setattr(TransactionalProducer, call, wrapped)


def _assert_isolated(cause: Cause, world: World) -> None:
    sink = world.publishing.sink
    if cause.fate == "stalls":
        reason = sink.stalled("a")
        assert sink.failed("a") is None
    else:
        reason = sink.failed("a")
        assert (reason or "").startswith(cause.code)
    assert repr(world.topic) in (reason or "")
    assert sink.failed("b") is sink.stalled("b") is None
    assert sink.faults() == []


def _heal(cause: Cause, world: World) -> None:
    """See to it that `a` is published again."""
    if cause.passes:
        world.await_resumed()
    else:
        world.publishing.drop("a")
        world.put()
