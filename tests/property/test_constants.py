"""A folded constant is what a row would give: of every text, number and function, in every type."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.constants import evaluated, read
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.errors import Unsupported
from ivm.expressions.program import evaluate
from ivm.values.types import INTERVAL, JSON, NUMERIC, UUID
from tests.fuzz.constants import NUMBERS, TEXTS
from tests.unit.rows.signatures import CALLS
from tests.unit.rows.test_functions import name, table
from tests.unit.rows.values import LISTS, TYPES
from views.rewrites.folding import fold
from views.sql.base.coercion import TEXT, castable, fitted
from views.sql.base.literals import number

KINDS = (*TYPES, *LISTS, NUMERIC, JSON, UUID, INTERVAL)
ERROR = "ERROR"
NUMBER_KINDS = [k for k in KINDS if castable(pa.int64(), k) and k not in (TEXT, pa.bool_())]


def of_rows(expression: Expression, batch: pa.RecordBatch) -> list[str]:
    """What `expression` gives for each row, with whether it has a value."""
    answers = []
    for row in range(batch.num_rows):
        one = batch.slice(row, 1)
        rows, errors = evaluate(batch.schema, [], [("x", expression)], one)
        answers.append(ERROR if errors else str(rows["x"]))
    return answers


def converted(column: Column, kind: pa.DataType) -> Expression:
    """`column` as `kind`."""
    return column if column.type == kind else Call("cast", (column,), kind, False)


def of_constant(expression: Expression) -> str:
    """What the constant gives, read back by the engine; what it refuses to compute is an error."""
    try:
        return of_rows(expression, pa.RecordBatch.from_pydict({"one": [1]}))[0]
    except Unsupported:
        return ERROR


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_quoted_constant_is_what_the_cast_of_a_text_is(kind: pa.DataType) -> None:
    texts = [text for text in TEXTS if text.isprintable()]
    batch = pa.RecordBatch.from_pydict({"s": texts})
    cast = converted(Column(0, TEXT, False), kind)

    def constant(text: str) -> str:
        try:
            return of_constant(read(text, kind))
        except ValueError:
            return ERROR

    assert [constant(text) for text in texts] == of_rows(cast, batch)


@pytest.mark.parametrize("kind", NUMBER_KINDS, ids=str)
def test_a_number_in_another_type_is_what_the_cast_of_a_column_is(kind: pa.DataType) -> None:
    for text in (*NUMBERS, *(f"-{n}" for n in NUMBERS)):
        literal = number(text)
        constant = fitted(literal, kind)
        if constant is None:
            continue
        batch = pa.RecordBatch.from_arrays([pa.array([literal.value], literal.type)], ["n"])
        cast = converted(Column(0, literal.type, False), kind)
        assert [of_constant(constant)] == of_rows(cast, batch)


@pytest.mark.parametrize("call", CALLS, ids=name)
@settings(max_examples=4)
@given(data=st.data())
def test_a_folded_call_is_what_the_call_of_columns_is(call: Call, data: st.DataObject) -> None:
    batch = table(call, data)
    for i, answer in enumerate(of_rows(call, batch)):
        constants = [
            argument
            if isinstance(argument, Literal)
            else evaluated_column(batch.slice(i, 1), argument)
            for argument in call.arguments
        ]
        folded = fold(Call(call.function, tuple(constants), call.type, call.nullable))
        assert of_constant(folded) == answer


def evaluated_column(row: pa.RecordBatch, column: Expression) -> Expression:
    """The constant that a column of a row is; NULL where it has none."""
    assert isinstance(column, Column)
    value = row.column(column.index)[0]
    if not value.is_valid:
        return Literal(None, column.type)
    return evaluated(Literal(value.as_py(), column.type)) or Literal(None, column.type)
