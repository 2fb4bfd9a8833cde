"""Days compared with constant moments: as days, so that no day has to become a moment.

`day < date '1994-01-01' + interval '1 year'` compares moments, since the sum is one. A day beyond
the range of moments has none, which would be an error of its row; PostgreSQL compares it all the
same, and so does a comparison of days.
"""

from dataclasses import replace
from datetime import datetime, time

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
# Of a moment within a day: midnight is before it, the day's successor behind it.
_WITHIN = {"lt": "le", "le": "le", "gt": "gt", "ge": "gt"}


def by_day(call: Call) -> Call:
    """The comparison `call`, of days where one side is a day and the other a constant moment."""
    if call.function not in _MIRRORED:
        return call
    left, right = call.arguments
    if isinstance(left, Literal):
        mirrored = replace(call, function=_MIRRORED[call.function], arguments=(right, left))
        found = by_day(mirrored) if not isinstance(right, Literal) else mirrored
        return call if found == mirrored else found
    day, moment = _day(left), right.value if isinstance(right, Literal) else None
    if day is None or not isinstance(moment, datetime):
        return call
    function = call.function if moment.time() == time() else _WITHIN[call.function]
    return replace(call, function=function, arguments=(day, Literal(moment.date(), pa.date32())))


def _day(moment: Expression) -> Expression | None:
    """The day whose midnight `moment` is, without a zone; None where it is none."""
    if not (isinstance(moment, Call) and moment.function == "cast"):
        return None
    (day,) = moment.arguments
    is_plain = pa.types.is_timestamp(moment.type) and moment.type.tz is None
    return day if is_plain and day.type == pa.date32() else None
