"""Window functions of every kind and frame, over the inputs of `engine`."""

from datetime import date, datetime

import pyarrow as pa

from ivm.dataflow.aggregates import (
    UP_TO_PEERS,
    Calendar,
    Exclusion,
    Frame,
    Order,
    WindowCall,
    WindowFunction,
)
from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import Arrange, Join, Map, Node, Union, Window, project
from tests.property.engine import edges, people

INT = pa.int64()
DOUBLE = pa.float64()
ID, TEAM, SCORE, PAY, WEIGHT = range(5)
_TYPES = people.schema.types

RUNNING = UP_TO_PEERS
WHOLE = Frame("rows", None, None)


def _rows(start: int | None, end: int | None) -> Frame:
    return Frame("rows", start, end)


def _without(exclude: Exclusion, frame: Frame = RUNNING) -> Frame:
    return Frame(frame.unit, frame.start, frame.end, exclude)


def _number(function: WindowFunction, kind: pa.DataType = INT, count: int = 1) -> WindowCall:
    return WindowCall(function, None, function, kind, False, count=count)


def _value(
    function: WindowFunction,
    column: int,
    frame: Frame = RUNNING,
    count: int = 1,
    default: int | None = None,
) -> WindowCall:
    return WindowCall(function, column, function, _TYPES[column], True, frame, count, default)


def _other(
    function: WindowFunction,
    column: int,
    varies: int | None = None,
    *,
    frame: Frame = RUNNING,
    count: int = 1,
    default: int | None = None,
) -> WindowCall:
    """The value of another row that counts, and a number by the row."""
    kind = _TYPES[column]
    skips = varies is None
    return WindowCall(
        function, column, function, kind, True, frame, count, default, None, varies, skips
    )


def _all(
    column: int, frame: Frame, *, where: int | None = None, separator: str | None = None
) -> WindowCall:
    """The values of a frame as a list, or as a text."""
    kind = pa.list_(_TYPES[column]) if separator is None else pa.string()
    function: WindowFunction = "list" if separator is None else "join"
    return WindowCall(function, column, "all", kind, True, frame, where=where, parameter=separator)


def _sum(
    column: int, frame: Frame, kind: pa.DataType, function: WindowFunction = "sum"
) -> WindowCall:
    return WindowCall(function, column, "total", kind, True, frame)


def _count(frame: Frame, column: int | None = None) -> WindowCall:
    return WindowCall("count", column, "n", INT, False, frame)


MONEY, WIDE = pa.decimal128(38, 2), pa.decimal128(38, 0)
BY_SCORE, BY_ID = Order(SCORE), Order(ID)
_sources = project(edges, (0,))
_destinations = project(edges, (1,))
TWICE = Union((_sources, _destinations))
"""A bag in which rows have several copies."""
HIGH = len(_TYPES)
JUDGED = Map(
    people,
    (
        *((f.name, Column(i, f.type, f.nullable)) for i, f in enumerate(people.schema)),
        ("high", Call("gt", (Column(SCORE, INT, True), Literal(0, INT)), pa.bool_(), True)),
    ),
)
"""People, and whether their score is above 0."""
DAY, MOMENT, CALENDAR_TEAM = 1, 2, 3
_SCORE = Call("modulo", (Column(SCORE, INT, True), Literal(4, INT)), INT, True)
_NOON = Literal(datetime(2024, 1, 30, 12), pa.timestamp("us"))
_HALF_DAYS = Call("multiply", (_SCORE, Literal(43_200_000_000, INT)), INT, True)
CALENDAR = Map(
    people,
    (
        ("id", Column(ID, INT, False)),
        (
            "day",
            Call("add_days", (Literal(date(2024, 1, 30), pa.date32()), _SCORE), pa.date32(), True),
        ),
        ("at", Call("add_micros", (_NOON, _HALF_DAYS), pa.timestamp("us"), True)),
        ("team", Column(TEAM, _TYPES[TEAM], True)),
    ),
)
"""Days and half days around the end of a month."""
_MONTH = 2_678_400_000_000
"""Microseconds of 31 days."""

WINDOWS: dict[str, Node] = {
    "row numbers": Window(people, (TEAM,), (Order(SCORE, True), BY_ID), (_number("row_number"),)),
    "row numbers of copies": Window(TWICE, (), (), (_number("row_number"),)),
    "ranks": Window(
        people,
        (),
        (Order(SCORE, nulls_first=True),),
        (_number("rank"), _number("dense_rank"), _number("row_number")),
    ),
    "ranks of copies": Window(
        TWICE, (), (Order(0, descending=True),), (_number("rank"), _number("dense_rank"))
    ),
    "shares": Window(
        people,
        (),
        (Order(TEAM), BY_SCORE),
        (
            _number("percent_rank", DOUBLE),
            _number("cume_dist", DOUBLE),
            _number("ntile", pa.int32(), 3),
        ),
    ),
    "neighbours": Window(
        people,
        (SCORE,),
        (Order(TEAM, True, True),),
        (_value("lag", TEAM), _value("lead", PAY, count=2), _value("lag", WEIGHT, count=-1)),
    ),
    "neighbours with defaults": Window(
        people,
        (),
        (BY_ID,),
        (_value("lag", SCORE, count=2, default=ID), _value("lead", ID, default=ID)),
    ),
    "neighbours of copies": Window(TWICE, (), (Order(0),), (WindowCall("lag", 0, "p", INT, True),)),
    "values of frames": Window(
        people,
        (),
        (BY_SCORE,),
        (
            _value("first_value", TEAM),
            _value("last_value", PAY),
            _value("nth_value", ID, WHOLE, 2),
            _value("first_value", SCORE, _rows(-1, 1)),
        ),
    ),
    "last of rows": Window(people, (), (BY_ID,), (_value("last_value", TEAM, _rows(None, -1)),)),
    "running sums": Window(
        people,
        (TEAM,),
        (Order(SCORE, True),),
        (_sum(SCORE, RUNNING, WIDE), _sum(PAY, RUNNING, MONEY), _count(RUNNING), _number("rank")),
    ),
    "running sums of floats": Window(
        people,
        (),
        (BY_ID,),
        (_sum(WEIGHT, _rows(None, 0), DOUBLE), _sum(WEIGHT, RUNNING, DOUBLE, "avg")),
    ),
    "running sums up to some rows away": Window(
        people, (), (BY_ID,), (_sum(ID, _rows(None, 2), WIDE), _sum(ID, _rows(None, -2), WIDE))
    ),
    "running counts of copies": Window(
        TWICE, (), (Order(0),), (_count(RUNNING), _count(_rows(None, 0)))
    ),
    "running sum that overflows": Window(
        people, (TEAM,), (BY_ID,), (_sum(SCORE, RUNNING, pa.int16()),)
    ),
    "moments": Window(
        people,
        (),
        (BY_ID,),
        (
            WindowCall("comoment", SCORE, "m", DOUBLE, True, _rows(-2, 0)),
            WindowCall("comoment", WEIGHT, "c", DOUBLE, True, RUNNING, other=WEIGHT),
        ),
    ),
    "moving bits": Window(
        people,
        (TEAM,),
        (BY_ID,),
        (
            _value("bit_and", SCORE, _rows(-1, 1)),
            _value("bit_or", SCORE),
            _value("bit_xor", SCORE, _rows(None, -1)),
        ),
    ),
    "totals": Window(
        people,
        (TEAM,),
        (),
        (_sum(SCORE, WHOLE, WIDE), _value("max", WEIGHT, WHOLE), _count(RUNNING, PAY)),
    ),
    "moving sums": Window(
        people,
        (),
        (BY_SCORE, BY_ID),
        (
            _sum(PAY, _rows(-1, 1), MONEY),
            _sum(WEIGHT, _rows(-2, -1), DOUBLE),
            _sum(SCORE, _rows(1, 3), pa.decimal128(38, 6), "avg"),
            _count(_rows(2, 1)),
        ),
    ),
    "moving extremes": Window(
        people,
        (),
        (BY_ID, BY_SCORE),
        (
            _value("min", TEAM, _rows(-2, 0)),
            _value("max", TEAM, _rows(0, 2)),
            _value("max", WEIGHT, _rows(-1, 1)),
            _value("min", PAY),
        ),
    ),
    "groups of peers": Window(
        people,
        (),
        (Order(SCORE, True),),
        (
            _sum(ID, Frame("groups", -1, 1), WIDE),
            _value("max", TEAM, Frame("groups", -2, -1)),
            _count(Frame("range", 0, 0)),
            _count(Frame("range", 0, None)),
        ),
    ),
    "ranges of numbers": Window(
        people,
        (),
        (BY_SCORE,),
        (_sum(ID, Frame("range", -2, 0), WIDE), _count(Frame("range", 1, 4))),
    ),
    "ranges downwards": Window(
        people,
        (),
        (Order(SCORE, True, True),),
        (_count(Frame("range", -2, 1)), _value("min", TEAM, Frame("range", None, -1))),
    ),
    "ranges of decimals": Window(people, (), (Order(PAY),), (_count(Frame("range", -735, 735)),)),
    "ranges of floats": Window(
        people,
        (),
        (Order(WEIGHT, True),),
        (_count(Frame("range", -0.1, 1.4)), _count(Frame("range", 0, 1e16))),
    ),
    "rows of a partition by what is ordered by": Window(
        people, (SCORE,), (BY_SCORE,), (_sum(SCORE, Frame("range", -1, 0), WIDE),)
    ),
    "frames without their row or its peers": Window(
        people,
        (),
        (BY_SCORE,),
        (
            _sum(ID, _without("current row"), WIDE),
            _sum(PAY, _without("ties", Frame("rows", -1, 1)), MONEY),
            _count(_without("group", Frame("groups", -1, 1))),
            _value("max", TEAM, _without("ties", Frame("range", -1, 2))),
            _value("min", WEIGHT, _without("group", _rows(None, 2))),
            _value("first_value", ID, _without("ties")),
            _value("last_value", ID, _without("current row", _rows(-2, 0))),
            _value("nth_value", ID, _without("group", WHOLE), 2),
        ),
    ),
    "running sums without their peers": Window(
        people,
        (TEAM,),
        (BY_SCORE,),
        (_sum(ID, _without("group"), WIDE), _count(_without("ties", _rows(None, 1)))),
    ),
    "lists": Window(
        JUDGED,
        (TEAM,),
        (BY_ID, BY_SCORE),
        (
            _all(SCORE, _rows(-1, 1)),
            _all(PAY, RUNNING, where=HIGH),
            _all(TEAM, _without("current row", _rows(0, 2)), separator=", "),
        ),
    ),
    "lists of copies": Window(
        TWICE,
        (),
        (Order(0),),
        (WindowCall("list", 0, "l", pa.list_(INT), True, Frame("groups", -1, 0, "ties")),),
    ),
    "values that are not NULL": Window(
        people,
        (),
        (BY_ID, BY_SCORE),
        (
            _other("lag", SCORE),
            _other("lead", PAY, count=2, default=PAY),
            _other("lag", TEAM, count=-1),
            _other("first_value", TEAM),
            _other("last_value", SCORE),
            _other("nth_value", WEIGHT, frame=_without("ties", _rows(-3, 3)), count=2),
            _other("first_value", PAY, frame=_rows(1, 3)),
        ),
    ),
    "distances of columns": Window(
        people,
        (TEAM,),
        (BY_ID,),
        (
            _other("lag", ID, SCORE, default=ID),
            _other("lead", PAY, ID),
            _other("nth_value", SCORE, ID, frame=WHOLE),
        ),
    ),
    "places of columns": Window(
        people, (), (BY_ID,), (_other("nth_value", ID, SCORE, frame=_rows(-1, 2)),)
    ),
    "buckets of columns": Window(
        people,
        (TEAM,),
        (BY_ID,),
        (WindowCall("ntile", None, "n", pa.int32(), True, varies=SCORE),),
    ),
    "months of days": Window(
        CALENDAR,
        (),
        (Order(DAY),),
        (
            _count(Frame("range", Calendar(-1, 0), Calendar(1, 0))),
            _count(Frame("range", Calendar(1, -_MONTH), Calendar(1, 3_600_000_000 - _MONTH))),
        ),
    ),
    # By team: of everyone together the lists would grow with the square of the rows.
    "months of moments": Window(
        CALENDAR,
        (CALENDAR_TEAM,),
        (Order(MOMENT, True, True),),
        (
            _count(Frame("range", Calendar(1, -_MONTH), Calendar(1, -_MONTH), "current row")),
            WindowCall("list", ID, "l", pa.list_(INT), True, Frame("range", 0, Calendar(1, 0))),
        ),
    ),
    "join of windows": Join(
        Arrange(Window(people, (), (Order(TEAM), BY_ID), (_number("row_number"),)), (5,)),
        Arrange(edges, (0,)),
        (("place", 0), ("id", 1), ("dst", 6)),
    ),
}
