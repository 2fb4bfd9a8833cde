"""Aggregates: collected by the clause they stand in, computed by its query.

Of integers up to 32 bits a sum is int64; of int64 and decimals it has 38 digits and keeps the
scale. An average of exact numbers has 6 digits after the point, or the argument's scale.
"""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from ivm.expressions import Call, Expression, Literal
from views.errors import GroupingError
from views.plan.nodes import AggregateFunction
from views.plan.scalars import columns_of
from views.sql.binder import Binder, Computation, Handler, Ordering, name
from views.sql.coercion import BIGINT, BOOL, DIGITS, DOUBLE, INT, Bound, cast, is_number, scale_of
from views.sql.coercion import promoted as promoted_type

_AVERAGE_SCALE = 6
_MOST_BITS = 31
_FUNCTIONS: dict[type[exp.Expr], AggregateFunction] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.LogicalAnd: "min",
    exp.LogicalOr: "max",
}


def aggregate(b: Binder, node: exp.Func, only_if: exp.Expr | None = None) -> Bound:
    """An aggregate of the clause's query, over the rows where `only_if` holds."""
    if b.aggregates is None:
        raise b.fault(GroupingError, f"an aggregate cannot stand in {b.clause}", node)
    inner = b.sibling("an aggregate's argument")
    argument, distinct = _argument(inner, node)
    if only_if is not None:
        condition = inner.condition(only_if)
        counted: Expression = Literal(True, BOOL) if argument is None else argument
        argument = Call(
            "case", (condition, counted, Literal(None, counted.type)), counted.type, True
        )
    if not inner.pending:
        _check_local(b, argument, node)
    b.aggregates.pending.extend(inner.pending)
    return _register(b, _FUNCTIONS[type(node)], argument, distinct)


def _register(
    b: Binder, function: AggregateFunction, argument: Expression | None, distinct: bool
) -> Expression:
    assert b.aggregates is not None
    never_null = argument is not None and not argument.nullable and b.enclosing is None
    if function == "count" and never_null and not distinct:
        argument = None
    computation = Computation(function, argument, distinct and function not in ("min", "max"))
    if computation not in b.aggregates.calls:
        kind = BIGINT if argument is None else result_type(function, argument.type)
        b.aggregates.calls[computation] = b.session.numbers.new(function, kind, function != "count")
    return b.aggregates.calls[computation].column


def result_type(function: AggregateFunction, argument: pa.DataType) -> pa.DataType:
    """The type of an aggregate over values of type `argument`."""
    if function == "count":
        return BIGINT
    if function in ("min", "max"):
        return argument
    if pa.types.is_floating(argument):
        return DOUBLE
    scale = scale_of(argument)
    if function == "avg":
        return pa.decimal128(DIGITS, max(scale, _AVERAGE_SCALE))
    if pa.types.is_integer(argument) and argument.bit_width <= 32:
        return BIGINT
    return pa.decimal128(DIGITS, scale)


def _argument(b: Binder, node: exp.Func) -> tuple[Expression | None, bool]:
    """What is aggregated (None: rows), and whether each value counts once."""
    given = node.this
    if isinstance(node, exp.Count) and (given is None or isinstance(given, exp.Star)):
        return None, False
    distinct = isinstance(given, exp.Distinct)
    if distinct:
        b.session.source.only(given, ("expressions",))
        if len(given.expressions) != 1 or isinstance(given.expressions[0], exp.Tuple):
            raise b.session.source.unsupported("DISTINCT of several columns in an aggregate", node)
        given = given.expressions[0]
    if given is None or node.expressions:
        raise b.session.source.unsupported("an aggregate of several arguments", node)
    argument = b.value(given)
    if isinstance(node, exp.LogicalAnd | exp.LogicalOr) and argument.type != BOOL:
        raise b.mismatch(f"a condition is needed here, not {name(argument)}", given)
    if isinstance(node, exp.Sum | exp.Avg):
        if not is_number(argument.type):
            raise b.mismatch(f"cannot take a sum or average of {name(argument)}", given)
        argument = cast(argument, promoted_type(argument.type))
    return argument, distinct


def _check_local(b: Binder, argument: Expression | None, node: exp.Func) -> None:
    """Refuse an aggregate of an outer query's columns: SQL computes that one out there."""
    if argument is None or b.enclosing is not None:
        return
    read = columns_of(argument)
    local = {a.number for a in b.scope.attributes()}
    if read and not read & local:
        raise b.session.source.unsupported("an aggregate over an outer query's columns", node)


def grouping(b: Binder, node: exp.Grouping) -> Bound:
    """`grouping(keys…)`: a bit for each, the last one lowest, that is set where it is left out."""
    if b.aggregates is None:
        raise b.fault(GroupingError, f"grouping() cannot stand in {b.clause}", node)
    inner = b.sibling("an argument of grouping()")
    if not 1 <= len(node.expressions) <= _MOST_BITS:
        raise b.session.source.unsupported(f"grouping() of other than 1 to {_MOST_BITS} keys", node)
    keys = tuple(inner.value(key) for key in node.expressions)
    if keys not in b.aggregates.groupings:
        b.aggregates.groupings[keys] = (b.session.numbers.new("grouping", INT, False), node)
    return b.aggregates.groupings[keys][0].column


def filtered(b: Binder, node: exp.Filter) -> Bound:
    """`aggregate FILTER (WHERE condition)`."""
    if type(node.this) not in _FUNCTIONS:
        raise b.session.source.unsupported("FILTER of anything but an aggregate", node)
    return aggregate(b, node.this, node.expression.this)


def ordering(b: Binder, nodes: Sequence[exp.Ordered]) -> tuple[Ordering, ...]:
    """The sort keys of an ORDER BY, by expressions."""
    return tuple(ordering_of(b, node, b.value(node.this)) for node in nodes)


def ordering_of(b: Binder, node: exp.Ordered, value: Expression) -> Ordering:
    """A sort key by `value`, in the direction that `node` says."""
    b.session.source.only(node, ("this", "desc", "nulls_first"))
    return Ordering(value, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


_WHOLE = ("this", "expressions", "big_int")
HANDLERS: dict[type[exp.Expr], Handler] = {
    **{kind: Handler(aggregate, _WHOLE) for kind in _FUNCTIONS},
    exp.Grouping: Handler(grouping, ("expressions",)),
    exp.Filter: Handler(filtered, ("this", "expression")),
}
