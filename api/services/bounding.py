"""Bounds on what a query, and the hydration of a view, may take: budgets by the settings."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.errors import QueryStopped
from api.settings import Settings
from ivm.errors import BudgetExceeded
from ivm.pool import Budget


@contextmanager
def query_budget(settings: Settings) -> Iterator[Budget]:
    """Bounds what a query takes from now on (raises QueryStopped where that is used up)."""
    with _telling("max_query_seconds, max_query_bytes or max_process_bytes"):
        yield Budget(
            settings.max_query_seconds,
            bytes=settings.max_query_bytes,
            process_bytes=settings.max_process_bytes,
        )


@contextmanager
def hydration_budget(settings: Settings) -> Iterator[Budget]:
    """Bounds what a view's hydration takes (raises QueryStopped where that is used up)."""
    with _telling("max_hydration_seconds or max_process_bytes"):
        yield Budget(settings.max_hydration_seconds, process_bytes=settings.max_process_bytes)


@contextmanager
def _telling(bounds: str) -> Iterator[None]:
    try:
        yield
    except BudgetExceeded as error:
        told = f"{error}; ask for less, or let the operator raise {bounds}"
        raise QueryStopped(told) from None
