"""What a reader of committed output sees of one delta topic, and when."""

import threading
import time
from typing import Any

import orjson
from confluent_kafka import Consumer, TopicPartition


class Reader:
    """Follows all partitions of a topic from its beginning, on a thread of its own.

    `latencies` has the seconds from the `sent` of each row that was added until it was read, where
    rows have one; `deltas` counts what was read.
    """

    def __init__(self, address: str, topic: str) -> None:
        self.deltas = 0
        self.latencies: list[float] = []
        options = {
            "bootstrap.servers": address,
            "group.id": f"benchmark.{topic}",
            "isolation.level": "read_committed",
            "socket.nagle.disable": True,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
        }
        self._consumer = Consumer(options)
        partitions = self._consumer.list_topics(topic, timeout=10).topics[topic].partitions
        self._consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read no more."""
        self._stopped.set()
        self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        while not self._stopped.is_set():
            message = self._consumer.poll(0.1)
            value = message.value() if message is not None else None
            if value is not None:
                self._count(orjson.loads(value), time.time())

    def _count(self, line: dict[str, Any], now: float) -> None:
        if "row" not in line:
            return
        self.deltas += 1
        sent = line["row"].get("sent")
        if line["diff"] > 0 and sent is not None:
            self.latencies.append(now - sent / 1e6)
