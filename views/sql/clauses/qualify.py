"""Binds QUALIFY: a condition over window functions, as DuckDB and others have it.

It keeps rows once all windows are computed, before DISTINCT and LIMIT; what PostgreSQL writes as
WHERE around the query. A name that is no column's is an output column's.
"""

from collections.abc import Mapping

from sqlglot import exp

from ivm.dataflow.expressions import Expression
from views.errors import GroupingError
from views.sql.base.binder import Binder, Given
from views.sql.clauses.quantifiers import decided
from views.sql.source.text import QUERIES


def bind_qualify(
    binder: Binder, clause: exp.Qualify, outputs: Mapping[str, Expression]
) -> Expression:
    """Binds the condition, by a binder of the query's output; `outputs` has its columns by name."""
    condition = decided(binder, _named(binder, clause.this, outputs))
    if not binder.windows:
        raise binder.fault(
            GroupingError,
            "QUALIFY is for window functions; write WHERE, or HAVING of aggregates",
            clause,
        )
    return condition


def _named(binder: Binder, node: exp.Expr, outputs: Mapping[str, Expression]) -> exp.Expr:
    """Puts the values of outputs in place of their names."""

    def put(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.name not in outputs:
            return part
        if part.find_ancestor(*QUERIES) or binder.is_column(part):
            return part
        return Given(this=outputs[part.name])

    return node.copy().transform(put, copy=False)
