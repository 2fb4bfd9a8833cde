"""Checks the schema in a qualified name: all tables and views are in `public`."""

from sqlglot import exp

from views.errors import UnknownTable
from views.sql.source.text import Source

PUBLIC = "public"


def expect_public(source: Source, node: exp.Table | exp.Column) -> bool:
    """Tells whether a name has a schema (raises UnknownTable if it is not `public`)."""
    schema = node.args.get("db")
    if schema is None:
        return False
    if schema.name != PUBLIC:
        bare = f"{node.table}.{node.name}" if isinstance(node, exp.Column) else node.name
        told = f"no schema {schema.name!r}: tables and views are in {PUBLIC!r}; write {bare}"
        raise source.fault(UnknownTable, told, node)
    return True
