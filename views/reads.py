"""Finds the columns that a query reads of a table, so that others can be dropped."""

from collections.abc import Iterable

from ivm.dataflow.expressions import Column, Expression
from views.catalog import Catalog, View
from views.compile import deeply, existing
from views.languages import FRONT_ENDS
from views.limits import DEFAULT, Limits
from views.plan.nodes import Distinct, Except, Get, Iterate, Map, Plan, Reduce, Union
from views.plan.scalars import walk
from views.plan.trees import expressions, inputs, numbers_of
from views.rewrites import rewrite
from views.rewrites.context import Context


def columns_read(view: View, table: str, catalog: Catalog, limits: Limits = DEFAULT) -> set[str]:
    """Names the columns of `table` on which the rows of `view` depend, as the rewritten plan does.

    `catalog` is as the view sees it. Raises what compiling it raises.
    """
    return deeply(lambda: _columns_read(view, table, catalog, limits), view.query)


def _columns_read(view: View, table: str, catalog: Catalog, limits: Limits) -> set[str]:
    bound = FRONT_ENDS[view.language](view.query, catalog, limits)
    plan = rewrite(bound.plan, Context(bound.numbers, existing(catalog, ())))
    found: set[str] = set()
    met: set[tuple[int, frozenset[int]]] = set()
    waiting = [(plan, numbers_of(plan))]
    while waiting:
        each, wanted = waiting.pop()
        if (id(each), wanted) in met:
            continue
        met.add((id(each), wanted))
        if isinstance(each, Get) and each.name == table:
            found |= {a.name for a in each.attributes if a.number in wanted}
        waiting += zip(inputs(each), _wanted_below(each, wanted), strict=True)
    return found


def _wanted_below(plan: Plan, wanted: frozenset[int]) -> list[frozenset[int]]:
    """Lists the columns of each input that `wanted` ones of a plan, and its rows, follow from."""
    below = inputs(plan)
    match plan:
        case Distinct() | Except() | Iterate():
            return list(map(numbers_of, below))
        case Union():
            places = [i for i, a in enumerate(plan.attributes) if a.number in wanted]
            return [frozenset(each.attributes[i].number for i in places) for each in below]
        case Map():
            return [_columns_of(e for a, e in plan.outputs if a.number in wanted)]
        case Reduce():
            return [_columns_of(expressions(plan))]
        case _:
            return [wanted | _columns_of(expressions(plan))] * len(below)


def _columns_of(given: Iterable[Expression]) -> frozenset[int]:
    return frozenset(e.index for each in given for e in walk(each) if isinstance(e, Column))
