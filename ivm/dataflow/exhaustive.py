"""Tables that must have an entry for each of a closed set of names, checked at import."""

from collections.abc import Collection


def check_complete(table: str, entries: Collection[str], names: Collection[str]) -> None:
    """See that `table` has exactly the entries `names` (raises ImportError, naming the others)."""
    if missing := sorted(set(names) - set(entries)):
        raise ImportError(f"{table} lacks {', '.join(missing)}: add an entry for each")
    if unknown := sorted(set(entries) - set(names)):
        raise ImportError(f"{table} has {', '.join(unknown)}, which nothing declares: remove it")
