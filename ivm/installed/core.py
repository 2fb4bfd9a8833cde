"""The core of a pool: the parts that steps, installations and readers share, and their removal."""

from collections.abc import Iterable, Sequence

from ivm.errors import reason
from ivm.installed.catalog import Catalog
from ivm.installed.holds import Holds
from ivm.installed.pieces import Piece
from ivm.installed.row_errors import RowErrors
from ivm.installed.switches import Switches
from ivm.installed.unused_strings import UnusedStrings
from ivm.operators.base.mesh import Mesh
from ivm.rows.interner import Interner
from ivm.runtime.agreement import Agreement
from ivm.runtime.schedule import Schedule, StageFailed
from ivm.threads.locks import Both, Gate, Lock


class Core:
    """What a pool holds, and the locks around it.

    Members of a cluster meet over `mesh`, and for what goes on beside steps over `beside`.

    `changing` is held by one that adds or drops collections, `gate` during a step and while
    anything is looked up; one who has `changing` may take `gate` as well (`standing` is both).
    """

    def __init__(self, mesh: Mesh | None = None, beside: Mesh | None = None) -> None:
        self.agreement = Agreement(mesh)
        self.beside = Agreement(beside)
        self.changing = Lock()
        self.gate = Gate()
        self.standing = Both(self.changing, self.gate)
        self.switches = Switches(self.gate)
        self.interner = Interner()
        self.schedule = Schedule()
        self.catalog = Catalog()
        self.row_errors = RowErrors(self.interner)
        self.holds = Holds()
        self.strings = UnusedStrings(self.interner, self.catalog)
        self.frontier = 0

    @property
    def last(self) -> int:
        """The last completed time; 0 before there is one."""
        return max(self.frontier - 1, 0)

    def where(self, shortage: MemoryError, pieces: Iterable[Piece]) -> str:
        """The part that memory was too short for: its arrangement or dataflow, and the reason."""
        stage = shortage.stage if isinstance(shortage, StageFailed) else None
        names = [piece.name for piece in pieces if stage in piece.stages]
        return f"{', '.join(names) or 'the end of a step'}: {reason(shortage)}"

    def remove(self, name: str) -> None:
        """Take a collection away, with its holds and all that only it used."""
        if self.holds.all:
            self.holds.end(name)
        self.free(self.catalog.remove(name))

    def free(self, unused: Sequence[Piece]) -> None:
        """Stop pieces that nothing needs any more."""
        for piece in unused:
            self.schedule.remove(piece.stages)
            if piece.plan.strings:
                self.strings.look_soon()  # the next step releases what only this used
        if self.row_errors.standing:
            self.row_errors.forget(unused)
