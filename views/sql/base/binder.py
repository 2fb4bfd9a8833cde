"""The binder of scalar expressions: resolves names, converts types, gives errors their place.

The families of expressions (operators, functions, dates, aggregates, subqueries) are tables from a
syntax class to a handler and the parts of the syntax that it reads; any other part is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pyarrow as pa
from sqlglot import exp

from ivm.constants import read
from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import (
    AmbiguousColumn,
    InvalidLiteral,
    SqlError,
    TypeMismatch,
    UnknownColumn,
    UnknownFunction,
    UnsupportedSql,
    suggestion,
)
from views.plan.nodes import Attribute
from views.plan.scalars import test
from views.sql.base import literals
from views.sql.base.coercion import (
    BOOL,
    DIGITS,
    DOUBLE,
    TEXT,
    Bound,
    Untyped,
    cast,
    castable,
    common_of,
    common_type,
    fitted,
    united,
)
from views.sql.base.computations import (
    Aggregates,
    Pending,
    SetCall,
    WindowUse,
)
from views.sql.base.schemas import expect_public
from views.sql.base.scope import Environment, Relation, Scope, Session
from views.sql.source.text import QUERIES, describe
from views.types import shown_type, type_name


class Given(exp.Expression):
    """Stands in the syntax for an expression, `this`, that is bound already."""

    arg_types: ClassVar = {"this": True}


@dataclass(slots=True)
class Binder:
    """Binds the expressions of one clause.

    `aggregates`, `windows` and `set_calls` (functions that return sets) collect those of the
    clause, or are None where it may have none; `pending` collects its subqueries, whose values are
    not read where one of `guards` does not hold. `enclosing` are the aggregates of the query, which
    only the argument of an aggregate over a window may hold. `read` are the columns that names were
    resolved to. `shared` has the values of subqueries, by their syntax and guards: where one stands
    twice in a SELECT it is evaluated once, and it may stand in GROUP BY too.
    """

    session: Session
    environment: Environment
    scope: Scope
    clause: str
    aggregates: Aggregates | None = None
    windows: list[WindowUse] | None = None
    windows_named: Mapping[str, exp.Window] = field(default_factory=dict)
    set_calls: list[SetCall] | None = None
    enclosing: Aggregates | None = None
    pending: list[Pending] = field(default_factory=list)
    guards: tuple[Expression, ...] = ()
    read: set[int] = field(default_factory=set)
    shared: dict[tuple[exp.Expr, tuple[Expression, ...]], Expression] = field(default_factory=dict)
    handlers: Mapping[type[exp.Expr] | str, "Handler"] = field(default_factory=dict)

    def bind(self, node: exp.Expr) -> Bound:
        """Binds `node` to a typed expression."""
        if isinstance(node, Given):
            bound: Bound = node.args["this"]
            return bound
        handler = self.handlers.get(key_of(node), self.handlers.get(type(node)))
        if handler is None:
            raise self.session.source.unsupported(_construct(node), node)
        if any(needed and node.args.get(part) is None for part, needed in node.arg_types.items()):
            raise self.fault(UnknownFunction, f"{_construct(node)} takes more arguments", node)
        self.session.source.only(node, handler.reads)
        return handler.bind(self, node)

    def sibling(self, clause: str) -> "Binder":
        """Makes a binder for an aggregate's argument inside this expression."""
        return replace(
            self,
            clause=clause,
            aggregates=self.enclosing,
            windows=None,
            set_calls=None,
            enclosing=None,
            pending=[],
            guards=(),
            read=set(),
            shared={},
        )

    def once(self, node: exp.Expr, make: Callable[[], Expression]) -> Expression:
        """Gives the value of a subquery, made where it stands first."""
        asked = (node, self.guards)
        if asked not in self.shared:
            self.shared[asked] = make()
        return self.shared[asked]

    def of_one_row(self) -> "Binder":
        """Makes a binder of parts that may not be evaluated, and so have no sets of rows."""
        return replace(self, set_calls=None)

    def under(self, node: exp.Expr, conditions: Iterable[Expression]) -> "Binder":
        """Makes a binder of `node`, whose value matters only where all of `conditions` are true."""
        if node.find(*QUERIES) is None:
            return self
        return replace(self, guards=(*self.guards, *conditions))

    def value(self, node: exp.Expr, wanted: pa.DataType = TEXT) -> Expression:
        """Binds `node` to a value of some type; a quoted constant is `wanted`."""
        return self.typed(self.bind(node), wanted, node)

    def typed(self, bound: Bound, wanted: pa.DataType, node: exp.Expr) -> Expression:
        """Gives the expression bound at `node` a type; a quoted constant is read as `wanted`."""
        if not isinstance(bound, Untyped):
            return bound
        if bound.text is None:
            return Literal(None, wanted)
        if bound.is_number and not pa.types.is_floating(wanted):
            what = f"{bound.text}, of more than {DIGITS} digits, other than as double precision"
            raise self.session.source.unsupported(what, node)
        try:
            return read(bound.text, wanted)
        except ValueError as error:
            if (unsupported := literals.refusal(bound.text, wanted)) is not None:
                raise self.fault(UnsupportedSql, unsupported, node) from error
            problem = f"{bound.text!r} is no value of type {type_name(wanted)}"
            raise self.fault(InvalidLiteral, problem, node) from error

    def as_type(self, node: exp.Expr, wanted: pa.DataType, what: str) -> Expression:
        """Binds `node`, the argument `what`, to type `wanted`, by implicit conversions only."""
        bound = self.value(node, wanted)
        if bound.type == wanted:
            return bound
        if isinstance(bound, Literal) and (literal := fitted(bound, wanted)) is not None:
            return literal
        if common_type(bound.type, wanted) == wanted:
            return cast(bound, wanted)
        raise self.mismatch(f"{what} must be {type_name(wanted)}, not {name(bound)}", node)

    def condition(self, node: exp.Expr) -> Expression:
        """Binds `node` to a condition."""
        bound = self.value(node, BOOL)
        if bound.type != BOOL:
            raise self.mismatch(f"{self.clause} must be a condition, not {name(bound)}", node)
        return bound

    def same_type(
        self,
        nodes: Sequence[exp.Expr],
        what: str,
        bounds: Sequence[Bound] | None = None,
        compared: bool = False,
    ) -> list[Expression]:
        """Binds `nodes` to values that are all converted to their common type.

        `compared`: for an operator, which takes real beside other numbers as double precision.
        """
        given = list(bounds) if bounds is not None else [self.bind(n) for n in nodes]
        if any(map(_is_padded, nodes)):
            given = [_without_padding(b) for b in given]
        given = self.beside_numbers(given, nodes)
        kinds = [_kind(b) for b in given if not isinstance(b, Untyped)]
        if any(k is None for k in kinds):
            raise self.session.source.unsupported("a value of type interval", nodes[0])
        common = common_of if compared else united
        target = _fitting_type(given) or common([k for k in kinds if k is not None])
        if target is None:
            spelled = " and ".join(dict.fromkeys(shown_type(k) for k in kinds if k is not None))
            raise self.mismatch(f"{what} cannot mix {spelled}; cast one of them", nodes[0])
        return [cast(self.typed(b, target, n), target) for b, n in zip(given, nodes, strict=True)]

    def beside_numbers(self, bounds: Sequence[Bound], nodes: Sequence[exp.Expr]) -> list[Bound]:
        """Types constants beside numbers: a quoted one beside numeric keeps all its digits.

        A number of more digits than numeric has is double precision where another value is
        floating.
        """
        given = [b.type for b in bounds if not isinstance(b, Untyped)]
        floats = any(map(pa.types.is_floating, given))
        if not floats and any(map(pa.types.is_decimal, given)):
            return [literals.quoted(b.text) or b if isinstance(b, Untyped) else b for b in bounds]
        return [
            self.typed(b, DOUBLE, n) if floats and isinstance(b, Untyped) and b.is_number else b
            for b, n in zip(bounds, nodes, strict=True)
        ]

    def explicit_cast(self, bound: Bound, target: pa.DataType, node: exp.Expr) -> Expression:
        """Binds `cast(… as target)`."""
        value = self.typed(bound, target, node)
        if not castable(value.type, target):
            raise self.mismatch(f"cannot cast {name(value)} to {type_name(target)}", node)
        return cast(value, target)

    def put_out(self, bound: Bound, node: exp.Expr) -> Expression:
        """Converts a value to text as output: as `cast(… as text)`, but a boolean as t or f."""
        value = self.typed(bound, TEXT, node)
        if value.type != pa.bool_():
            return self.explicit_cast(value, TEXT, node)
        either = (value, Literal("t", TEXT), Literal("f", TEXT))
        if not value.nullable:
            return Call("case", either, TEXT, False)
        return Call("case", (test("is_null", value), Literal(None, TEXT), *either), TEXT, True)

    def column(self, node: exp.Column) -> Expression:
        """Resolves a name to a column, in this query or one around it."""
        self.session.source.only(node, ("this", "table", "db", "catalog"))
        expect_public(self.session.source, node)
        found = self._found(node)
        if len(found) > 1:
            raise self.fault(
                AmbiguousColumn, f"column {node.name!r} is ambiguous; name its table", node
            )
        if found:
            self.read.add(found[0].number)
            return found[0].column
        shown = f"{node.table}.{node.name}" if node.table else node.name
        near = suggestion(node.name, self.scope.names())
        raise self.fault(UnknownColumn, f"no column {shown!r} here{near}", node)

    def is_column(self, node: exp.Column) -> bool:
        """Tells whether a name means a column; if not it may be that of a relation."""
        return bool(node.table) or bool(self._found(node))

    def relation(self, alias: str) -> Relation | None:
        """Finds the relation of this name, in this query or one around it."""
        known = (r for scope in self.scope.around() for r in scope.relations)
        return next((r for r in known if r.alias == alias), None)

    def _found(self, node: exp.Column) -> list[Attribute]:
        """The columns that a name may mean, of the innermost query that has such."""
        found = (s.lookup(node.name, node.table or None) for s in self.scope.around())
        return next((f for f in found if f), [])

    def fault(self, kind: type[SqlError], message: str, node: exp.Expr) -> SqlError:
        """Makes an error at the place of `node`."""
        return self.session.source.fault(kind, message, node)

    def mismatch(self, message: str, node: exp.Expr) -> SqlError:
        """Makes a type error at the place of `node`."""
        return self.fault(TypeMismatch, message, node)


@dataclass(frozen=True, slots=True)
class Handler:
    """Binds one class of syntax; it lists the parts that it reads, or may ignore."""

    bind: Callable[[Binder, Any], Bound]
    reads: tuple[str, ...]


def key_of(node: exp.Expr) -> type[exp.Expr] | str:
    """Gives the key of `node`'s handler: its class, or the name of a function without one."""
    return node.name.lower() if isinstance(node, exp.Anonymous) else type(node)


def name(bound: Bound) -> str:
    """Names the type of a bound expression, for a message."""
    if isinstance(bound, Untyped):
        return "unknown"
    return shown_type(bound.type)


def _is_padded(node: exp.Expr) -> bool:
    """Tells whether a value is a cast to char(n), of which blanks at the end do not count."""
    node = node.unnest()
    padded = (exp.DType.CHAR, exp.DType.NCHAR, exp.DType.BPCHAR)
    return isinstance(node, exp.Cast) and node.to.this in padded


def _without_padding(bound: Bound) -> Bound:
    if isinstance(bound, Untyped) and bound.text is not None:
        return replace(bound, text=bound.text.rstrip(" "))
    return bound


def _kind(bound: Bound) -> pa.DataType | None:
    if isinstance(bound, Untyped):
        return None
    return bound.type


def _fitting_type(bounds: Sequence[Bound]) -> pa.DataType | None:
    """The one exact type of the values that are no constants, if all constants fit into it.

    Thus a column is compared with a constant in the column's own type, unconverted.
    """
    constants = [b for b in bounds if isinstance(b, Literal)]
    others = {b.type for b in bounds if not isinstance(b, Untyped | Literal)}
    if len(others) != 1 or not constants:
        return None
    kind = next(iter(others))
    exact = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    if exact and all(fitted(c, kind) is not None or c.value is None for c in constants):
        return kind
    return None


def _construct(node: exp.Expr) -> str:
    return f"the function {describe(node)}" if isinstance(node, exp.Func) else describe(node)
