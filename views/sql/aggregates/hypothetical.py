"""Binds `rank(…) WITHIN GROUP (ORDER BY …)` and its like: the place that a given row would have.

They are counts: of the rows before it (rank), of those that differ (dense_rank), or its share of
all rows (percent_rank, cume_dist).
"""

from collections.abc import Sequence

from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.plan.scalars import call, columns_of, conjunction, disjunction, predicate, test
from views.sql.aggregates.occurrence import TRUE_ROW, Occurrence, only_where, ordering_of
from views.sql.base.coercion import BIGINT, DOUBLE, TEXT, cast
from views.sql.base.computations import Computation, Ordering
from views.sql.source.text import describe

Hypothetical = exp.Rank | exp.DenseRank | exp.PercentRank | exp.CumeDist
Key = tuple[Expression, Ordering]

_ONE = Literal(1, BIGINT)


def place(o: Occurrence, node: Hypothetical, by: Sequence[exp.Ordered]) -> Expression:
    """Binds the place of the row whose sort keys are the arguments of `node`."""
    keys = _keys(o, node, by)
    before = _before(keys)
    match node:
        case exp.Rank():
            return _plus_one(_count(o, before))
        case exp.DenseRank():
            differing = only_where(before, _text(keys))
            distinct = Computation("count", o.counted(differing), distinct=True)
            return _plus_one(o.compute(distinct, BIGINT))
        case exp.PercentRank():
            rows = _count(o, None)
            share = _share(_count(o, before), rows)
            some = predicate("gt", rows, Literal(0, BIGINT))
            return Call("case", (some, share, Literal(0.0, DOUBLE)), DOUBLE, False)
        case exp.CumeDist():
            equal = [test("is_not_distinct", ordering.value, given) for given, ordering in keys]
            up_to = disjunction([before, conjunction(equal)])
            return _share(_plus_one(_count(o, up_to)), _plus_one(_count(o, None)))


def _keys(o: Occurrence, node: Hypothetical, by: Sequence[exp.Ordered]) -> list[Key]:
    """The row's values, each with the key that it is compared with."""
    name = describe(node)
    if len(node.expressions) != len(by):
        raise o.binder.mismatch(
            f"{name} WITHIN GROUP takes a value for each key of its ORDER BY", node
        )
    keys = []
    for value, ordered in zip(node.expressions, by, strict=True):
        given, key = o.binder.same_type([value, ordered.this], f"{name} WITHIN GROUP")
        if columns_of(given) & o.around.scope.numbers():
            raise o.unsupported(
                f"a value of {name} WITHIN GROUP that varies with the rows"
                " (count the rows before it: 1 + count(*) FILTER (WHERE …))"
            )
        keys.append((given, ordering_of(o.binder, ordered, key)))
    return keys


def _before(keys: Sequence[Key]) -> Expression:
    """The condition that a row comes before the given one."""
    (given, ordering), *rest = keys
    key = ordering.value
    strictly = predicate("gt" if ordering.descending else "lt", key, given)
    first, last = (key, given) if ordering.nulls_first else (given, key)
    apart = conjunction([test("is_null", first), test("is_not_null", last)])
    if not rest:
        return disjunction([strictly, apart])
    tied = conjunction([test("is_not_distinct", key, given), _before(rest)])
    return disjunction([strictly, apart, tied])


def _text(keys: Sequence[Key]) -> Expression:
    """The keys of a row as one text, which differs where they do."""
    parts: list[Expression] = []
    for _, ordering in keys:
        document = cast(call("to_json", ordering.value, result=JSON), TEXT)
        parts += [Call("coalesce", (document, Literal("null", TEXT)), TEXT, False)]
        parts += [Literal(",", TEXT)]
    return Call("concat", tuple(parts), TEXT, False)


def _count(o: Occurrence, condition: Expression | None) -> Expression:
    """The number of rows for which `condition` is true (None: of all)."""
    counted: Expression | None = None if condition is None else only_where(condition, TRUE_ROW)
    if o.condition is not None:
        counted = o.counted(counted or TRUE_ROW)
    return o.compute(Computation("count", counted), BIGINT)


def _plus_one(count: Expression) -> Expression:
    return Call("add", (count, _ONE), BIGINT, False)


def _share(part: Expression, whole: Expression) -> Expression:
    return Call("divide", (cast(part, DOUBLE), cast(whole, DOUBLE)), DOUBLE, False)
