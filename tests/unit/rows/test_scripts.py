"""Texts of values, and what functions in Python promise for all of them."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ivm.dataflow.expressions import Call, Column
from ivm.expressions.program import evaluate
from ivm.expressions.python.arrays import array_reader, array_writer
from ivm.expressions.python.documents import contains
from ivm.values.calendar import civil, days_of
from ivm.values.documents import canonical, parse
from ivm.values.forms import timestamp_text
from ivm.values.interval_text import parse_interval, spelled
from ivm.values.intervals import (
    age,
    elapsed,
    justify_interval,
    moved,
    normal,
    span,
)
from ivm.values.moment_text import parse_timestamp
from ivm.values.types import Interval

MICROS = st.integers(-(10**16), 10**16)
SMALL = st.integers(-40, 40)
INTERVALS = st.builds(Interval, SMALL, SMALL, st.integers(-(10**12), 10**12))
DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('aé"\\\n', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner),
    max_leaves=8,
)


@given(
    micros=st.integers(-62_000_000_000_000_000, 250_000_000_000_000_000),
    zone=st.sampled_from(
        ("", "Z", " z", "+02", "-0330", "+05:45", "+15:59", "+16", " UTC", " PST")
    ),
    cut=st.integers(0, 6),
    between=st.sampled_from((" ", "T", "  ")),
)
def test_the_kernel_reads_an_iso_text_as_the_parser_of_all_forms(
    micros: int, zone: str, cut: int, between: str
) -> None:
    text = timestamp_text(micros).replace(" ", between)
    text = text[: len(text) - cut] + zone
    batch = pa.RecordBatch.from_pydict({"s": [text]})
    for zoned in (False, True):
        kind = pa.timestamp("us", "UTC" if zoned else None)
        cast = Call("cast", (Column(0, pa.string(), False),), kind, False)
        rows, errors = evaluate(batch.schema, [], [("x", cast)], batch)
        try:
            expected = parse_timestamp(text, zoned)
        except ValueError:
            assert errors
        else:
            assert rows["x"].cast(pa.int64()).to_pylist() == [expected]


@given(value=INTERVALS)
def test_an_interval_is_read_back_from_its_text(value: Interval) -> None:
    assert parse_interval(spelled(value)) == value


@given(value=INTERVALS)
def test_a_normal_form_has_the_same_span_and_is_its_own(value: Interval) -> None:
    assert span(normal(value)) == span(value)
    assert normal(normal(value)) == normal(value)
    assert span(justify_interval(value)) == span(value)


@given(later=MICROS, earlier=MICROS)
def test_a_difference_leads_back(later: int, earlier: int) -> None:
    assert moved(earlier, elapsed(later, earlier)) == later
    assert span(age(later, earlier)) == -span(age(earlier, later))


@given(days=st.integers(-3_000_000, 3_000_000))
def test_a_date_leads_back_to_its_days(days: int) -> None:
    assert days_of(*civil(days)) == days


@given(document=DOCUMENTS, other=DOCUMENTS)
def test_documents_are_equal_exactly_if_their_texts_are(document: Any, other: Any) -> None:
    texts = [canonical(pa.scalar(_json(d)).as_py()) for d in (document, other)]
    assert canonical(texts[0]) == texts[0]
    assert parse(texts[0]) == document
    if texts[0] == texts[1]:
        assert document == other
    assert contains(document, document)


def _json(document: Any) -> str:
    """A text of the document with more blanks than it needs, keys in their own order."""
    match document:
        case dict():
            members = (f"{_json(k)} :  {_json(v)}" for k, v in document.items())
            return "{ " + " , ".join(members) + "}"
        case list():
            return "[" + " ,".join(map(_json, document)) + " ]"
        case str():
            return '"' + "".join(f"\\u{ord(c):04X}" for c in document) + '"'
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[document]
        case _:
            return f"{document}.0"


@given(values=st.lists(st.none() | st.text('a{},"\\ \tN', max_size=4) | st.just("NULL")))
def test_an_array_is_read_back_from_its_text(values: list[str | None]) -> None:
    kind = pa.list_(pa.string())
    assert array_reader(kind)(array_writer(kind)(values)) == values


def test_numbers_of_documents_are_exact() -> None:
    assert parse(canonical("[12345678901234567890.10, 1e2, 0.10]")) == [
        Decimal("12345678901234567890.1"),
        100,
        Decimal("0.1"),
    ]
