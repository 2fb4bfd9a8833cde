"""The table of scalar syntax: maps each class to its handler; any other is refused."""

from collections.abc import Mapping

from sqlglot import exp

from views.sql.aggregates import calls, windows
from views.sql.base.binder import Handler
from views.sql.clauses import any_all, quantifiers, subqueries, temporal_filter
from views.sql.functions import (
    arrays,
    documents,
    general,
    json_paths,
    kinds,
    named,
    numbers,
    operators,
    patterns,
    refused,
    rows,
    strings,
    temporal,
)

HANDLERS: Mapping[type[exp.Expr] | str, Handler] = {
    **operators.HANDLERS,
    **general.HANDLERS,
    **numbers.HANDLERS,
    **patterns.HANDLERS,
    **strings.HANDLERS,
    **documents.HANDLERS,
    **json_paths.HANDLERS,
    **arrays.HANDLERS,
    **kinds.HANDLERS,
    **named.HANDLERS,
    **rows.HANDLERS,
    **refused.HANDLERS,
    **temporal.HANDLERS,
    **temporal_filter.HANDLERS,
    **calls.HANDLERS,
    **subqueries.HANDLERS,
    **quantifiers.HANDLERS,
    **any_all.HANDLERS,
    **windows.HANDLERS,
}
