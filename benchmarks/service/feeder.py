"""Appends changes of accounts to their file topic until it is stopped.

    python -m benchmarks.service.feeder TOPICS URL ACCOUNTS RATE

appends RATE changes a second; with RATE 0 as many as the service at URL takes.
"""

import sys
import time
from itertools import islice
from pathlib import Path

from benchmarks.service.bank import ACCOUNTS, changes
from connectors.files.writer import TopicWriter
from ivm_client.service import ServiceClient

AHEAD = 200_000
"""How many changes it stays ahead of the service at most."""

_SEED = 7
_TICK_SECONDS = 0.02


def main() -> None:
    """Append without end."""
    topics, url, accounts, rate = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    given = changes(accounts, _SEED)
    writer = TopicWriter(topics, ACCOUNTS)
    client = ServiceClient(url)
    first, started = writer.end, time.monotonic()
    while True:
        if rate:
            due = int((time.monotonic() - started) * rate) - (writer.end - first)
        else:
            due = AHEAD - (writer.end - _applied(client))
        writer.append(list(islice(given, max(due, 0))))
        time.sleep(_TICK_SECONDS if rate else 10 * _TICK_SECONDS)


def _applied(client: ServiceClient) -> int:
    return int(client.get(f"/v1/sources/{ACCOUNTS}")["offsets"].get("0", 0))


if __name__ == "__main__":
    main()
