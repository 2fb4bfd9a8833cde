"""Expressions over the columns of tables, by Python's operators.

Types are checked where a table takes the expression.

>>> amount = F.col("amount")
"""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from views.errors import TypeMismatch, UnknownFunction
from views.sql.source.dialect import PostgresViews

Scalar = bool | int | float | Decimal | str | date | datetime | time | None


class Expression:
    """A value computed for each row.

    `+ - * / %`, comparisons, `&`, `|` and `~` are SQL's operators; `and`, `or` and `not` cannot be,
    and raise TypeError. A str takes the type of its other operand.

    >>> (amount + 1) * 2 > 10
    Expression((("amount" + 1) * 2) > 10)
    """

    __slots__ = ("node",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: exp.Expr) -> None:
        self.node = node

    def __repr__(self) -> str:
        return f"Expression({self.node.sql(dialect=PostgresViews)})"

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth by itself; combine conditions by & | ~")

    def __add__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Add, self, other)

    def __radd__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Add, other, self)

    def __sub__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Sub, self, other)

    def __rsub__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Sub, other, self)

    def __mul__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Mul, self, other)

    def __rmul__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Mul, other, self)

    def __truediv__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Div, self, other)

    def __rtruediv__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Div, other, self)

    def __mod__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Mod, self, other)

    def __rmod__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Mod, other, self)

    def __neg__(self) -> "Expression":
        return Expression(exp.Neg(this=_operand(self)))

    def __eq__(self, other: "Expression | Scalar") -> "Expression":  # type: ignore[override]
        return _binary(exp.EQ, self, other)

    def __ne__(self, other: "Expression | Scalar") -> "Expression":  # type: ignore[override]
        return _binary(exp.NEQ, self, other)

    def __lt__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.LT, self, other)

    def __le__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.LTE, self, other)

    def __gt__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.GT, self, other)

    def __ge__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.GTE, self, other)

    def __and__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.And, self, other)

    def __or__(self, other: "Expression | Scalar") -> "Expression":
        return _binary(exp.Or, self, other)

    def __invert__(self) -> "Expression":
        return Expression(exp.Not(this=_operand(self)))

    def is_null(self) -> "Expression":
        """Tests whether the value is NULL.

        >>> amount.is_null()
        Expression("amount" IS NULL)
        """
        return Expression(exp.Is(this=_operand(self), expression=exp.Null()))

    def is_in(self, *values: Scalar) -> "Expression":
        """Tests whether the value equals one of `values`.

        >>> amount.is_in(1, 2)
        Expression("amount" IN (1, 2))
        """
        items = [literal(value) for value in values]
        return Expression(exp.In(this=_operand(self), expressions=items))

    def like(self, pattern: str) -> "Expression":
        """Tests whether the text matches `pattern`: `%` is any text and `_` any character.

        >>> F.col("name").like("a%")
        Expression("name" LIKE 'a%')
        """
        return _binary(exp.Like, self, pattern)

    def cast(self, kind: str) -> "Expression":
        """Converts the value to the type that SQL calls `kind` (raises TypeMismatch).

        >>> amount.cast("bigint")
        Expression(CAST("amount" AS BIGINT))
        """
        try:
            to = exp.DataType.build(kind, dialect=PostgresViews)
        except (SqlglotError, ValueError) as error:
            raise TypeMismatch(f"unknown type {kind!r}") from error
        return Expression(exp.Cast(this=_operand(self), to=to))

    def desc(self) -> "Expression":
        """Makes a key of `order_by` descending.

        >>> amount.desc()
        Expression("amount" DESC)
        """
        return Expression(exp.Ordered(this=self.node, desc=True, nulls_first=True))


class Functions:
    """Calls SQL's functions and aggregates by name: `F.sum(x)`, `F.coalesce(a, b)`, `F.count()`.

    `distinct=True` lets an aggregate count each value once.

    >>> F.coalesce(amount, 0)
    Expression(COALESCE("amount", 0))
    >>> F.count(amount, distinct=True)
    Expression(COUNT(DISTINCT "amount"))
    """

    def col(self, name: str) -> Expression:
        """Reads the column `name` of the table that the expression is given to."""
        expect(name, str, "the name of a column")
        return Expression(exp.Column(this=exp.Identifier(this=name, quoted=True)))

    def lit(self, value: Scalar) -> Expression:
        """Makes a constant, where a str alone would name a column.

        >>> F.lit("paid")
        Expression('paid')
        """
        return Expression(literal(value))

    def __getattr__(self, name: str) -> Callable[..., Expression]:
        def call(*arguments: "Expression | Scalar", distinct: bool = False) -> Expression:
            nodes: list[exp.Expr] = [literal(a) for a in arguments]
            if name == "count" and not nodes:
                nodes = [exp.Star()]
            if distinct:
                nodes = [exp.Distinct(expressions=nodes)]
            try:
                return Expression(exp.func(name, *nodes, dialect=PostgresViews))
            except (SqlglotError, ValueError, IndexError, AttributeError) as error:
                raise UnknownFunction(
                    f"no function {name}() of {len(arguments)} arguments"
                ) from error

        return call


F = Functions()


def expect(value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Checks that `value` is one of `kinds`; `what` names these in the TypeMismatch."""
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise TypeMismatch(f"{what} is needed, not {value!r}")


def literal(value: "Expression | Scalar") -> exp.Expr:
    """Translates a value, or an expression, to SQL's syntax (raises TypeMismatch)."""
    match value:
        case Expression():
            return value.node.copy()
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() | float() | Decimal():
            return _number(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
        case str():
            return exp.Literal.string(value)
        case datetime():
            zone = "timestamp" if value.tzinfo is None else "timestamptz"
            return _cast(str(value), zone)
        case date():
            return _cast(value.isoformat(), "date")
        case time():
            return _cast(value.isoformat(), "time")
        case _:
            raise TypeMismatch(f"a {type(value).__name__} is no value of SQL")


def _number(value: Decimal) -> exp.Expr:
    if not value.is_finite():
        return _cast(str(value), "double precision")
    number = exp.Literal.number(f"{abs(value):f}")
    return exp.Paren(this=exp.Neg(this=number)) if value < 0 else number


def _cast(text: str, kind: str) -> exp.Expr:
    to = exp.DataType.build(kind, dialect=PostgresViews)
    return exp.Cast(this=exp.Literal.string(text), to=to)


def _binary(
    kind: type[exp.Expr], left: "Expression | Scalar", right: "Expression | Scalar"
) -> Expression:
    node = kind(this=_operand(left), expression=_operand(right))
    if isinstance(node, exp.Div):
        node.set("typed", True)  # Of integers, an integer, as PostgreSQL has it.
    return Expression(node)


def _operand(value: "Expression | Scalar") -> exp.Expr:
    """A value as the operand of an operator: in parentheses where it is one itself."""
    node = literal(value)
    composed = isinstance(node, exp.Binary | exp.Unary | exp.In) and not isinstance(node, exp.Paren)
    return exp.Paren(this=node) if composed else node
