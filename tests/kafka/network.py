"""A network before a broker that delays, slices, throttles, loses or resets what passes.

The broker advertises its address, so that every client comes through it:
`Broker(directory, settings=network.advertised())`.
"""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

# Bytes that are passed on at a time, at most.
_BLOCK = 16 << 10
# Closing a connection tells the other end that it was reset.
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Weather:
    """What becomes of bytes: in slices of `slice`, each `delay` seconds late, at most so fast.

    Of each slice, a connection is reset with the probability `resets`, and with `holes` nothing
    more passes on it, though it stays open.
    """

    delay: float = 0.0
    slice: int = _BLOCK
    bytes_per_second: float = float("inf")
    resets: float = 0.0
    holes: float = 0.0


FAIR = Weather()


class Network:
    """Forwards to the broker at the address that `running` is given, as `weather` has it."""

    def __init__(self) -> None:
        self.weather = FAIR
        self._upstream = ("127.0.0.1", 0)
        self._chance = random.Random(16)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def advertised(self) -> dict[str, str]:
        """The broker's setting that leads its clients here."""
        return {"advertised.listeners": f"PLAINTEXT://{self.address}"}

    @contextmanager
    def running(self, address: str) -> Iterator[None]:
        """Forward to a broker."""
        self._upstream = ("127.0.0.1", int(address.rpartition(":")[2]))
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield
        finally:
            self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    broker = socket.create_connection(self._upstream)
                except OSError:
                    client.close()
                    continue
                for end in (client, broker):  # before either way may cut both
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for ends in ((client, broker), (broker, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_BLOCK):
                weather = self.weather
                for start in range(0, len(data), weather.slice):
                    part = data[start : start + weather.slice]
                    time.sleep(weather.delay + len(part) / weather.bytes_per_second)
                    if self._chance.random() < weather.holes:
                        while self.weather is weather:
                            time.sleep(0.05)
                    if self._chance.random() < weather.resets:
                        for end in (source, target):
                            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                        return self._cut(source, target)
                    target.sendall(part)
        return self._cut(source, target)

    def _cut(self, *ends: socket.socket) -> None:
        for end in ends:
            with suppress(OSError):
                end.close()
