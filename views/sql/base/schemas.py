"""Checks the schema in a qualified name: all tables and views are in `public`."""

from sqlglot import exp

from views.errors import UnknownTable, UnsupportedSql
from views.sql.source.text import Source

PUBLIC = "public"


def expect_public(source: Source, node: exp.Table | exp.Column) -> bool:
    """Tells whether a name has a schema (raises UnknownTable if it is not `public`).

    Raises UnsupportedSql for the name of a database before it.
    """
    schema, database = node.args.get("db"), node.args.get("catalog")
    if schema is None:
        return False
    bare = f"{node.table}.{node.name}" if isinstance(node, exp.Column) else node.name
    if database is not None:
        told = f"a database's name is not supported in a view; write {bare}"
        raise source.fault(UnsupportedSql, told, node)
    if schema.name != PUBLIC:
        told = f"no schema {schema.name!r}: tables and views are in {PUBLIC!r}; write {bare}"
        raise source.fault(UnknownTable, told, node)
    return True
