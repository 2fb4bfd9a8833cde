from collections.abc import Iterable

from ivm.dataflow.nodes import Arrange
from ivm.installed.assembly import Assembly
from ivm.installed.collection import Collection
from ivm.installed.pieces import Index, Piece
from ivm.installed.references import Living
from ivm.physical.plan import PhysicalPlan

class Catalog:
    """`collections` by name, `arrangements` by their nodes, and the pieces that are `living`."""

    def __init__(self) -> None: ...
    @property
    def collections(self) -> dict[str, Collection]: ...
    @property
    def arrangements(self) -> dict[Arrange, tuple[Piece, Index]]: ...
    @property
    def living(self) -> Living: ...
    def find(self, name: str) -> Collection:
        """The input or dataflow `name` (raises UnknownCollection)."""

    def find_input(self, name: str) -> Collection:
        """The input `name` (raises UnknownCollection)."""

    def find_dataflow(self, name: str) -> Collection:
        """The dataflow `name` (raises UnknownCollection)."""

    def refuse_name(self, name: str) -> None:
        """Raises DuplicateName if there is a collection `name`, Unsupported for what is no name."""

    def refuse_in_use(self, name: str) -> None:
        """Raises InUse if others read the collection `name`."""

    def look(self, plan: PhysicalPlan) -> list[tuple[Piece, Index]] | None:
        """What `plan` takes from here, by slot; None if this is not as the plan takes it to be."""

    def has(self, found: Iterable[tuple[Piece, Index]]) -> bool:
        """Whether what was `found`, pieces with their indexes, is still there."""

    def add(self, collection: Collection, built: Assembly) -> None:
        """Let others find a collection, and what was built for it."""

    def remove(self, name: str) -> list[Piece]:
        """Forget a collection: the pieces that nothing needs any more, which nobody finds."""

    def take_over(self, names: dict[str, str]) -> list[Piece]:
        """Let each dataflow of `names` have the name that it is mapped to: the pieces unused now.

        The former dataflow of that name goes. Others that read it and are not among `names` go on
        to read it, for as long as they are there.
        """
