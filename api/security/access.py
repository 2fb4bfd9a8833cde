"""Access: whether the service is open, by its settings, and the hosts that it answers for."""

from ipaddress import ip_address
from typing import Literal

from api.errors import NotSecured

Access = Literal["open", "keys"]


def is_loopback(host: str) -> bool:
    """Whether this machine alone can reach a host.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0")]
    [True, True, True, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_open(access: Access | None, host: str, *, has_keys: bool) -> bool:
    """Whether everybody who reaches the service may do all (raises NotSecured if nobody said so).

    Unless the setting `access` says it, a service on a loopback address without keys is.
    """
    if access is not None:
        return access == "open"
    if has_keys:
        return False
    if is_loopback(host):
        return True
    raise NotSecured(
        f"host = {host!r} can be reached from other machines, and there is no key: make one with "
        "`ivm key create NAME --role admin`, or set access = 'open' (IVM_ACCESS=open) if what is "
        "in front of the service lets in whom it should"
    )


def answers_for(host: str, allowed: frozenset[str], *, is_open: bool) -> bool:
    """Whether the service answers a request with this Host header.

    An open service is protected by its address alone: a page of another site, whose name was made
    to point here (DNS rebinding), must not reach it. Such a name has a dot, and is no address.
    """
    name = host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host
    name = name.strip("[]").lower().rstrip(".")
    if name in allowed:
        return True
    if allowed or not is_open:
        return not allowed
    return "." not in name or name.endswith(".localhost") or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
