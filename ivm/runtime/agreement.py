"""Agreement of the members of a cluster between two exchanges; a pool alone agrees with itself."""

from collections.abc import Iterable

from ivm.operators.base.mesh import Mesh

_LEAST, _ANY, _NAMES = 1, 2, 3
"""The meetings here, by number; those of stages have greater ones."""


class Agreement:
    """Lets all members of `mesh` (None: there are no others) act alike on what each has found.

    >>> alone = Agreement(None)
    >>> alone.least(7), alone.any(False), sorted(alone.all_of(["reached"]))
    (7, False, ['reached'])
    """

    def __init__(self, mesh: Mesh | None) -> None:
        self.mesh = mesh

    def least(self, value: int) -> int:
        """The least value of a member, at least 0."""
        return value if self.mesh is None else self.mesh.meet(_LEAST, value, None)[0]

    def any(self, found: bool) -> bool:
        """Whether any member has found it."""
        return found if self.mesh is None else self.mesh.meet(_ANY, not found, None)[0] == 0

    def all_of(self, names: Iterable[str]) -> set[str]:
        """The names that any of the members has."""
        found = set(names)
        if self.mesh is not None:
            block = "\0".join(sorted(found)).encode()
            _, others = self.mesh.meet(_NAMES, 0, [block] * self.mesh.members)
            for other in others:
                found.update(bytes(other).decode().split("\0") if other else [])
        return found

    def leave(self) -> None:
        """Leave what the others are at, too; see `Mesh.leave`."""
        if self.mesh is not None:
            self.mesh.leave()
