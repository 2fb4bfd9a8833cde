from ivm.operators.base.mesh import Mesh
from ivm.operators.base.operator import Operator, Region
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner

class Scatter(Operator):
    """Sends the rows of `source` to their owners among the members of `mesh`, or to all."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        partitioner: Partitioner | None,
        interner: Interner,
        strings: tuple[int, ...],
        mesh: Mesh,
    ) -> None: ...
    @property
    def mesh(self) -> Mesh: ...
