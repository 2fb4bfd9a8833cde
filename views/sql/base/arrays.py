"""Arrays made of values, whose inner arrays are equally long."""

from collections.abc import Sequence

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.scalars import call


def array_of(values: Sequence[Expression], element: pa.DataType) -> Expression:
    """Makes the array of some values; a constant if all of them are."""
    kind = pa.list_(element)
    whole: Expression = Literal((), kind)
    if all(isinstance(v, Literal) for v in values):
        whole = Literal(tuple(v.value for v in values if isinstance(v, Literal)), kind)
    else:
        for value in values:
            whole = Call("array_append", (whole, value), kind, True)
    return matched(whole)


def matched(values: Expression) -> Expression:
    """Checks that inner arrays are equally long: a row error where they are not."""
    kind = values.type
    assert isinstance(kind, pa.ListType)
    if not isinstance(kind.value_type, pa.ListType):
        return values
    return call("array_matched", values, result=values.type)
