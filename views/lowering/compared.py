"""Lowers a comparison with the one row of an aggregate: `price > (SELECT avg(price) FROM t)`.

What is compared is computed on each side, and of the pairs only one side's columns are kept: then
the engine passes the rows between an old bound and a new one, where a condition on pairs would be
tested for all rows at every change (`ivm.planner.bounded_rows`). A condition on pairs is an error
for each pair for which it cannot be computed. So rows for which what is compared may fail to be
computed are tested as pairs; a value is known to be computable of numbers in a range.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa

from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from views.lowering.lowered import Lowered, projected
from views.plan.failures import may_fail
from views.plan.keys import has_one_row
from views.plan.nodes import Join
from views.plan.scalars import TRUE, columns_of, negation, predicate, test
from views.plan.trees import numbers_of

_COMPARISONS = frozenset({"gt", "ge", "lt", "le"})


@dataclass(frozen=True, slots=True)
class Compared:
    """A condition that compares `own`, over one side, with `bound`, over the side of one row.

    Where one of `computable` does not hold `own` may fail. It is NULL where `present` is.
    """

    condition: Call
    of_left: bool
    own: Expression
    bound: Expression
    present: Expression
    computable: tuple[Expression, ...]


def compared(plan: Join, residual: Sequence[Expression], needed: frozenset[int]) -> Compared | None:
    """Recognises a join by one comparison with the one row of a side that nobody else reads."""
    if len(residual) != 1 or not isinstance(residual[0], Call):
        return None
    condition = residual[0]
    if condition.function not in _COMPARISONS:
        return None
    for of_left, side, other in ((True, plan.left, plan.right), (False, plan.right, plan.left)):
        rows, one = numbers_of(side), numbers_of(other)
        if not has_one_row(other) or needed & one:
            continue
        for own, bound in (condition.arguments, condition.arguments[::-1]):
            read = columns_of(own), columns_of(bound)
            if read[0] and read[1] and read[0] <= rows and read[1] <= one:
                computable = _computable(own)
                if computable is None or may_fail(bound) or not _is_in_order(own, bound):
                    return None
                present = own.arguments[0] if computable and isinstance(own, Call) else own
                return Compared(condition, of_left, own, bound, present, computable)
    return None


def bounded(found: Compared, rows: Lowered, one: Lowered, needed: Sequence[int]) -> Lowered:
    """The rows that satisfy `found`, with the columns `needed`."""
    kept = sorted({rows.positions[n] for n in needed})
    side = rows.filtered([*found.computable, test("is_not_null", found.present)])
    schema = side.node.schema
    outputs: list[tuple[str, Expression]] = [("one", TRUE), ("own", _present(side.at(found.own)))]
    outputs += [(schema.field(p).name, side.at_position(p)) for p in kept]
    other = one.filtered([test("is_not_null", found.bound)])
    bounds = df.Map(other.node, (("one", TRUE), ("bound", _present(other.at(found.bound)))))
    width = len(outputs)
    pairs = df.Join(
        df.Arrange(df.Map(side.node, tuple(outputs)), (0,)),
        df.Arrange(bounds, (0,)),
        tuple((name, i + 1) for i, (name, _) in enumerate([*outputs[1:], ("bound", TRUE)])),
    )
    own, bound = (Column(i, found.own.type, False) for i in (0, width - 1))
    first = found.condition.arguments[0] == found.own
    test_ = Call(
        found.condition.function, (own, bound) if first else (bound, own), pa.bool_(), False
    )
    result = projected(df.Filter(pairs, test_), tuple(range(1, 1 + len(kept))))
    return Lowered(result, {n: kept.index(rows.positions[n]) for n in needed})


def others(found: Compared, rows: Lowered) -> Lowered | None:
    """The rows for which what is compared may fail; None if there are none."""
    if not found.computable:
        return None
    return rows.filtered([negation(c) for c in found.computable])


def _present(value: Expression) -> Expression:
    """`value` declared not NULL where only such rows are left."""
    return value if isinstance(value, Literal) else replace(value, nullable=False)


def _is_in_order(own: Expression, bound: Expression) -> bool:
    """Whether both are of one type whose values compare as the engine sorts them."""
    kind = own.type
    numbers = pa.types.is_signed_integer(kind) or pa.types.is_decimal128(kind)
    moments = pa.types.is_date32(kind) or pa.types.is_timestamp(kind)
    return kind == bound.type and (numbers or moments)


def _computable(own: Expression) -> tuple[Expression, ...] | None:
    """Conditions, one at most, under which `own` has a value; None if none are known."""
    if not may_fail(own):
        return ()
    if not (isinstance(own, Call) and own.function == "cast"):
        return None
    value, wanted = own.arguments[0], own.type
    given = value.type
    if may_fail(value) or not isinstance(wanted, pa.Decimal128Type):
        return None
    if not isinstance(given, pa.Decimal128Type) or given.scale > wanted.scale:
        return None  # it rounds
    whole = wanted.precision - wanted.scale
    most = Decimal(10) ** whole
    ends = [Literal(end, given) for end in (most, -most)]
    return (predicate("and", predicate("lt", value, ends[0]), predicate("gt", value, ends[1])),)
