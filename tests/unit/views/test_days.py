"""A day compared with a constant moment is compared as a day, with the same answer."""

from datetime import date, datetime

import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.expressions.program import evaluate
from views.rewrites.days import by_day

MOMENT = pa.timestamp("us")
DAYS = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), None]
ROWS = pa.RecordBatch.from_arrays([pa.array(DAYS, pa.date32())], names=["day"])
DAY = Column(0, pa.date32(), True)
AS_MOMENT = Call("cast", (DAY,), MOMENT, True)
BEYOND_MOMENTS = pa.RecordBatch.from_arrays([pa.array([200_000_000], pa.date32())], names=["day"])


def answers(comparison: Call, rows: pa.RecordBatch = ROWS) -> list[bool | None]:
    found, errors = evaluate(rows.schema, [], [("x", comparison)], rows)
    assert not errors
    answer: list[bool | None] = found["x"].to_pylist()
    return answer


def compared(function: str, *sides: Expression) -> Call:
    return Call(function, sides, pa.bool_(), True)


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize("moment", [datetime(2024, 2, 29), datetime(2024, 2, 29, 12)])
@pytest.mark.parametrize("function", ["lt", "le", "gt", "ge"])
def test_the_answer_is_the_same(function: str, moment: datetime, is_mirrored: bool) -> None:
    sides = (AS_MOMENT, Literal(moment, MOMENT))
    comparison = compared(function, *(reversed(sides) if is_mirrored else sides))
    rewritten = by_day(comparison)
    assert DAY in rewritten.arguments
    assert answers(rewritten) == answers(comparison)


def test_a_day_beyond_the_range_of_moments_is_compared() -> None:
    comparison = compared("gt", AS_MOMENT, Literal(datetime(2024, 2, 29), MOMENT))
    assert answers(by_day(comparison), BEYOND_MOMENTS) == [True]


@pytest.mark.parametrize(
    "comparison",
    [
        compared("eq", AS_MOMENT, Literal(datetime(2024, 2, 29), MOMENT)),
        compared("lt", AS_MOMENT, AS_MOMENT),
        compared("lt", AS_MOMENT, Literal(None, MOMENT)),
        compared("lt", Literal(datetime(2024, 2, 29), MOMENT), Literal(None, MOMENT)),
        compared("lt", DAY, Literal(date(2024, 2, 29), pa.date32())),
    ],
)
def test_what_is_something_else_stays(comparison: Call) -> None:
    assert by_day(comparison) == comparison
