"""The base of nodes: each kind says once, in its class, all that others must know of it.

A kind that leaves one of the facts out does not pass mypy where it is made.

>>> from ivm.dataflow.nodes import Distinct, Get
>>> orders = Get("orders", pa.schema([("id", pa.int64())]))
>>> Distinct(orders).children == (orders,), Distinct(orders).passes_rows_on, orders.text(str)
(True, False, 'orders')
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias

import pyarrow as pa

from ivm.dataflow.expressions import Expression
from ivm.dataflow.node_hash import Hashed

TypeText: TypeAlias = Callable[[pa.DataType], str]
"""The name of a type in a text."""


class Sizes(Protocol):
    """Rows of collections: counted ones of those that exist, estimated ones of nodes."""

    def counted(self, name: str) -> float:
        """Tell the rows of an input or of an installed dataflow."""

    def of(self, node: "Node") -> float:
        """Estimate the rows of `node`."""


class Node(Hashed):
    """A node denotes a collection of rows of `schema`, computed of those of its `children`."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # each kind is a dataclass
    schema: pa.Schema

    @property
    @abstractmethod
    def children(self) -> tuple["Node", ...]:
        """The nodes that it reads directly; of a delta join, the arrangements of its paths."""

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that it evaluates over the rows of its input, the first child."""

    @property
    @abstractmethod
    def passes_rows_on(self) -> bool:
        """Whether rows pass as they come, without a sum of equal ones."""

    @property
    @abstractmethod
    def keeps_growth(self) -> bool:
        """Whether no row of it is ever retracted where none of its children's is."""

    @property
    def constant_columns(self) -> tuple[int, ...]:
        """The columns that are known to have one value in all rows; there may be others."""
        return ()

    @abstractmethod
    def check(self) -> None:
        """Check that it fits its children (its expressions apart: `validate.check` does so).

        Raises SchemaMismatch for a column that does not exist or has another type, Unsupported for
        an impossible number.
        """

    @abstractmethod
    def estimate(self, sizes: Sizes) -> float:
        """Estimate its rows."""

    def text(self, type_text: TypeText) -> str:
        """Write what stands behind its name in the text of a dataflow, as in `by ($0)`."""
        return ""


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """The base of nodes that read one other; unless they say more, they have as many rows."""

    input: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.input,)

    def estimate(self, sizes: Sizes) -> float:
        return sizes.of(self.input)


@dataclass(frozen=True, slots=True, eq=False)
class SameColumns(Unary):
    """The base of nodes whose columns are those of the one that they read."""

    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


def chosen(fields: Sequence[pa.Field], columns: Iterable[int]) -> list[pa.Field]:
    """Pick the fields at `columns`, without positions that do not exist."""
    return [fields[i] for i in columns if 0 <= i < len(fields)]
