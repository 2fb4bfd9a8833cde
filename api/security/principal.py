"""Principals: a name, a role, and the sources and views that it may read and write."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase

from api.errors import Forbidden


class Role(IntEnum):
    """The deeds a principal may do; each role may do what the one before may."""

    read = 1
    """Look rows up, follow changes, ask queries."""
    write = 2
    """Post rows to tables."""
    admin = 3
    """Declare sources and views, change and drop them; see and repair records in quarantine."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A name for the log, a role, and patterns (`shop_*`) of the sources and views of its grant.

    Without patterns the grant is on all. `requests_per_second` and `body_bytes` bound what it asks
    and sends, below the service's own limits, where they are given.
    """

    name: str
    role: Role
    grants: tuple[str, ...] | None = None
    requests_per_second: float | None = None
    body_bytes: int | None = None

    def may_use(self, name: str) -> bool:
        """Whether the grant covers a source or view.

        >>> Principal("shop", Role.read, ("shop_*",)).may_use("shop_totals")
        True
        """
        return self.grants is None or any(fnmatchcase(name, each) for each in self.grants)

    def demand(self, role: Role) -> None:
        """Refuse what needs a higher role (raises Forbidden)."""
        if self.role < role:
            raise Forbidden(f"{self.name} has the role {self.role.name}; this needs {role.name}")

    def demand_all(self) -> None:
        """Refuse what tells of all sources and views, to a grant on some (raises Forbidden)."""
        if self.grants is not None:
            raise Forbidden(f"{self.name} has a grant on {self._granted}; this tells of all others")

    def demand_use(self, names: Iterable[str]) -> None:
        """Refuse what reads other sources and views than the grant covers (raises Forbidden)."""
        for name in names:
            if not self.may_use(name):
                raise Forbidden(f"{self.name} has a grant on {self._granted}, not on {name!r}")

    @property
    def _granted(self) -> str:
        return ", ".join(self.grants or ())


ANYONE = Principal("anyone", Role.admin)
"""The principal of every request to a service that is open."""
