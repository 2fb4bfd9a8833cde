"""Operators other than comparisons with ANY and ALL: LIKE, `~`, `@>` and the like.

Over a list the operator is bound for each item; over a subquery, or an array that varies, one mark
tells whether it is true for some row, and one whether it is NULL for some. `x op ALL (rows)` is the
negation of the negated operator with ANY.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.nodes import Plan, Unnest
from views.plan.scalars import FALSE, conjunction, disjunction, negation, test
from views.sql.base.binder import Binder, Given, Handler, name
from views.sql.base.coercion import BIGINT, BOOL, TEXT, Bound
from views.sql.base.scope import one_row
from views.sql.clauses.quantifiers import mark_unknown, operand_of, three_valued
from views.sql.clauses.subqueries import bind_query, mark
from views.sql.functions import arrays, general, patterns
from views.sql.source.text import QUERIES

_PLAIN: dict[type[exp.Expr] | str, Handler] = {
    kind: handler
    for kind, handler in (general.HANDLERS | patterns.HANDLERS | arrays.HANDLERS).items()
    if isinstance(kind, type) and issubclass(kind, exp.Binary) and kind is not exp.DPipe
}


_KERNELS = {exp.Like: "like", exp.ILike: "ilike"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """Asks the operator `node` of `left` and several items: of some of them, or of `every` one."""

    b: Binder
    node: exp.Binary
    left: Bound
    every: bool

    def holds(self, item: exp.Expr) -> Expression:
        """Binds the operator for one item."""
        parts = {**self.node.args, "this": Given(this=self.left), "expression": item}
        single = type(self.node)(**parts)
        single.parent = self.node
        return self.b.typed(self.b.bind(single), BOOL, self.node)

    def of_list(self, items: Sequence[exp.Expr]) -> Expression:
        """Asks of the items of a list."""
        found = [self.holds(item) for item in items]
        return conjunction(found) if self.every else disjunction(found)

    def of_rows(self, plan: Plan, item: Expression) -> Expression:
        """Asks of the rows of `plan`, each of which has an `item`."""
        condition = self.holds(Given(this=item))
        compared = negation(condition) if self.every else condition
        found = mark(self.b, plan, compared)
        unknown = mark_unknown(self.b, plan, compared) if compared.nullable else FALSE
        answer = found if unknown == FALSE else three_valued(found, unknown)
        return negation(answer) if self.every else answer

    def of_array(self, values: Expression) -> Expression:
        """Asks of the elements of an array; of none, as it is NULL, the answer is NULL."""
        values, kind = arrays.flat(values), arrays.innermost(values.type)
        if isinstance(values, Literal):
            if not isinstance(values.value, tuple):
                return Literal(None, BOOL)
            return self.of_list([Given(this=Literal(v, kind)) for v in values.value])
        if type(self.node) in _KERNELS:
            return self._by_kernel(_KERNELS[type(self.node)], values)
        numbers = self.b.session.numbers
        element, position = numbers.new("element", kind, True), numbers.new("", BIGINT, False)
        rows = Unnest(one_row(self.b.session), (values,), (element,), position)
        answer = self.of_rows(rows, element.column)
        if not values.nullable:
            return answer
        return Call("case", (test("is_null", values), Literal(None, BOOL), answer), BOOL, True)

    def _by_kernel(self, function: str, values: Expression) -> Expression:
        """Asks by one function; that some item is not like is that not all are."""
        left = self.b.typed(self.left, TEXT, self.node)
        if (left.type, values.type) != (TEXT, pa.list_(TEXT)):
            said = f"LIKE takes text and an array of text, not {name(left)} and {name(values)}"
            raise self.b.mismatch(said, self.node)
        negated = bool(self.node.args.get("negate"))
        quantifier = "all_of" if self.every != negated else "any_of"
        arguments = (left, values, Literal(function, TEXT))
        answer = Call(quantifier, arguments, BOOL, True)
        return negation(answer) if negated else answer


def operator(b: Binder, node: exp.Binary) -> Bound:
    """Binds an operator of two values, or of one with ANY or ALL."""
    if not isinstance(node.expression, exp.Any | exp.All):
        return _PLAIN[type(node)].bind(b, node)
    operand = operand_of(node.expression)
    asked = _Asked(b, node, b.bind(node.this), isinstance(node.expression, exp.All))
    if isinstance(operand, exp.Array) and not any(
        isinstance(item, exp.Array) for item in operand.expressions
    ):
        return asked.of_list(operand.expressions)
    if isinstance(operand, QUERIES):
        bound = bind_query(b, operand)
        if len(bound.columns) != 1:
            raise b.mismatch("a subquery of ANY or ALL must have one column", operand)
        return asked.of_rows(bound.plan, bound.columns[0][1].column)
    values = b.value(operand, pa.list_(TEXT))
    if not isinstance(values.type, pa.ListType):
        raise b.mismatch(f"ANY and ALL take an array or a query, not {name(values)}", operand)
    return asked.of_array(values)


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    kind: Handler(operator, handler.reads) for kind, handler in _PLAIN.items()
}
