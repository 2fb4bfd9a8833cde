"""Ports for processes that are killed and started again at the same address."""

import socket
from random import SystemRandom

# Below what the system gives to outgoing connections, so that a port stays free while its process
# is dead.
_PORTS = range(15_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nothing listens on."""
    found: list[int] = []
    random = SystemRandom()
    while len(found) < count:
        port = random.choice(_PORTS)
        if port not in found and not is_open(f"127.0.0.1:{port}"):
            found.append(port)
    return found


def is_open(address: str) -> bool:
    """Whether anything listens at `host:port`."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
