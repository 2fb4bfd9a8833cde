"""Calls of every function for the types that it takes: what the property tests draw from."""

from collections.abc import Iterator
from itertools import product

import pyarrow as pa

from ivm.dataflow.expressions import Call, Column, Expression, Literal, Value
from tests.unit.rows.values import STAMP, TYPES, ZONED

BOOL: pa.DataType = pa.bool_()
DATE: pa.DataType = pa.date32()
TIME: pa.DataType = pa.time64("us")
TEXT: pa.DataType = pa.string()
INT: pa.DataType = pa.int64()
SHORT: pa.DataType = pa.int32()
MONEY: pa.DataType = pa.decimal128(12, 2)
WIDE: pa.DataType = pa.decimal128(38, 0)
PRECISE: pa.DataType = pa.decimal128(38, 10)
DOUBLE: pa.DataType = pa.float64()
SINGLE: pa.DataType = pa.float32()
INTEGERS: tuple[pa.DataType, ...] = (
    *(pa.int8(), pa.int16(), SHORT, INT),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
)


def call(function: str, type_: pa.DataType, *arguments: pa.DataType | Literal) -> Call:
    """A call whose arguments are nullable columns of these types, or literals."""
    given: list[Expression] = []
    for i, argument in enumerate(arguments):
        given.append(argument if isinstance(argument, Literal) else Column(i, argument, True))
    return Call(function, tuple(given), type_, True)


def literal(value: Value | None, type_: pa.DataType) -> Literal:
    return Literal(value, type_)


def arithmetic() -> Iterator[Call]:
    for name in ("add", "subtract", "multiply", "divide", "modulo"):
        for type_ in (*INTEGERS, DOUBLE, SINGLE):
            yield call(name, type_, type_, type_)
    for name in ("add", "subtract", "modulo"):
        for type_ in (MONEY, WIDE, PRECISE):
            yield call(name, type_, type_, type_)
    yield call("multiply", pa.decimal128(24, 4), MONEY, MONEY)
    yield call("multiply", PRECISE, PRECISE, PRECISE)
    yield call("multiply", WIDE, WIDE, MONEY)
    yield call("divide", pa.decimal128(30, 6), MONEY, MONEY)
    yield call("divide", PRECISE, WIDE, PRECISE)
    yield call("divide", PRECISE, PRECISE, PRECISE)
    for name in ("negate", "abs"):
        for type_ in (*INTEGERS[:4], DOUBLE, MONEY, WIDE):
            yield call(name, type_, type_)
    for name in ("round", "floor", "ceil"):
        yield call(name, DOUBLE, DOUBLE)
        yield call(name, pa.decimal128(11, 0), MONEY)
        yield call(name, PRECISE, PRECISE)
    for digits in (-2, 0, 1, 5):
        yield call("round", MONEY, MONEY, literal(digits, INT))
        yield call("round", INT, INT, literal(digits, INT))


def choices() -> Iterator[Call]:
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "is_distinct", "is_not_distinct"):
        yield from (call(name, BOOL, type_, type_) for type_ in TYPES)
    for name in ("is_null", "is_not_null"):
        yield from (call(name, BOOL, type_) for type_ in TYPES)
    for name in ("greatest", "least", "coalesce"):
        yield from (call(name, type_, type_, type_, type_) for type_ in TYPES)
    for name in ("and", "or"):
        yield call(name, BOOL, BOOL, BOOL, BOOL)
    yield call("not", BOOL, BOOL)
    yield from (call("case", t, BOOL, t, BOOL, t, t) for t in (INT, PRECISE, TEXT))


def casts() -> Iterator[Call]:
    numbers = (*INTEGERS, DOUBLE, SINGLE, MONEY, WIDE, PRECISE)
    yield from (
        call("cast", target, source)
        for source, target in product(numbers, numbers)
        if (source, target) not in ((SINGLE, MONEY), (SINGLE, WIDE), (SINGLE, PRECISE))
    )
    for type_ in INTEGERS:
        yield call("cast", type_, BOOL)
        yield call("cast", BOOL, type_)
    for type_ in (BOOL, *numbers, DATE, TIME, STAMP, ZONED):
        if type_ != SINGLE:
            yield call("cast", TEXT, type_)
        yield call("cast", type_, TEXT)
    yield from (call("cast", target, DATE) for target in (STAMP, ZONED))
    yield from (call("cast", DATE, source) for source in (STAMP, ZONED))
    yield from (call("cast", TIME, source) for source in (STAMP, ZONED))


def texts() -> Iterator[Call]:
    for name in ("lower", "upper", "trim", "ltrim", "rtrim"):
        yield call(name, TEXT, TEXT)
    yield call("concat", TEXT, TEXT, TEXT)
    yield call("concat", TEXT, TEXT, TEXT, TEXT, TEXT)
    yield call("length", SHORT, TEXT)
    yield call("substring", TEXT, TEXT, INT, INT)
    yield call("replace", TEXT, TEXT, TEXT, TEXT)
    yield call("split_part", TEXT, TEXT, TEXT, INT)
    yield call("position", SHORT, TEXT, TEXT)
    yield call("starts_with", BOOL, TEXT, TEXT)
    for name in ("left", "right", "repeat"):
        yield call(name, TEXT, TEXT, SHORT)
    for name in ("lpad", "rpad"):
        yield call(name, TEXT, TEXT, SHORT, TEXT)
    for name in ("strip", "lstrip", "rstrip"):
        yield call(name, TEXT, TEXT, TEXT)
    yield call("reverse", TEXT, TEXT)
    yield call("translate", TEXT, TEXT, TEXT, TEXT)
    yield call("octet_length", SHORT, TEXT)
    yield call("ascii", SHORT, TEXT)
    for pattern in ("a%", "%B", "_", "%é_%", "a\\%%", "%a%b%", "", "%", "日_b"):
        yield call("like", BOOL, TEXT, literal(pattern, TEXT))
        yield call("ilike", BOOL, TEXT, literal(pattern, TEXT))
    yield call("like", BOOL, TEXT, TEXT)
    yield call("ilike", BOOL, TEXT, TEXT)


def dates() -> Iterator[Call]:
    yield call("add_days", DATE, DATE, INT)
    yield call("days_between", INT, DATE, DATE)
    for type_ in (STAMP, ZONED):
        yield call("add_micros", type_, type_, INT)
        yield call("micros_between", INT, type_, type_)
    for type_ in (DATE, STAMP, ZONED):
        yield call("add_months", type_, type_, INT)
        for field in ("year", "month", "day", "hour", "minute", "quarter", "dow", "isodow"):
            yield call("extract", INT, literal(field, TEXT), type_)
        for field in ("doy", "week", "isoyear"):
            yield call("extract", INT, literal(field, TEXT), type_)
        for field in ("epoch", "second"):
            yield call("extract", pa.decimal128(20, 6), literal(field, TEXT), type_)
        out = ZONED if type_ == ZONED else STAMP
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second"):
            yield call("date_trunc", out, literal(unit, TEXT), type_)
        yield call("date_trunc", out, literal("milliseconds", TEXT), type_)


CALLS = (*arithmetic(), *choices(), *casts(), *texts(), *dates())
