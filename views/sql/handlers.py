"""Every class of scalar syntax that views have, with its handler; all others are refused."""

from collections.abc import Mapping

from sqlglot import exp

from views.sql import (
    aggregates,
    arrays,
    clock,
    documents,
    functions,
    named,
    numbers,
    operators,
    patterns,
    quantifiers,
    subqueries,
    temporal,
    windows,
)
from views.sql.binder import Handler

HANDLERS: Mapping[type[exp.Expr] | str, Handler] = {
    **operators.HANDLERS,
    **functions.HANDLERS,
    **numbers.HANDLERS,
    **patterns.HANDLERS,
    **documents.HANDLERS,
    **arrays.HANDLERS,
    **named.HANDLERS,
    **temporal.HANDLERS,
    **clock.HANDLERS,
    **aggregates.HANDLERS,
    **subqueries.HANDLERS,
    **quantifiers.HANDLERS,
    **windows.HANDLERS,
}
