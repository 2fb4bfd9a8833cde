"""Hints for records that another envelope would read."""

from collections.abc import Mapping
from typing import Any

# Members that envelopes of changes have, and rows seldom; a "payload" is an envelope with a schema.
_OF_ENVELOPES = frozenset({"op", "before", "after", "data", "old", "type", "database", "payload"})


def of_plain(record: Mapping[str, Any]) -> str:
    """Advises what to declare for a plain row; nothing where it has parts of an envelope."""
    if not record or _OF_ENVELOPES & record.keys():
        return ""
    return (
        "; if each record is a plain row, declare the source with envelope 'append' (rows are only "
        "added) or 'upsert' (each replaces the row of its key)"
    )
