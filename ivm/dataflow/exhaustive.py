"""Exhaustiveness: a table has exactly one entry for each name of a closed set, checked at import.

>>> check_complete("OPERATORS", {"join": 1}, ["join", "map"])
Traceback (most recent call last):
ImportError: OPERATORS lacks map: add an entry for each
"""

from collections.abc import Collection


def check_complete(table: str, entries: Collection[str], names: Collection[str]) -> None:
    """Raise ImportError, naming the difference, unless the entries are exactly `names`."""
    if missing := sorted(set(names) - set(entries)):
        raise ImportError(f"{table} lacks {', '.join(missing)}: add an entry for each")
    if unknown := sorted(set(entries) - set(names)):
        raise ImportError(f"{table} has {', '.join(unknown)}, which nothing declares: remove it")
