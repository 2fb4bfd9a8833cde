"""Binds rows as values: `(a, b)`, `ROW (…)`, a relation's whole row, and the fields of rows.

A row is a struct, whose fields compare and sort in their order, NULL after all else. Where its
syntax names its fields they are read directly, and the struct is not made. The row of a relation on
the optional side of an outer join is NULL where that side has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import UnknownColumn, suggestion
from views.plan.scalars import test
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import BIGINT, Bound
from views.sql.base.scope import Relation
from views.sql.functions import set_returning


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of a row by name; it is NULL unless `present` is not, if that is given."""

    names: tuple[str, ...]
    values: tuple[Expression, ...]
    present: Expression | None = None

    def value(self) -> Expression:
        """Makes the row as one value."""
        made: Expression | None = None
        fields: list[pa.Field] = []
        for field, value in zip(self.names, self.values, strict=True):
            fields.append(pa.field(field, value.type))
            kind = pa.struct(fields)
            given = (value,) if made is None else (made, value)
            made = Call("row_of" if made is None else "row_put", given, kind, False)
        assert made is not None
        if self.present is None:
            return made
        missing = (test("is_null", self.present), Literal(None, made.type), made)
        return Call("case", missing, made.type, True)


def row_of(b: Binder, node: exp.Expr) -> Row | None:
    """Binds the fields of `node`, if its syntax is that of a row."""
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Tuple():
            return _constructed(b, node.expressions)
        case exp.Column() if isinstance(node.this, exp.Star) or not b.is_column(node):
            relation = b.relation(node.table if isinstance(node.this, exp.Star) else node.name)
            return None if relation is None else _whole(b, relation, node)
        case exp.Anonymous():
            return _pair(b, node)
    return None


def row_or_value(b: Binder, node: exp.Expr) -> Row | Expression:
    """Binds `node` to the fields of a row, or to a value of another type."""
    found = row_of(b, node)
    if found is not None:
        return found
    value = b.value(node)
    kind = value.type
    if not isinstance(kind, pa.StructType):
        return value
    fields = [(f.name, f.type, Literal(i, BIGINT)) for i, f in enumerate(kind)]
    values = tuple(Call("row_field", (value, i), type_, True) for _, type_, i in fields)
    names = tuple(field for field, _, _ in fields)
    return Row(names, values, value if value.nullable else None)


def _constructed(b: Binder, nodes: Sequence[exp.Expr]) -> Row | None:
    """The row of a list, in which `t.*` stands for the columns of `t`."""
    values: list[Expression] = []
    for node in nodes:
        starred = isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        row = row_of(b, node) if starred else None
        values += [b.value(node)] if row is None else row.values
    return Row(tuple(f"f{i + 1}" for i in range(len(values))), tuple(values)) if values else None


def _whole(b: Binder, relation: Relation, node: exp.Expr) -> Row:
    names = tuple(column for column, _ in relation.columns)
    if len(set(names)) < len(names):
        raise b.mismatch(f"two columns of {relation.alias!r} have one name; rename one", node)
    if relation.optional and relation.present is None:
        raise b.session.source.unsupported(
            f"the row {relation.alias!r} of an outer join (name its columns instead)",
            node,
        )
    b.read.update(attribute.number for _, attribute in relation.columns)
    present = relation.present.column if relation.optional and relation.present else None
    return Row(names, tuple(attribute.column for _, attribute in relation.columns), present)


def _pair(b: Binder, node: exp.Anonymous) -> Row | None:
    """The fields of a function's set of pairs."""
    calls = set_returning.calls_of(node)
    if not (calls and set_returning.is_pairs(calls[0].function)):
        return None
    element = set_returning.element_of(b, calls[0])
    fields = set_returning.pair(calls[0].function, element)
    return Row(tuple(n for n, _ in fields), tuple(v for _, v in fields), element.column)


def of_set(b: Binder, node: exp.Explode | exp.Anonymous) -> Bound:
    """Binds a function that returns a set: one value in each of the rows that it makes."""
    pair = row_of(b, node)
    if pair is not None:
        return pair.value()
    (called,) = set_returning.calls_of(node)
    return set_returning.element_of(b, called).column


def row(b: Binder, node: exp.Tuple) -> Bound:
    """Binds `(a, b)` or `ROW (…)` as one value."""
    made = row_of(b, node)
    if made is None:
        raise b.session.source.unsupported("a row without columns", node)
    return made.value()


def column(b: Binder, node: exp.Column) -> Bound:
    """Binds a column, or a relation's whole row where no column has the name."""
    if not isinstance(node.this, exp.Star) and b.is_column(node):
        return b.column(node)
    whole = row_of(b, node)
    return b.column(node) if whole is None else whole.value()


def field(b: Binder, node: exp.Dot) -> Bound:
    """Binds `(row).field`."""
    given = row_or_value(b, node.this)
    if not isinstance(given, Row):
        raise b.mismatch(f"{name(given)} is no row, and has no fields", node)
    wanted = node.expression.name
    if wanted not in given.names:
        near = suggestion(wanted, given.names)
        raise b.fault(UnknownColumn, f"no field {wanted!r} in this row{near}", node)
    return given.values[given.names.index(wanted)]


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Tuple: Handler(row, ("expressions",)),
    exp.Dot: Handler(field, ("this", "expression")),
    exp.Column: Handler(column, ("this", "table", "db", "catalog")),
}
