"""A broker on localhost:9092, in the foreground, until it is interrupted: `make kafka`.

Its records outlive it: the next one on the same directory has them.
"""

import signal
import sys
from pathlib import Path
from types import FrameType

from tests.kafka.broker import Broker

PORT = 9092


def main(directory: Path) -> None:
    """Run a broker in `directory` until SIGINT or SIGTERM."""
    signal.signal(signal.SIGTERM, _interrupt)
    broker = Broker(directory, port=PORT)
    broker.start()
    print(f"Kafka listens on localhost:{PORT}, its records are in {directory}; Ctrl-C stops it")
    try:
        broker.process.wait()
    except KeyboardInterrupt:
        broker.stop()
    else:
        sys.exit(f"Kafka ended:\n{broker.process.tail()}")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
