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
        self._mesh = mesh

    def least(self, value: int) -> int:
        """The least value of a member, at least 0."""
        return value if self._mesh is None else self._mesh.meet(_LEAST, value, None)[0]

    def any(self, found: bool) -> bool:
        """Whether any member has found it."""
        return found if self._mesh is None else self._mesh.meet(_ANY, not found, None)[0] == 0

    def all_of(self, names: Iterable[str]) -> set[str]:
        """The names that any of the members has."""
        found = set(names)
        if self._mesh is not None:
            block = "\0".join(sorted(found)).encode()
            _, others = self._mesh.meet(_NAMES, 0, [block] * self._mesh.members)
            for other in others:
                found.update(bytes(other).decode().split("\0") if other else [])
        return found
