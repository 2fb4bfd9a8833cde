"""Binds calls of functions by PostgreSQL's name and order of arguments."""

from collections.abc import Callable, Mapping

from sqlglot import exp

from views.errors import UnknownFunction, suggestion
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import Bound
from views.sql.base.signatures import Signatures, bind_call
from views.sql.functions import (
    arrays,
    documents,
    json_paths,
    kinds,
    moments,
    numbers,
    patterns,
    rows,
    strings,
    templates,
    temporal,
    time_zones,
)
from views.sql.functions.set_returning import SETS
from views.sql.functions.variadic import variadic

FUNCTIONS: Signatures = {
    **strings.FUNCTIONS,
    **patterns.FUNCTIONS,
    **numbers.FUNCTIONS,
    **moments.FUNCTIONS,
    **templates.FUNCTIONS,
    **documents.FUNCTIONS,
    **json_paths.FUNCTIONS,
    **kinds.FUNCTIONS,
    **arrays.FUNCTIONS,
}
# Functions whose arguments have names, or a first one that says which.
SPECIAL: Mapping[str, Callable[[Binder, exp.Anonymous], Bound]] = {
    "date_part": temporal.date_part,
    "make_interval": moments.make_interval,
    "timezone": time_zones.timezone,
}


def named(b: Binder, node: exp.Anonymous) -> Bound:
    """Binds a call by PostgreSQL's name and order of arguments."""
    function = node.name.lower()
    if function in SPECIAL:
        return SPECIAL[function](b, node)
    if function in SETS:
        return rows.of_set(b, node)
    if function not in FUNCTIONS:
        near = suggestion(function, [*FUNCTIONS, *SPECIAL])
        raise b.fault(UnknownFunction, f"no function {node.name}(){near}", node)
    if any(signature.variadic for signature in FUNCTIONS[function]):
        spread = variadic(b, node, function, node.expressions)
        if spread is not None:
            return spread
    return bind_call(b, node, function, node.expressions, FUNCTIONS)


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Anonymous: Handler(named, ("this", "expressions")),
    exp.Explode: Handler(rows.of_set, ("this", "expressions")),
}
