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


def is_record(node: exp.Expr) -> bool:
    """Tells whether a function's columns are listed with its alias."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in _SINGLE | _SETS


def rows_of(
    session: Session, b: Binder, node: exp.Anonymous, under: Plan, alias: exp.TableAlias | None
) -> Rows:
    """Makes the rows of a call, for each row of `under`."""
    defined = [] if alias is None else alias.args.get("columns") or []
    if not defined or not all(isinstance(c, exp.ColumnDef) for c in defined):
        raise b.fault(
            InvalidLiteral, f"list the columns of {node.name}(): AS x(a integer, b text)", node
        )
    (argument,) = node.expressions
    document = b.as_type(argument, JSON, f"the argument of {node.name}()")
    position: Attribute
    outputs: list[tuple[Attribute, Expression]]
    if node.name.lower() in _SETS:
        items = call("json_items", document, result=_DOCUMENTS)
        element = session.numbers.new("record", JSON, True)
        position = session.numbers.new("ordinality", BIGINT, False)
        under, document = Unnest(under, (items,), (element,), position), element.column
        outputs = [(position, position.column)]
    else:
        position = session.numbers.fresh("ordinality", Literal(1, BIGINT))
        outputs = [(position, Literal(1, BIGINT))]
    columns = []
    for column in defined:
        value = _field(session, document, column)
        made = session.numbers.fresh(column.name, value)
        columns.append((column.name, made))
        outputs.append((made, value))
    return Rows(Map(under, tuple(outputs)), tuple(columns), position)


def _field(session: Session, document: Expression, column: exp.ColumnDef) -> Call:
    """The member of a document that has a column's name, as a value of its type."""
    spelled = column.args["kind"].sql(dialect="postgres").lower()
    try:
        kind = parse_type(spelled)
    except BadDefinition as error:
        raise session.source.unsupported(f"the type {spelled}", column) from error
    return Call("json_field", (document, Literal(column.name, TEXT)), kind, True)
