"""Binds aggregates of jsonb: joins the texts of the members, and reads them as one document.

Without ORDER BY an array's items are in the order of the subquery or function in FROM, or else
ascending. Of several values for one key of an object the last in order stays. `json` is the same
type as jsonb.
"""

from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.plan.scalars import call
from views.sql.aggregates.occurrence import AggregateHandler, Occurrence
from views.sql.base.coercion import BIGINT, INT, TEXT, Bound, cast
from views.sql.base.computations import Computation, Ordering

_NULL = Literal("null", TEXT)
_EMPTY_OBJECT = Literal("{}", JSON)


def array(o: Occurrence, node: exp.Func) -> Bound:
    """Binds `jsonb_agg([DISTINCT] x [ORDER BY …])`: a NULL is the item null."""
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
    if len(given) != 1:
        raise o.unsupported("an aggregate of other than one argument")
    argument = o.argument(given[0])
    value = o.binder.value(argument.node)
    item = cast(call("to_json", value, result=JSON), TEXT)
    if item.nullable:
        item = Call("coalesce", (item, _NULL), TEXT, False)
    order = o.order_of(argument)
    if argument.distinct:
        o.check_distinct(order, value)
    if not o.over_groups:
        order = (*order, Ordering(value, False, False))
    return _joined(o, "[", item, "]", argument.distinct, order)


def object_(o: Occurrence, node: exp.Func) -> Bound:
    """Binds `jsonb_object_agg(key, value [ORDER BY …])`; a key that is NULL is a row error."""
    given = node.expressions or [part for part in (node.this, node.expression) if part]
    if len(given) != 2 or isinstance(given[0], exp.Distinct):
        raise o.unsupported("jsonb_object_agg() of other than a key and a value")
    argument = o.argument(given[1])
    key = o.binder.explicit_cast(o.binder.bind(given[0]), TEXT, given[0])
    value = o.binder.value(argument.node)
    member = cast(Call("json_put", (_EMPTY_OBJECT, key, value), JSON, False), TEXT)
    length = Call("subtract", (call("length", member, result=INT), Literal(2, INT)), INT, False)
    bounds = (Literal(2, BIGINT), cast(length, BIGINT))
    inside = call("substring", member, *bounds, result=TEXT)
    return _joined(o, "{", inside, "}", False, o.order_of(argument))


def _joined(
    o: Occurrence,
    opening: str,
    member: Expression,
    closing: str,
    distinct: bool,
    order: tuple[Ordering, ...],
) -> Expression:
    """Joins the members, as texts, to one document; NULL of none."""
    computation = Computation("join", o.counted(member), distinct, order=order, parameter=", ")
    members = o.compute(computation, TEXT)
    text = call("concat", Literal(opening, TEXT), members, Literal(closing, TEXT), result=TEXT)
    return cast(text, JSON)


_KEY_AND_VALUE = AggregateHandler(object_, ("this", "expression", "expressions"))
AGGREGATES: dict[type[exp.Expr] | str, AggregateHandler] = {
    exp.JSONArrayAgg: AggregateHandler(array, ("this",)),
    "jsonb_agg": AggregateHandler(array, ("this", "expressions")),
    exp.JSONObjectAgg: _KEY_AND_VALUE,
    exp.JSONBObjectAgg: _KEY_AND_VALUE,
}
