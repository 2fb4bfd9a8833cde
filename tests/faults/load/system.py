"""A broker, the service, and a producer that goes on while something is done to them."""

import json
import math
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from api.demo.ports import free_ports
from api.demo.service import Service
from ivm_client.errors import ClientError
from ivm_client.service import ServiceClient
from tests.faults.load.criteria import Verdict, judge
from tests.faults.load.shop import PARTITIONS, TOPICS, Shop
from tests.faults.load.views import VIEWS, Rows
from tests.kafka.broker import Broker

COLUMNS = {
    "customers": {"id": "int64", "segment": "utf8"},
    "orders": {"id": "int64", "customer_id": "int64", "status": "utf8"},
    "items": {"id": "int64", "order_id": "int64", "amount": "int32"},
}
CAUGHT_UP_SECONDS = 180.0
_TICK = 0.05


@dataclass(frozen=True, slots=True)
class Load:
    """So many changes each second for so many seconds, of so many keys; a seed.

    The seconds may be infinite: until `System.judge`. `points`: at how many points of its work the
    service is killed.
    """

    rate: int
    seconds: float
    keys: int
    points: int
    seed: int = 1


# The first in `make faults`, the second in `make soak`.
LOADS = {
    "short": Load(rate=300, seconds=20, keys=2_000, points=2),
    "long": Load(rate=2_000, seconds=120, keys=200_000, points=40),
}


class System:
    """Everything runs once `start` returns; `judge` waits until all is reflected."""

    def __init__(
        self,
        directory: Path,
        broker: Broker,
        load: Load,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`settings`: further variables of the service's environment."""
        self.broker = broker
        self.load = load
        self.settings = dict(settings)
        self._shop = Shop(load.seed, load.keys)
        self._data = directory / "data"
        self._data.mkdir()
        self.service = self._new_service(self._data)
        self._client = ServiceClient(self.service.url)
        self._refused: list[KafkaError] = []
        self._is_judged = threading.Event()
        self._feeder = threading.Thread(target=self._feed, name="feeder", daemon=True)

    def _new_service(self, data: Path) -> Service:
        connections = {"main": {"bootstrap_servers": self.broker.address}}
        settings = {"IVM_CONNECTIONS": json.dumps(connections), "IVM_CHECKPOINT_SECONDS": "3"}
        return Service(data, free_ports(1)[0], {**settings, **self.settings})

    def go_on_elsewhere(self) -> Service:
        """Go on with another service, on a copy of the data as they stand; the former one."""
        former = self.service
        copy = self._data.with_name("copy")
        shutil.copytree(self._data, copy)
        self.service = self._new_service(copy)
        self._client.close()
        self._client = ServiceClient(self.service.url)
        self.service.start()
        return former

    def restart(self, settings: Mapping[str, str]) -> None:
        """Go on with another service of these settings, on the same data; the former one ended."""
        self.settings = dict(settings)
        self.service = self._new_service(self._data)
        self._client.close()
        self._client = ServiceClient(self.service.url)
        self.service.start()
        self.await_ready()

    def start(self) -> None:
        """Declare the tables and views, and let the changes come."""
        for topic in TOPICS:
            self.broker.create_topic(topic, PARTITIONS)
        self.service.start()
        self.service.wait_ready()
        for topic, columns in COLUMNS.items():
            declared = [{"name": n, "type": t, "nullable": False} for n, t in columns.items()]
            source = {"connector": "kafka", "connection": "main", "columns": declared}
            self._client.put(f"/v1/sources/{topic}", {**source, "key": ["id"]})
        for name, view in VIEWS.items():
            sink = {"connector": "kafka", "connection": "main", "topic": name, "partitions": 2}
            self._client.put(f"/v1/views/{name}", {"query": view.query, "sink": sink})
        self._feeder.start()

    def wait(self, share: float) -> None:
        """Let changes come for this share of the load's time."""
        time.sleep(share * self.load.seconds)

    def await_ready(self) -> None:
        """Wait until the service is ready (raises DemoFailed with the end of its log)."""
        self.service.wait_ready()

    def judge(self) -> dict[str, Verdict]:
        """The verdict of every view, once all that was fed is reflected."""
        if self.load.seconds == math.inf:
            self._is_judged.set()
        self._feeder.join()
        assert not self._refused, self._refused
        _until(self._is_caught_up, CAUGHT_UP_SECONDS, "not everything is reflected")
        for name in VIEWS:
            decided = partial(self.broker.is_decided, name)
            _until(decided, CAUGHT_UP_SECONDS, f"a transaction is open in topic {name}")
        verdicts = {name: self._judged(name) for name in VIEWS}
        for name, verdict in verdicts.items():
            assert self._looked_up(name) == verdict.rows, f"look-ups in {name} find something else"
        return verdicts

    def _judged(self, view: str) -> Verdict:
        return judge(view, self.broker.read_committed(view), self._shop)

    def _looked_up(self, view: str) -> Rows:
        found: Rows = Counter()
        page: dict[str, Any] = {"next": None}
        while "next" in page:
            asked = {"cursor": page["next"]} if page["next"] else {}
            page = self._client.get(f"/v1/views/{view}/rows", scan="true", limit=5_000, **asked)
            found.update(tuple(row.values()) for row in page["rows"])
        return found

    def _is_caught_up(self) -> bool:
        try:
            sources = self._client.get("/v1/sources")["sources"]
        except ClientError:
            return False
        reached = {s["topic"]: {int(p): end for p, end in s["offsets"].items()} for s in sources}
        return reached == {
            t: {p: n for p, n in e.items() if n} for t, e in self._shop.ends().items()
        }

    def _feed(self) -> None:
        options = {"bootstrap.servers": self.broker.address, "enable.idempotence": True}
        producer = Producer({**options, "message.timeout.ms": 300_000})
        started, sent = time.monotonic(), 0
        while (passed := time.monotonic() - started) < self.load.seconds:
            if self._is_judged.is_set():
                break
            for _ in range(int(passed * self.load.rate) - sent):
                topic, record = self._shop.next()
                producer.produce(
                    topic, record.value, record.key, record.partition, on_delivery=self._delivered
                )
                sent += 1
            producer.poll(_TICK)
        producer.flush()

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._refused.append(error)

    def stop(self) -> None:
        """End the service."""
        self._client.close()
        self.service.stop()


def _until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what} after {seconds:g} s"
        time.sleep(0.1)
