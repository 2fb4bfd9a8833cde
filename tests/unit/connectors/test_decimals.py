"""Decimals of any number of digits and any exponent, as JSON, CSV and Connect write them."""

from decimal import Decimal, localcontext

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.columns.faults import OUT_OF_RANGE, ValueFault
from connectors.columns.to_arrow import decimals

digits = st.text("0123456789", min_size=1, max_size=90)
texts = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}{fraction}{exponent}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(st.just(""), st.just("."), digits.map(".{}".format)),
    st.one_of(st.just(""), st.integers(-90, 90).map("e{}".format)),
)
types = st.integers(1, 38).flatmap(
    lambda precision: st.builds(pa.decimal128, st.just(precision), st.integers(0, precision))
)


def _fitting(text: str, dtype: pa.Decimal128Type) -> Decimal | None:
    """The value of `text`, if `dtype` holds it."""
    value = Decimal(text)
    with localcontext() as context:
        context.prec = 1000
        unscaled = value.scaleb(dtype.scale)
        whole = unscaled == unscaled.to_integral_value()
        return value if whole and abs(unscaled) < Decimal(10) ** dtype.precision else None


@given(texts, types)
def test_a_decimal_is_what_is_written_or_out_of_range(text: str, dtype: pa.Decimal128Type) -> None:
    value = _fitting(text, dtype)
    if value is not None:
        assert decimals([None, text], {str}, dtype).to_pylist() == [None, value]
        return
    with pytest.raises(ValueFault) as told:
        decimals([None, text], {str}, dtype)
    assert told.value.reason == OUT_OF_RANGE


@pytest.mark.parametrize("exponent", ["e-100000", "e999999999999", "e-999999999999999999999"])
def test_an_exponent_of_any_size_is_out_of_range(exponent: str) -> None:
    with pytest.raises(ValueFault) as told:
        decimals([f"1{exponent}"], {str}, pa.decimal128(5, 2))
    assert told.value.reason == OUT_OF_RANGE
