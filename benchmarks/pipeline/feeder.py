"""Produces the changes of `records`, in a process of its own.

    python -m benchmarks.pipeline.feeder ADDRESS CUSTOMERS ORDERS ITEMS

reads orders from its input, a line each, and answers each with a line when it is carried out:
`stock` produces every row once; `more N` the next N changes, as fast as they go; `pace N R` the
next N changes, R of them a second.
"""

import sys
import time
from collections.abc import Iterable
from itertools import islice

from confluent_kafka import KafkaError, Message, Producer

from benchmarks.pipeline.records import ITEMS, Change, changes, stock

SEED = 5
_TICK_SECONDS = 0.005


class Feeder:
    """A producer that fails with the first message that the broker does not take."""

    def __init__(self, address: str) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "linger.ms": 5,
                "compression.type": "lz4",
                "socket.nagle.disable": True,
            }
        )

    def feed(self, given: Iterable[Change]) -> None:
        """Produce `given`; `flush` waits until they are taken."""
        for topic, key, before, after in given:
            tail = b"%d}%b" % (time.time_ns() // 1000, after) if topic == ITEMS else after
            while True:
                try:
                    self._producer.produce(topic, before + tail, key, on_delivery=_check)
                    break
                except BufferError:
                    self._producer.poll(0.05)
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until everything is taken."""
        self._producer.flush()


def _check(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        raise SystemExit(f"the broker did not take a message: {error}")


def main() -> None:
    """Carry out the orders until the input ends."""
    feeder = Feeder(sys.argv[1])
    rows = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    given = changes(*rows, SEED)
    for line in sys.stdin:
        match line.split():
            case ["stock"]:
                feeder.feed(stock(*rows))
            case ["more", count]:
                feeder.feed(islice(given, int(count)))
            case ["pace", count, rate]:
                _pace(feeder, given, int(count), int(rate))
        feeder.flush()
        print("done", flush=True)


def _pace(feeder: Feeder, given: Iterable[Change], count: int, rate: int) -> None:
    """A late tick is made up for by the next."""
    started = time.monotonic()
    done = 0
    while done < count:
        due = min(count, int((time.monotonic() - started) * rate))
        feeder.feed(islice(given, due - done))
        done = due
        time.sleep(_TICK_SECONDS)


if __name__ == "__main__":
    main()
