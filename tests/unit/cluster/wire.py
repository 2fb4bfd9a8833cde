"""The wire between the processes of a cluster: proxies that keep all that they forward."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from ivm.cluster.links import Address


class Wire:
    """Proxies in front of addresses, and what has gone over each of them either way."""

    def __init__(self) -> None:
        self.heard: dict[Address, bytearray] = {}
        self._proxies: dict[Address, socket.socket] = {}

    def before(self, address: Address) -> Address:
        """The address of the proxy in front of this one."""
        if address not in self._proxies:
            self._proxies[address] = socket.create_server(("127.0.0.1", 0))
            self.heard[address] = bytearray()
            self._start(self._accept, self._proxies[address], address)
        host, port = self._proxies[address].getsockname()
        return host, port

    def close(self) -> None:
        """Let nobody connect any more; what is connected stays until one of its ends goes."""
        for proxy in self._proxies.values():
            proxy.shutdown(socket.SHUT_RDWR)
            proxy.close()

    def _accept(self, proxy: socket.socket, address: Address) -> None:
        with suppress(OSError):
            while True:
                ends = proxy.accept()[0], socket.create_connection(address)
                for source, target in (ends, reversed(ends)):
                    self._start(self._forward, source, target, self.heard[address])

    def _forward(self, source: socket.socket, target: socket.socket, heard: bytearray) -> None:
        with suppress(OSError), source, target:
            while said := source.recv(1 << 16):
                heard += said
                target.sendall(said)
            target.shutdown(socket.SHUT_RDWR)

    def _start(self, run: Callable[..., None], *arguments: object) -> None:
        Thread(target=run, args=arguments, daemon=True).start()
