"""Defines views in a Python file: a decorated function makes the table of a view."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from views.builder.table import Database, Table


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view: `build` makes its table, `key` names the columns to look it up by, if given."""

    name: str
    build: Callable[[Database], Table]
    key: tuple[str, ...] | None


def view(
    name: str | None = None, key: str | Sequence[str] | None = None
) -> Callable[[Callable[[Database], Table]], ViewDefinition]:
    """Lets a function define the view of its own name, or of `name`, by one or more key columns.

    >>> @view(key="customer")
    ... def totals(db: Database) -> Table:
    ...     return db["orders"].group_by("customer").agg(orders=F.count())
    >>> totals.name, totals.key
    ('totals', ('customer',))
    """
    columns = None if key is None else (key,) if isinstance(key, str) else tuple(key)

    def defined(build: Callable[[Database], Table]) -> ViewDefinition:
        return ViewDefinition(name or build.__name__, build, columns)

    return defined
