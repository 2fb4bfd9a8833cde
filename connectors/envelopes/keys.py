"""Primary keys: those that an envelope's declaration must have, and rows out of records' keys."""

from typing import Any

from connectors.columns.faults import MISSING_FIELD, NOT_AN_ENVELOPE, NULL_KEY, Fault
from connectors.declaration import Declaration, refused
from connectors.envelopes.images import Row, Shape


def check_no_key(table: Declaration) -> None:
    """Raise InvalidTable for a key that cannot tell rows apart that stay for good."""
    place = {"partition", "offset"} | ({"topic"} if table.topic_pattern is not None else set())
    if table.key and not place <= {table.metadata.get(column) for column in table.key}:
        raise refused(
            table,
            "key",
            "nothing keeps appended rows apart but their place; leave the key empty, or take "
            f"the columns with metadata {', '.join(map(repr, sorted(place)))}",
        )


def check_primary_key(table: Declaration) -> None:
    """Raise InvalidTable unless there is a key, of columns of the record's contents.

    The topic may be a part of it. A table whose images are whole needs none: each takes away, or
    adds, one of equal rows.
    """
    if not table.key and table.replica_identity != "full":
        raise refused(
            table,
            "key",
            f"envelope {table.envelope!r} needs the columns of a primary key; a table without one "
            "is read with replica_identity 'full' (envelope 'debezium'), or with envelope 'append' "
            "if its rows are only added",
        )
    kinds = {table.metadata.get(column) for column in table.key}
    if kinds - {None, "topic"} or (table.key and None not in kinds):
        raise refused(
            table,
            "key",
            "a primary key comes from the record's contents, beside which it may have metadata "
            "'topic' alone; only envelope 'upsert' may have as its one key column that with "
            "metadata 'key'",
        )


def foreign(value: Row, shape: Shape) -> Fault:
    """The fault of an object that stands for a row and has none of its columns."""
    found = ", ".join(map(repr, list(value)[:5]))
    return Fault(
        MISSING_FIELD,
        f"none of its fields ({found[:200]}) is a column of the table ({', '.join(shape.names)})"
        "; is the envelope another?",
    )


def row_of_key(key: Any, shape: Shape) -> Row | Fault:
    """The columns of the primary key; none where a table takes its key as the bytes that it is."""
    if isinstance(key, Fault):
        return Fault(key.reason, f"the record's key: {key.message}")
    if not shape.key:
        return {}
    if key is None:
        return Fault(NULL_KEY, "the record has no key, so its row cannot be told")
    if type(key) is not dict:
        if len(shape.key) == 1:
            return {shape.key[0]: key}
        return Fault(NOT_AN_ENVELOPE, f"the record's key is no object with {list(shape.key)}")
    try:
        return {name: key[name] for name in shape.key}
    except KeyError as error:
        return Fault(MISSING_FIELD, f"the record's key has no field {error.args[0]!r}")
