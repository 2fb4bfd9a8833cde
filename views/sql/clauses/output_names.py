"""Names output columns as PostgreSQL does: by what they are computed of, or else by how."""

from sqlglot import exp

from views.sql.source.text import function_name

UNNAMED = "?column?"
_AROUND = (
    exp.Paren, exp.Filter, exp.WithinGroup, exp.Window, exp.IgnoreNulls, exp.RespectNulls,
    exp.Bracket, exp.Collate,
)  # fmt: skip
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}
_INTERNAL_TYPES = {
    exp.DType.SMALLINT: "int2",
    exp.DType.INT: "int4",
    exp.DType.BIGINT: "int8",
    exp.DType.FLOAT: "float4",
    exp.DType.DOUBLE: "float8",
    exp.DType.DECIMAL: "numeric",
    exp.DType.BOOLEAN: "bool",
    exp.DType.CHAR: "bpchar",
    exp.DType.BPCHAR: "bpchar",
}


def output_name(node: exp.Expr) -> str:
    """Gives the name of an item of a select list."""
    return _strong(node) or _weak(node) or UNNAMED


def _strong(node: exp.Expr) -> str | None:
    """Finds the name of a column or function that an item is, also under a cast or in ELSE."""
    while isinstance(node, _AROUND):
        node = node.this
    match node:
        case exp.Alias() | exp.Column():
            return node.alias_or_name
        case exp.Dot():
            return str(node.expression.name)
        case exp.Tuple():
            return "row"
        case exp.Cast():
            return _strong(node.this)
        case exp.Case():
            default = node.args.get("default")
            return None if default is None else _strong(default)
        case exp.Subquery():
            return _of_query(node.this)
        case exp.AtTimeZone():
            return "timezone"
        case exp.Trim():
            return _TRIMS.get(str(node.args.get("position")).upper(), "btrim")
        case exp.Sqrt() | exp.Cbrt() | exp.Abs() if "written" not in node.meta:
            return None  # an operator
        case exp.Func() if isinstance(node, exp.AggFunc) or not isinstance(node, exp.Binary):
            return str(node.meta.get("written") or function_name(node))
    return None


def _weak(node: exp.Expr) -> str | None:
    """Finds the name of a type or of CASE, which a name inside would go before."""
    while isinstance(node, _AROUND):
        node = node.this
    match node:
        case exp.Cast():
            return _type_name(node.args["to"])
        case exp.Case():
            return "case"
        case exp.Interval():
            return "interval"
    return None


def _of_query(query: exp.Expr) -> str:
    """The name of the one column of a query."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    if isinstance(query, exp.Select) and query.expressions:
        return output_name(query.expressions[0])
    return "column1"


def _type_name(node: exp.DataType) -> str:
    """The name PostgreSQL has for the type of a cast, or of the elements of an array."""
    while node.this == exp.DType.ARRAY and node.expressions:
        node = node.expressions[0]
    if isinstance(node.this, exp.Interval):
        return "interval"
    plain = exp.DataType(this=node.this, kind=node.args.get("kind")).sql(dialect="postgres").lower()
    return _INTERNAL_TYPES.get(node.this, plain)
