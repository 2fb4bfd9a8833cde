"""Looks rows up by key over connections that stay, each asking again once it is answered.

    python -m benchmarks.service.asker PORT CONNECTIONS SECONDS KEYS [API_KEY]

prints a JSON array of the milliseconds that each look-up took. Requests are written and answers
read by hand: a client like httpx would take more of a processor than the service does.
"""

import json
import re
import selectors
import socket
import sys
import time
from random import Random

VIEW = "balances"

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_HEAD = "GET /v1/views/{view}/rows?id={key} HTTP/1.1\r\nhost: localhost\r\n{more}\r\n"


class Connection:
    """A connection with one look-up at a time."""

    def __init__(self, port: int, api_key: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._more = f"authorization: Bearer {api_key}\r\n" if api_key else ""
        self._got = b""
        self._asked = 0.0

    def ask(self, key: int) -> None:
        """Send a look-up."""
        request = _HEAD.format(view=VIEW, key=key, more=self._more).encode()
        self._got, self._asked = b"", time.perf_counter()
        self.socket.sendall(request)

    def answered(self) -> float | None:
        """Read what is there: the milliseconds since it was asked, once the answer is whole."""
        self._got += self.socket.recv(1 << 16)
        head, end, body = self._got.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not end or length is None or len(body) < int(length[1]):
            return None
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"a look-up failed: {self._got!r}")
        return 1_000 * (time.perf_counter() - self._asked)


def main() -> None:
    """Ask for so many seconds."""
    port, connections, seconds, keys = map(int, sys.argv[1:5])
    api_key = "".join(sys.argv[5:])
    random = Random(11)
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        connection = Connection(port, api_key)
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        connection.ask(random.randrange(keys))
    taken: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for found, _ in selector.select():
            connection = found.data
            if (milliseconds := connection.answered()) is not None:
                taken.append(milliseconds)
                connection.ask(random.randrange(keys))
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
