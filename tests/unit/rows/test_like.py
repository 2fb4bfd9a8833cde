"""LIKE agrees with a regular expression, whatever literals and wildcards follow one another."""

import re

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from ivm.dataflow.expressions import Call, Column, Literal
from ivm.expressions.program import evaluate

TEXT = pa.string()
SCHEMA = pa.schema([pa.field("text", TEXT, nullable=False)])
LETTERS = st.sampled_from("abcé€")
TEXTS = st.text(LETTERS, max_size=80)
PATTERNS = st.lists(
    st.sampled_from(["%", "_", "\\%", "\\_"]) | st.text(LETTERS, min_size=1, max_size=20),
    max_size=6,
).map("".join)


@given(st.lists(TEXTS | TEXTS.map(lambda t: t + "%_"), max_size=20), PATTERNS)
@example(["x" * 15 + "needle", "needl" * 9 + "needle", "needleneedl"], "%needle")
@example(
    ["special requests", "special " * 8 + "requests", "requests special"], "%special%requests%"
)
def test_like_takes_the_texts_that_its_regular_expression_takes(
    texts: list[str], pattern: str
) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(texts, TEXT)], schema=SCHEMA)
    like = Call("like", (Column(0, TEXT, False), Literal(pattern, TEXT)), pa.bool_(), False)
    kept, errors = evaluate(SCHEMA, [like], None, batch)
    expression = re.compile(_expression(pattern), re.DOTALL)
    assert kept.column(0).to_pylist() == [t for t in texts if expression.fullmatch(t)]
    assert errors == []


def _expression(pattern: str) -> str:
    pieces = re.findall(r"\\.|.", pattern, re.DOTALL)
    special = {"%": ".*", "_": "."}
    return "".join(special.get(p) or re.escape(p[-1]) for p in pieces)
