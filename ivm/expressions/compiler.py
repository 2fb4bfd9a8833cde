"""Compiles expression trees to straight-line code: each step applies one kernel to registers.

Equal subexpressions share a register. Whether a register can hold NULLs or errors is decided
here, from its arguments, so that kernels skip what cannot occur.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.errors import Unsupported
from ivm.expressions.kernels.python import Routine, Search
from ivm.expressions.row_text import render
from ivm.rows.format import MASK_BITS, Place, row_format, words_of


@dataclass(frozen=True, slots=True)
class Cell:
    """A register: `width` words a row; `literal` where it is constant."""

    width: int
    nullable: bool
    fallible: bool
    literal: Literal | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step applies `kernel` to registers; the kernel defines its parameters `p` and `q`.

    `routine` is the Python function that the kernels `scripted` and `search` call.
    """

    kernel: str
    out: int
    arguments: tuple[int, ...]
    p: int = 0
    q: int = 0
    message: str | None = None
    overflow: str | None = None
    routine: Routine | Search | None = None


@dataclass(frozen=True, slots=True)
class Assembly:
    """An assembly collects code over rows of `schema`; `functions` lowers each function."""

    schema: pa.Schema
    functions: Mapping[str, "Lowering"]
    cells: list[Cell] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    _known: dict[Expression, int] = field(default_factory=dict)
    _places: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._places.extend(row_format(self.schema).places)

    def register(self, expression: Expression) -> int:
        """Compile `expression`, once, and give the register of its values (raises Unsupported)."""
        if expression not in self._known:
            self._known[expression] = self._assemble(expression)
        return self._known[expression]

    def emit(
        self,
        kernel: str,
        arguments: tuple[int, ...],
        type_: pa.DataType,
        *,
        nullable: bool | None = None,
        p: int = 0,
        q: int = 0,
        message: str | None = None,
        overflow: str | None = None,
        routine: Routine | Search | None = None,
    ) -> int:
        """Append a step and give its register, nullable as its arguments unless given."""
        given = [self.cells[a] for a in arguments]
        if nullable is None:
            nullable = any(c.nullable for c in given)
        failing = message is not None or overflow is not None
        fallible = failing or any(c.fallible for c in given)
        out = self._cell(Cell(words_of(type_), nullable, fallible))
        self.steps.append(Step(kernel, out, arguments, p, q, message, overflow, routine))
        return out

    def literal(self, value: int | str, type_: pa.DataType) -> int:
        """Give a register that holds `value` in every row."""
        return self.register(Literal(value, type_))

    def complaint(self, reason: str, call: Call) -> str:
        """Write the message of an error in `call`."""
        return f"{reason} in {render(call, self.schema.names)}"

    def _assemble(self, expression: Expression) -> int:
        match expression:
            case Column(index=index):
                return self._load(index)
            case Literal(value=value, type=type_):
                return self._cell(Cell(words_of(type_), value is None, False, expression))
            case Call(function=function):
                if function not in self.functions:
                    raise Unsupported(f"function {function}")
                return self.functions[function](self, expression)

    def _load(self, index: int) -> int:
        place = self._places[index]
        nullable = self.schema.field(index).nullable
        kernel = "load_wide" if place.words == 2 else "load"
        type_ = self.schema.field(index).type
        bit = MASK_BITS * place.null_word + place.null_bit if nullable else -1
        return self.emit(kernel, (), type_, nullable=nullable, p=place.word, q=bit)

    def _cell(self, cell: Cell) -> int:
        self.cells.append(cell)
        return len(self.cells) - 1


Lowering = Callable[[Assembly, Call], int]
