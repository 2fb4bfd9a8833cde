from collections.abc import Iterable

from ivm.operators.base.mesh import Mesh
from ivm.runtime.stage import Stage

class Meeting(Stage):
    """A stage of one Scatter, which hands its rows to those of other processes."""

def meet_over(mesh: Mesh, stages: Iterable[Stage]) -> None:
    """Let `stages`, and those of loops among them, meet their like over `mesh` from now on."""
