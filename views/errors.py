"""Errors of queries and definitions; `SqlError` and its kinds give the place in the text."""

from collections.abc import Iterable
from difflib import get_close_matches

from ivm.errors import IvmError


class UnknownName(IvmError):
    """The catalog has no table or view of this name."""

    code = "unknown-name"


class NameTaken(IvmError):
    """The catalog has a table or view of this name already."""

    code = "name-taken"


class StillUsed(IvmError):
    """The entry cannot be dropped: views read it."""

    code = "still-used"


class BadDefinition(IvmError):
    """A table, view or stored catalog is not defined correctly."""

    code = "bad-definition"


class SqlError(IvmError):
    """A fault in a query's text, found before anything was computed.

    `position` counts characters of the query from 1, `line` and `column` likewise; all are None
    where the fault has no place of its own (an empty query, a bad key).
    """

    code = "sql-error"

    def __init__(
        self,
        message: str,
        line: int | None = None,
        column: int | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.position = position

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        return f"{self.message} (line {self.line}, column {self.column})"


class SqlSyntaxError(SqlError):
    """The text is not a query."""

    code = "syntax-error"


class UnsupportedSql(SqlError):
    """A construct of SQL that views do not have; it is refused rather than approximated."""

    code = "unsupported"


class NoLeastFixedPoint(UnsupportedSql):
    """A step of WITH RECURSIVE that may take rows away as more are found."""


class UnknownTable(SqlError):
    """No table, view or WITH query of this name is visible here."""

    code = "unknown-table"


class UnknownColumn(SqlError):
    """No column of this name is visible here."""

    code = "unknown-column"


class UnknownFunction(SqlError):
    """No function has this name and number of arguments."""

    code = "unknown-function"


class AmbiguousColumn(SqlError):
    """More than one relation in scope has a column of this name."""

    code = "ambiguous-column"


class DuplicateColumn(SqlError):
    """Two columns of a result, or two relations of a FROM clause, share a name."""

    code = "duplicate-column"


class TypeMismatch(SqlError):
    """An operator, function or clause does not take values of this type."""

    code = "type-mismatch"


class GroupingError(SqlError):
    """A column is neither grouped by nor aggregated, or an aggregate stands where none may."""

    code = "grouping-error"


class InvalidLiteral(SqlError):
    """A constant cannot be read as a value of its type."""

    code = "invalid-literal"


class UnboundVariable(SqlError):
    """A variable of a rule takes its values from no relation and no expression."""

    code = "unbound-variable"


class NotStratified(SqlError):
    """A relation depends on its own negation or aggregate."""

    code = "not-stratified"


class QueryTooLarge(SqlError):
    """The query's text, nesting or plan exceeds the limit named in the message."""

    code = "query-too-large"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Words a clause that offers the known names nearest to `name`, or nothing."""
    near = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
