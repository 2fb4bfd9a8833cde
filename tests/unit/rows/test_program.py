"""Programs: predicates, outputs and errors over updates."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.errors import Unsupported
from ivm.expressions.program import Program, evaluate
from ivm.rows.interner import Interner, word_of
from ivm.rows.shims import keep_only
from tests.unit.rows.values import batch_of, schema_of

INT, BOOL, TEXT = pa.int64(), pa.bool_(), pa.string()
SCHEMA = schema_of(("a", INT, True), ("b", INT, False), ("s", TEXT, False))
A, B, S = Column(0, INT, True), Column(1, INT, False), Column(2, TEXT, False)
BATCH = batch_of(SCHEMA, [6, None, 8, 9], [2, 1, 0, 3], ["x", "y", "a long text", "z"])


def call(function: str, type_: pa.DataType, *arguments: Expression) -> Call:
    return Call(function, arguments, type_, any(a.nullable for a in arguments))


def number(value: int | None) -> Literal:
    return Literal(value, INT)


QUOTIENT = call("divide", INT, A, B)
BY_ZERO = "division by zero in a / b for the row (a = 8, b = 0, s = a long text)"
HAS_DIVISOR = call("ne", BOOL, B, number(0))


def test_rows_stay_as_they_are_without_outputs() -> None:
    rows, errors = evaluate(SCHEMA, [], None, BATCH)
    assert (rows, errors) == (BATCH, [])


def test_a_projection_copies_columns_with_their_nulls() -> None:
    rows, _ = evaluate(SCHEMA, [], [("t", S), ("n", A)], BATCH)
    assert rows.to_pydict() == {"t": ["x", "y", "a long text", "z"], "n": [6, None, 8, 9]}


def test_a_row_passes_only_where_the_predicate_is_true() -> None:
    rows, errors = evaluate(SCHEMA, [call("gt", BOOL, A, number(6))], None, BATCH)
    assert (rows["a"].to_pylist(), errors) == ([8, 9], [])


def test_an_error_takes_the_place_of_its_row() -> None:
    rows, errors = evaluate(SCHEMA, [], [("s", S), ("q", QUOTIENT)], BATCH)
    assert rows.to_pydict() == {"s": ["x", "y", "z"], "q": [3, None, 3]}
    assert errors == [BY_ZERO]


def test_a_row_with_two_errors_is_reported_once() -> None:
    outputs = [("q", QUOTIENT), ("r", call("modulo", INT, A, B))]
    assert evaluate(SCHEMA, [], outputs, BATCH)[1] == [BY_ZERO]


def test_a_predicate_with_an_error_reports_the_row() -> None:
    rows, errors = evaluate(SCHEMA, [call("eq", BOOL, QUOTIENT, number(3))], None, BATCH)
    assert (rows["s"].to_pylist(), errors) == (["x", "z"], [BY_ZERO])


def test_what_a_predicate_removed_cannot_fail() -> None:
    rows, errors = evaluate(SCHEMA, [HAS_DIVISOR], [("q", QUOTIENT)], BATCH)
    assert (rows["q"].to_pylist(), errors) == ([3, None, 3], [])


def test_case_fails_only_in_the_branch_it_takes() -> None:
    zero = call("eq", BOOL, B, number(0))
    guarded = Call("case", (zero, number(None), QUOTIENT), INT, True)
    rows, errors = evaluate(SCHEMA, [], [("q", guarded)], BATCH)
    assert (rows["q"].to_pylist(), errors) == ([3, None, None, 3], [])


def test_coalesce_does_not_look_beyond_its_first_value() -> None:
    rows, errors = evaluate(SCHEMA, [], [("q", call("coalesce", INT, A, QUOTIENT))], BATCH)
    assert (rows["q"].to_pylist(), errors) == ([6, None, 8, 9], [])


@pytest.mark.parametrize(("function", "passing"), [("and", ["x", "z"]), ("or", ["x", "y", "z"])])
def test_a_decided_connective_hides_an_error(function: str, passing: list[str]) -> None:
    by_one = call("eq", BOOL, B, number(1))
    first = HAS_DIVISOR if function == "and" else call("or", BOOL, HAS_DIVISOR, by_one)
    wanted = call("eq", BOOL, QUOTIENT, number(3))
    _, errors = evaluate(SCHEMA, [call("and", BOOL, first, wanted)], None, BATCH)
    assert errors == []
    rows, _ = evaluate(SCHEMA, [call(function, BOOL, HAS_DIVISOR, HAS_DIVISOR)], None, BATCH)
    assert rows["s"].to_pylist() == ["x", "y", "z"]
    rows, errors = evaluate(SCHEMA, [call(function, BOOL, wanted, HAS_DIVISOR)], None, BATCH)
    assert rows["s"].to_pylist() == passing
    assert len(errors) == (function == "or")


def test_a_literal_null_is_null_in_every_row() -> None:
    rows, _ = evaluate(SCHEMA, [], [("n", number(None)), ("one", number(1))], BATCH)
    assert rows.to_pydict() == {"n": [None] * 4, "one": [1] * 4}


def test_like_null_is_null() -> None:
    rows, _ = evaluate(SCHEMA, [], [("n", call("like", BOOL, S, Literal(None, TEXT)))], BATCH)
    assert rows["n"].to_pylist() == [None] * 4


def test_many_vectors_give_what_numpy_gives() -> None:
    values = np.arange(10_000)
    batch = batch_of(schema_of(("a", INT, True)), values)
    even = call("eq", BOOL, call("modulo", INT, A, number(2)), number(0))
    rows, _ = evaluate(batch.schema, [even], [("y", call("add", INT, A, number(7)))], batch)
    assert rows["y"].to_pylist() == (values[values % 2 == 0] + 7).tolist()


def test_errors_scattered_over_vectors_leave_the_other_rows_in_order() -> None:
    divisors = [i % 3 for i in range(5000)]
    batch = batch_of(SCHEMA, range(5000), divisors, [f"row {i}" for i in range(5000)])
    rows, errors = evaluate(SCHEMA, [], [("q", QUOTIENT), ("s", S)], batch)
    kept = [i for i in range(5000) if divisors[i]]
    assert rows["q"].to_pylist() == [i // divisors[i] for i in kept]
    assert rows["s"].to_pylist() == [f"row {i}" for i in kept]
    assert len(errors) == 5000 - len(kept)


def test_a_program_keeps_its_strings_through_sweeps() -> None:
    interner = Interner()
    text = Literal("a literal that is long", TEXT)
    program = Program(SCHEMA, [call("eq", BOOL, S, text)], [("q", QUOTIENT)], interner)
    word = word_of(interner, b"a literal that is long")
    keep_only(interner, [])
    assert word_of(interner, b"a literal that is long") == word
    assert interner.count == 1
    del program
    keep_only(interner, [])
    assert interner.count == 0


@pytest.mark.parametrize(
    "expression",
    [
        call("median", INT, A),
        call("add", TEXT, S, S),
        call("add", INT, A),
        call("add", INT, A, A, A),
        call("negate", INT, A, A),
        call("round", INT),
        call("eq", BOOL, A),
        call("eq", TEXT, A, A),
        call("is_distinct", BOOL, A),
        call("is_null", BOOL),
        call("is_null", TEXT, A),
        call("and", BOOL),
        call("not", TEXT, call("is_null", BOOL, A)),
        call("case", INT),
        call("case", INT, call("is_null", BOOL, A), A),
        call("case", INT, A, A, A),
        call("case", TEXT, call("is_null", BOOL, A), A, A),
        call("coalesce", INT),
        call("coalesce", TEXT, A, A),
        call("greatest", TEXT, A, A),
        call("cast", INT),
        call("cast", TEXT, A, A),
        call("concat", TEXT),
        call("concat", INT, S, S),
        call("length", TEXT, S),
        call("lower", INT, S),
        call("like", TEXT, S, Literal("a%", TEXT)),
        call("extract", INT),
        call("date_trunc", TEXT),
        call("add_months", pa.date32()),
        call("eq", BOOL, A, S),
        call("lower", TEXT, A),
        call("cast", pa.binary(), A),
        call("like", BOOL, S, Literal("ends badly\\", TEXT)),
    ],
)
def test_an_expression_without_a_kernel_is_refused(expression: Call) -> None:
    with pytest.raises(Unsupported):
        Program(SCHEMA, [], [("x", expression)], Interner())


def test_a_long_expression_is_cut_off_in_messages() -> None:
    total: Expression = A
    for _ in range(100):
        total = call("add", INT, total, A)
    _, (message, *_) = evaluate(SCHEMA, [], [("x", call("divide", INT, total, B))], BATCH)
    expression, row = message.split(" for the row ")
    assert expression.startswith("division by zero in (")
    assert len(expression) < 150
    assert row == "(a = 8, b = 0, s = a long text)"


def test_a_message_tells_the_first_columns_of_a_wide_row_and_cuts_long_values_off() -> None:
    names = [f"c{i}" for i in range(20)]
    schema = pa.schema([pa.field(name, TEXT) for name in names])
    row = pa.RecordBatch.from_pylist([dict.fromkeys(names, "x" * 1000) | {"c1": None}], schema)
    cast = call("cast", INT, Column(0, TEXT, True))
    _, (message,) = evaluate(schema, [], [("n", cast)], row)
    assert "c1 = NULL" in message
    assert "c9" not in message
    assert len(message) < 600


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [
        (Decimal(3).scaleb(-38), Decimal(10) ** 37, Decimal(0)),
        (Decimal("0." + "5" * 38), Decimal(5), Decimal("0." + "1" * 38)),
        (Decimal(0), Decimal("0.5"), Decimal(0)),
    ],
)
def test_decimals_of_all_scales_are_divided(
    dividend: Decimal, divisor: Decimal, quotient: Decimal
) -> None:
    small, large = pa.decimal128(38, 38), pa.decimal128(38, 0)
    kinds = (small, large) if divisor >= 1 else (large, small)
    schema = pa.schema([("a", kinds[0]), ("b", kinds[1])])
    batch = pa.record_batch(
        [pa.array([v], k) for v, k in zip((dividend, divisor), kinds, strict=True)], schema=schema
    )
    columns = [Column(i, kind, True) for i, kind in enumerate(kinds)]
    rows, errors = evaluate(schema, [], [("q", call("divide", small, *columns))], batch)
    assert not errors
    assert rows["q"][0].as_py() == quotient
