"""Whole expression trees, with errors and NULLs in any place, against the oracle."""

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.expressions.program import evaluate
from tests.oracle.scalars import evaluate as expected
from tests.oracle.values import Error
from tests.unit.rows.values import batch_of, schema_of

INT, BOOL, TEXT = pa.int64(), pa.bool_(), pa.string()
SCHEMA = schema_of(("a", INT, True), ("b", INT, False), ("s", TEXT, True), ("p", BOOL, True))


def calls(
    type_: pa.DataType, names: list[str], *arguments: st.SearchStrategy[Expression]
) -> st.SearchStrategy[Call]:
    """Calls of one of these functions."""
    return st.builds(
        lambda name, given_: Call(name, given_, type_, True),
        st.sampled_from(names),
        st.tuples(*arguments),
    )


def grow(
    trees: tuple[st.SearchStrategy[Expression], ...], depth: int
) -> tuple[st.SearchStrategy[Expression], ...]:
    """Integer, boolean and text trees, one level deeper each time."""
    if depth == 0:
        return trees
    numbers, truths, texts = trees
    deeper_numbers = st.one_of(
        numbers,
        calls(INT, ["add", "subtract", "multiply", "divide", "modulo"], numbers, numbers),
        calls(INT, ["coalesce", "greatest", "least"], numbers, numbers, numbers),
        calls(INT, ["case"], truths, numbers, truths, numbers, numbers),
        calls(INT, ["cast"], texts),
    )
    deeper_truths = st.one_of(
        truths,
        calls(BOOL, ["and", "or"], truths, truths, truths),
        calls(BOOL, ["not"], truths),
        calls(BOOL, ["eq", "lt", "ge", "is_distinct", "is_not_distinct"], numbers, numbers),
        calls(BOOL, ["ne", "le", "is_distinct"], texts, texts),
        calls(BOOL, ["is_null", "is_not_null"], numbers | texts),
    )
    deeper_texts = st.one_of(
        texts,
        calls(TEXT, ["concat"], texts, texts),
        calls(TEXT, ["case"], truths, texts, texts),
        calls(TEXT, ["cast"], numbers),
    )
    return grow((deeper_numbers, deeper_truths, deeper_texts), depth - 1)


LEAVES: tuple[st.SearchStrategy[Expression], ...] = (
    st.sampled_from([Column(0, INT, True), Column(1, INT, False)])
    | st.builds(Literal, st.none() | st.integers(-2, 2), st.just(INT)),
    st.sampled_from([Column(3, BOOL, True), Literal(True, BOOL), Literal(None, BOOL)]),
    st.sampled_from([Column(2, TEXT, True), Literal("1", TEXT), Literal("not a number", TEXT)]),
)
NUMBERS, TRUTHS, TEXTS = grow(LEAVES, 3)
SMALL = st.integers(-2, 2)
ROWS = st.lists(
    st.tuples(
        st.none() | SMALL | st.just(2**63 - 1),
        SMALL,
        st.none() | st.sampled_from(["1", "-2", "x", "a text that is long"]),
        st.none() | st.booleans(),
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=400)
@given(number=NUMBERS, truth=TRUTHS, text=TEXTS, rows=ROWS)
def test_outputs_agree_with_the_oracle(
    number: Expression, truth: Expression, text: Expression, rows: list[tuple[Any, ...]]
) -> None:
    outputs = [("n", number), ("p", truth), ("s", text)]
    outcomes = [[expected(e, row) for _, e in outputs] for row in rows]
    batch = batch_of(SCHEMA, *zip(*rows, strict=True))
    result, errors = evaluate(SCHEMA, [], [(n, with_nulls(e)) for n, e in outputs], batch)
    good = [o for o in outcomes if not any(isinstance(v, Error) for v in o)]
    assert [list(r.values()) for r in result.to_pylist()] == good
    assert len(errors) == len(rows) - len(good)


def with_nulls(expression: Expression) -> Expression:
    """The same value in a column that can hold NULLs."""
    return Call("coalesce", (expression, Literal(None, expression.type)), expression.type, True)


@settings(max_examples=400)
@given(first=TRUTHS, second=TRUTHS, rows=ROWS)
def test_predicates_agree_with_the_oracle(
    first: Expression, second: Expression, rows: list[tuple[Any, ...]]
) -> None:
    kept, failed = [], 0
    for row in rows:
        outcome = expected(first, row)
        if outcome is True:
            outcome = expected(second, row)
        failed += isinstance(outcome, Error)
        if outcome is True:
            kept.append(row)
    batch = batch_of(SCHEMA, *zip(*rows, strict=True))
    result, errors = evaluate(SCHEMA, [first, second], None, batch)
    assert [tuple(r.values()) for r in result.to_pylist()] == kept
    assert len(errors) == failed
