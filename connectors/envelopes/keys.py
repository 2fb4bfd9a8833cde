"""The primary key that an envelope's declaration must have, or must not."""

from connectors.declaration import Declaration, refused


def check_no_key(table: Declaration) -> None:
    """Raise InvalidTable for a key that could not keep rows apart which stay for good."""
    sources = {table.metadata.get(column) for column in table.key}
    if table.key and not {"partition", "offset"} <= sources:
        raise refused(
            table,
            "key",
            "nothing keeps appended rows apart but their place; leave the key empty, or take "
            "the columns with metadata 'partition' and 'offset'",
        )


def check_primary_key(table: Declaration) -> None:
    """Raise InvalidTable unless there is a key, of columns of the record's contents."""
    if not table.key:
        raise refused(
            table, "key", f"envelope {table.envelope!r} needs the columns of a primary key"
        )
    if any(column in table.metadata for column in table.key):
        raise refused(
            table,
            "key",
            "a primary key comes from the record's contents; only envelope 'upsert' may have as "
            "its one key column that with metadata 'key'",
        )
