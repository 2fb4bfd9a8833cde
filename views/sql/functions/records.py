"""Binds functions that make rows of documents, by a list of columns: `AS x(a int, b text)`."""

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.errors import BadDefinition, InvalidLiteral
from views.plan.nodes import Attribute, Map, Plan, Unnest
from views.plan.scalars import call
from views.sql.base.binder import Binder
from views.sql.base.coercion import BIGINT, TEXT
from views.sql.base.scope import Session
from views.sql.functions.set_returning import Rows
from views.types import parse_type

_DOCUMENTS: pa.DataType = pa.list_(JSON)
_SINGLE = frozenset({"json_to_record", "jsonb_to_record"})
_SETS = frozenset({"json_to_recordset", "jsonb_to_recordset"})
_POPULATED = frozenset({"json_populate_record", "jsonb_populate_record"})
_POPULATED_SETS = frozenset({"json_populate_recordset", "jsonb_populate_recordset"})


def is_record(node: exp.Expr) -> bool:
    """Tells whether a function's columns are listed with its alias, or are those of a table."""
    known = _SINGLE | _SETS | _POPULATED | _POPULATED_SETS
    return isinstance(node, exp.Anonymous) and node.name.lower() in known


def rows_of(
    session: Session, b: Binder, node: exp.Anonymous, under: Plan, alias: exp.TableAlias | None
) -> Rows:
    """Makes the rows of a call, for each row of `under`."""
    function = node.name.lower()
    is_populated = function in _POPULATED | _POPULATED_SETS
    defined = _of_table(b, node) if is_populated else _listed(session, b, node, alias)
    if len(node.expressions) != 1 + is_populated:
        raise b.mismatch(f"{function}() takes {1 + is_populated} arguments", node)
    document = b.as_type(node.expressions[-1], JSON, f"the argument of {node.name}()")
    position: Attribute
    outputs: list[tuple[Attribute, Expression]]
    if function in _SETS | _POPULATED_SETS:
        items = call("json_items", document, result=_DOCUMENTS)
        element = session.numbers.new("record", JSON, True)
        position = session.numbers.new("ordinality", BIGINT, False)
        under, document = Unnest(under, (items,), (element,), position), element.column
        outputs = [(position, position.column)]
    else:
        position = session.numbers.fresh("ordinality", Literal(1, BIGINT))
        outputs = [(position, Literal(1, BIGINT))]
    columns = []
    for name, kind in defined:
        value = Call("json_field", (document, Literal(name, TEXT)), kind, True)
        made = session.numbers.fresh(name, value)
        columns.append((name, made))
        outputs.append((made, value))
    return Rows(Map(under, tuple(outputs)), tuple(columns), position)


def _listed(
    session: Session, b: Binder, node: exp.Anonymous, alias: exp.TableAlias | None
) -> list[tuple[str, pa.DataType]]:
    """The columns that an alias lists."""
    defined = [] if alias is None else alias.args.get("columns") or []
    if not defined or not all(isinstance(c, exp.ColumnDef) for c in defined):
        raise b.fault(
            InvalidLiteral, f"list the columns of {node.name}(): AS x(a integer, b text)", node
        )
    return [(column.name, _kind(session, column)) for column in defined]


def _kind(session: Session, column: exp.ColumnDef) -> pa.DataType:
    spelled = column.args["kind"].sql(dialect="postgres").lower()
    try:
        return parse_type(spelled)
    except BadDefinition as error:
        raise session.source.unsupported(f"the type {spelled}", column) from error


def _of_table(b: Binder, node: exp.Anonymous) -> list[tuple[str, pa.DataType]]:
    """The columns of the table or view whose row `NULL::table` is the first argument."""
    base = node.expressions[0] if node.expressions else node
    named = base.args["to"].sql(dialect="postgres") if isinstance(base, exp.Cast) else ""
    entry = b.session.catalog.get(named.removeprefix("public."))
    if entry is None or not isinstance(base.this, exp.Null):
        raise b.session.source.unsupported(
            f"{node.name}() of other than NULL::table",
            node,
            f"write {node.name.replace('populate', 'to')}(document) AS x(a integer, b text)",
        )
    return [(field.name, field.type) for field in entry.schema]
