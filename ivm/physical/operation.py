"""Operations: the work of a physical plan's stages, as typed values with a text form.

Operators are made with an operation's arguments and `explain` prints its text: of the same fields,
so that the text says what is built.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from ivm.operators.base.operator import Operator
from ivm.physical.build import StagePlan, TracePlan

Names: TypeAlias = Callable[[TracePlan], str]
"""The name of an arrangement in the text of a plan."""


class State(NamedTuple):
    """State that operators keep beside traces: keys of groups, or histories of curves.

    `table` is the attribute of an operator that has it, and `accounted` the one whose size is
    accounted as `kind`; None is the operator itself.
    """

    kind: str
    holds: Literal["groups", "curves"]
    table: str
    accounted: str | None


class Operation(ABC):
    """The work of one stage's operators.

    A subclass declares which operators it `makes`, whether these put out about as much as they
    read, which kind of stage has them, whether their rows may be errors, and what state they keep.
    One that leaves the first two out cannot be defined.
    """

    makes: ClassVar[type[Operator]]
    puts_out_what_it_reads: ClassVar[bool]
    planned_as: ClassVar[type[StagePlan]]
    fallible: ClassVar[bool]
    state: ClassVar[State | None]

    def __init_subclass__(
        cls,
        *,
        makes: type[Operator],
        puts_out_what_it_reads: bool,
        planned_as: type[StagePlan] = StagePlan,
        fallible: bool = False,
        state: State | None = None,
    ) -> None:
        cls.makes = makes
        cls.puts_out_what_it_reads = puts_out_what_it_reads
        cls.planned_as = planned_as
        cls.fallible = fallible
        cls.state = state

    @property
    @abstractmethod
    def arguments(self) -> tuple[object, ...]:
        """The arguments of the operators, after their region and the words of a row.

        `Planned` stands for the operator of the same shard (of all shards, where one operator
        serves all), an arrangement or its trace for a reader, and a list for all its elements.
        """

    @property
    def sealed_strings(self) -> tuple[tuple[int, bool], ...] | None:
        """The words of strings in the trace that is sealed; None if none is."""
        return None

    @abstractmethod
    def text(self, names: Names) -> str:
        """The work in words, with the stages and arrangements that it reads."""
