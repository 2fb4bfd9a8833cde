"""The operators of a view or a query in answers: rows, bytes and time of each, rounds of loops."""

from dataclasses import asdict
from typing import Self

from api.answers.base import Answer, example
from ivm.results import Operators as Found


class TimedStep(Answer):
    """The last step that was timed: rows of an operator in it, and how long that took."""

    time: int
    rows: int | None = None
    seconds: float


class RoundClass(Answer):
    """The rounds of a loop from `first` to `last` that ran: how many, and the changes they had."""

    first: int
    last: int | None = None
    rounds: int
    changes: int


class Rounds(Answer):
    """Rounds of a loop: since it was installed, the most of one step, and those of the last one.

    `last_round` and `step_last_round` are numbers of the last round reached, which skipped ones
    count in.
    """

    rounds: int
    most_rounds: int
    last_round: int
    step_rounds: int
    step_last_round: int
    classes: list[RoundClass]


class Operator(Answer):
    """An operator, by its number, kind and text in the physical plan; `loop` is the one it is in.

    It helps to make `arrangement` (null: it delivers the result), and reads the operators `reads`
    and arrangements `uses`. `rows` counts what it has put out, `seconds` estimates its time.
    """

    number: int
    kind: str
    text: str
    loop: int | None = None
    arrangement: str | None = None
    reads: list[int]
    uses: list[str]
    rows: int | None = None
    bytes: int
    seconds: float
    step: TimedStep | None = None
    rounds: Rounds | None = None


class ReusedArrangement(Answer):
    """An arrangement that was there before, with the time of what makes it, and who reads it."""

    name: str
    rows: int
    bytes: int
    seconds: float
    users: list[str]


class Operators(Answer):
    """The operators of a view, in the order of its physical plan."""

    model_config = example(
        reused=[
            {
                "name": "orders[id]",
                "rows": 2,
                "bytes": 4096,
                "seconds": 0.002,
                "users": ["revenue"],
            }
        ],
        operators=[
            {
                "number": 0,
                "kind": "AccumulateArranged",
                "text": "orders[id] by ($1): total := sum($2)",
                "arrangement": "revenue[customer]",
                "reads": [],
                "uses": ["orders[id]"],
                "rows": 2,
                "bytes": 1024,
                "seconds": 0.001,
                "step": {"time": 3, "rows": 1, "seconds": 2e-06},
            }
        ],
    )

    reused: list[ReusedArrangement]
    operators: list[Operator]

    @classmethod
    def of(cls, found: Found) -> Self:
        """The accounts that a pool has given."""
        return cls(**asdict(found))
