"""Grouping sets: expands ROLLUP, CUBE and GROUPING SETS.

Each element of GROUP BY is a list of sets, and the clause is their product: `a, ROLLUP (b, c)` is
`(a, b, c), (a, b), (a)`. A clause of plain expressions is one set.

An output column that is grouped by is a key by its position: of two that compute the same value
each is NULL in the rows of the sets that it is not in.
"""

from collections.abc import Callable, Sequence
from itertools import combinations, product

from sqlglot import exp

from ivm.dataflow.expressions import Column, Expression
from views.errors import QueryTooLarge
from views.plan.nodes import Attribute
from views.plan.scalars import substitute
from views.plan.trees import Numbers
from views.sql.base.scope import Session

MAX_SETS = 256  # of one GROUP BY; each is a grouping of its own

Set = tuple[Expression, ...]
"""The expressions of one grouping set, each once."""

Bind = Callable[[exp.Expr], Expression]


def grouping_sets(session: Session, clause: exp.Group, bind: Bind) -> tuple[Set, ...]:
    """Expands `clause` to its grouping sets; `bind` gives the meaning of one expression in it.

    Raises QueryTooLarge for more than MAX_SETS sets, which a few words of CUBE can ask for.
    """
    session.source.only(clause, ("expressions", "all"))
    if not clause.expressions:
        raise session.source.unsupported("GROUP BY ALL", clause)
    reader = _Reader(session, bind)
    sets: list[Set] = [()]
    for element in clause.expressions:
        factor = reader.sets(element)
        reader.check(len(sets) * len(factor), element)
        sets = [tuple(dict.fromkeys(a + b)) for a, b in product(sets, factor)]
    if clause.args.get("all") is False:
        sets = list({frozenset(s): s for s in sets}.values())
    return tuple(sets)


class _Reader:
    """Reads the elements of one clause."""

    def __init__(self, session: Session, bind: Bind) -> None:
        self.session = session
        self.bind = bind

    def sets(self, node: exp.Expr) -> list[Set]:
        """Expands an element to sets."""
        match node:
            case exp.Rollup():
                self.check(len(node.expressions) + 1, node)
                parts = self._parts(node)
                return [_united(parts[:n]) for n in range(len(parts), -1, -1)]
            case exp.Cube():
                self.check(2 ** len(node.expressions), node)
                parts = self._parts(node)
                sizes = range(len(parts), -1, -1)
                return [_united(chosen) for n in sizes for chosen in combinations(parts, n)]
            case exp.GroupingSets():
                return [s for inner in node.expressions for s in self.sets(inner)]
            case _:
                return [self._part(node)]

    def check(self, sets: int, node: exp.Expr) -> None:
        """Refuses more sets than a view may have."""
        if sets > MAX_SETS:
            raise self.session.source.fault(
                QueryTooLarge, f"GROUP BY has more than {MAX_SETS} grouping sets", node
            )

    def _parts(self, node: exp.Rollup | exp.Cube) -> list[Set]:
        """Lists the parts that may be left out: each an expression, or several in parentheses."""
        if not node.expressions:
            raise self.session.source.unsupported(f"{node.key.upper()} of nothing", node)
        return [self._part(part) for part in node.expressions]

    def _part(self, node: exp.Expr) -> Set:
        if isinstance(node, exp.Tuple):
            return tuple(self.bind(each) for each in node.expressions)
        while isinstance(node, exp.Paren):
            node = node.this
        return (self.bind(node),)


class Outputs:
    """The output columns, of the `values` given, that a clause groups by.

    While the clause is read, a column with a number below zero stands for each.
    """

    def __init__(self, values: Sequence[Expression]) -> None:
        self.values = values
        self.read: set[int] = set()

    def key(self, position: int) -> Expression:
        """Makes the key that stands for the output at `position`."""
        self.read.add(position)
        value = self.values[position]
        return Column(-1 - position, value.type, value.nullable)

    def key_of(self, value: Expression) -> Expression:
        """Finds the key of an expression: the first output that equals it, else itself."""
        return self.key(self.values.index(value)) if value in self.values else value

    def told_apart(
        self, sets: Sequence[Set], numbers: Numbers
    ) -> tuple[tuple[Set, ...], dict[int, Attribute]]:
        """Rewrites the sets over the rows, and adds columns for the outputs that repeat another."""
        first: dict[Expression, int] = {}
        for position in sorted(self.read):
            first.setdefault(self.values[position], position)
        repeated = self.read - set(first.values()) if len(sets) > 1 else set()
        columns = {p: numbers.fresh("key", self.values[p]) for p in sorted(repeated)}
        by = {-1 - p: columns[p].column if p in columns else self.values[p] for p in self.read}
        plain = tuple(tuple(dict.fromkeys(substitute(e, by) for e in each)) for each in sets)
        return plain, columns


def _united(parts: Sequence[Set]) -> Set:
    return tuple(e for part in parts for e in part)
