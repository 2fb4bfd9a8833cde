"""The registry of front-ends: maps each language of views to the function that binds its text."""

from collections.abc import Callable, Mapping
from functools import partial

from views.catalog import Catalog
from views.datalog.bind import bind as bind_datalog
from views.limits import Limits
from views.plan.bound import Bound
from views.sql.bind import bind as bind_sql

FRONT_ENDS: Mapping[str, Callable[[str, Catalog, Limits], Bound]] = {
    "sql": bind_sql,
    "datalog": bind_datalog,
}
"""From a query's text, the catalog and the limits to a plan; each raises kinds of SqlError."""

ORDERED_FRONT_ENDS: Mapping[str, Callable[[str, Catalog, Limits], Bound]] = {
    "sql": partial(bind_sql, ordered=True),
    "datalog": bind_datalog,
}
"""The same for queries that are answered once, in the order that they ask for."""
