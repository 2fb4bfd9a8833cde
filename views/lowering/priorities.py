"""Priorities: rows from outside a recursion enter it in ascending order of an expression.

The expression is over the columns of a name. It is carried down its body, through what renames and
selects columns and through least and greatest values, to the parts that the recursion does not
reach: these enter.
"""

from collections.abc import Collection
from dataclasses import replace

import ivm.dataflow.nodes as df
from ivm.dataflow.expressions import Column, Expression
from ivm.dataflow.loop_nodes import free_names
from views.errors import UnsupportedSql
from views.plan.scalars import columns_of, substitute

_EXTREMES = ("min", "max")


def prioritised(body: df.Node, priority: Expression, name: str, names: Collection[str]) -> df.Node:
    """Brings what `body` reads from outside into the loop that binds `names`, by `priority`.

    Raises UnsupportedSql where a reduction hides what the priority is of.
    """
    if not free_names(body) & set(names):
        return df.EnterAt(body, priority, name)
    match body:
        case df.Union():
            return df.Union(tuple(prioritised(i, priority, name, names) for i in body.inputs))
        case df.Filter() | df.Distinct() | df.Consolidate():
            return replace(body, input=prioritised(body.input, priority, name, names))
        case df.Map():
            below = substitute(priority, {i: e for i, (_, e) in enumerate(body.outputs)})
            return replace(body, input=prioritised(body.input, below, name, names))
        case df.Reduce():
            below = substitute(priority, _under_reduce(body, priority))
            return replace(body, input=prioritised(body.input, below, name, names))
        case _:
            return body


def _under_reduce(node: df.Reduce, priority: Expression) -> dict[int, Expression]:
    """The column that each column of a reduction that `priority` reads has its values from."""
    values = [aggregate.column for aggregate in node.aggregates]
    sources = [*node.key, *values]
    for position in columns_of(priority):
        aggregate = position - len(node.key)
        if aggregate >= 0 and node.aggregates[aggregate].function not in _EXTREMES:
            raise UnsupportedSql(
                f"PRIORITY BY reads a {node.aggregates[aggregate].function} of the recursion; it "
                "may read what that is grouped by, and least and greatest values"
            )
    fields = node.input.schema
    return {
        i: Column(source, fields.field(source).type, fields.field(source).nullable)
        for i, source in enumerate(sources)
        if source is not None
    }
