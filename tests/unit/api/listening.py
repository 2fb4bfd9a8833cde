"""A service that listens on a real socket, and clients that connect and never read."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from api.app import create_app
from api.runtime import Runtime
from api.serve import listening, server

Address = tuple[str, int]


@contextmanager
def served(runtime: Runtime) -> Iterator[Address]:
    """The address at which a service of this runtime listens, once it is ready."""
    with listening("127.0.0.1", 0, runtime.settings.send_seconds) as listener:
        serving = server(create_app(runtime))
        thread = threading.Thread(target=serving.run, args=([listener],))
        thread.start()
        runtime.readiness.wait()
        yield listener.getsockname()
        serving.should_exit = True
        thread.join()


def unread(
    address: Address, path: str, received: int = 4096, host: str = "127.0.0.1"
) -> socket.socket:
    """A connection from `host` that has asked for `path`, and reads nothing by itself."""
    connection = socket.socket()
    connection.bind((host, 0))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received)
    connection.connect(address)
    connection.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
    return connection


def rest(connection: socket.socket) -> bytes:
    """Everything that comes until the service closes the connection."""
    connection.settimeout(30)
    found = bytearray()
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return bytes(found)
