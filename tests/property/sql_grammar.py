"""Random queries over the shop: joins, conditions, subqueries, grouping and set operations.

Each is one to which SQL gives a single answer. Columns are written with their relation's alias;
`Scope` knows which columns of which kind there are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[str]], str]

COLUMNS = {
    "customers": {"id": "int", "name": "text", "segment": "text", "city": "text"},
    "orders": {"id": "int", "customer_id": "int", "status": "text", "total": "money"},
    "items": {
        "order_id": "int",
        "line": "int",
        "product_id": "int",
        "quantity": "int",
        "price": "money",
    },
    "products": {"id": "int", "category": "text", "title": "text"},
    "follows": {"src": "int", "dst": "int"},
}
CONSTANTS = {
    "int": st.integers(0, 5).map(str),
    "text": st.sampled_from(["''", "'a'", "'ab'", "'gold'", "'rome'"]),
    "money": st.sampled_from(["0", "1.5", "9.99", "12"]),
}


@dataclass(frozen=True)
class Scope:
    """Columns by kind that an expression may read, and how deep subqueries are nested."""

    columns: tuple[tuple[str, str], ...]
    depth: int

    def of(self, kind: str) -> list[str]:
        """The columns of one kind."""
        return [name for name, k in self.columns if k == kind]


class Generator:
    """Draws the parts of a query; `draw` is Hypothesis's."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.aliases = 0

    def pick(self, *choices: str) -> str:
        """One of `choices`."""
        return self.draw(st.sampled_from(choices))

    def alias(self) -> str:
        """A new alias."""
        self.aliases += 1
        return f"t{self.aliases}"

    def value(self, scope: Scope, kind: str) -> str:
        """An expression of one kind."""
        columns = scope.of(kind)
        shape = self.pick("column", "column", "column", "constant", "computed")
        if shape == "computed" and kind == "int" and columns:
            return f"({self.pick(*columns)} + {self.draw(CONSTANTS['int'])})"
        if shape == "computed" and kind == "text" and columns:
            return f"coalesce({self.pick(*columns)}, 'none')"
        if shape == "computed" and scope.depth > 0:
            return self.scalar_subquery(scope, kind)
        if columns and shape != "constant":
            return self.pick(*columns)
        return self.draw(CONSTANTS[kind])

    def condition(self, scope: Scope, size: int = 2) -> str:
        """A condition over the columns in scope."""
        shapes = ["compare", "compare", "null", "list"]
        if size > 0:
            shapes += ["and", "or", "not"]
        if scope.depth > 0:
            shapes += ["exists", "in", "not in", "exists"]
        shape = self.pick(*shapes)
        kind = self.pick("int", "int", "text", "money")
        match shape:
            case "and" | "or":
                left, right = self.condition(scope, size - 1), self.condition(scope, size - 1)
                return f"({left} {shape} {right})"
            case "not":
                return f"not ({self.condition(scope, size - 1)})"
            case "null":
                return f"{self.value(scope, kind)} is {self.pick('', 'not ')}null"
            case "list":
                items = f"{self.draw(CONSTANTS[kind])}, {self.draw(CONSTANTS[kind])}"
                return f"{self.value(scope, kind)} {self.pick('', 'not ')}in ({items})"
            case "exists":
                rows = self.subquery(scope, "int")
                return f"{self.pick('', 'not ')}exists ({rows})"
            case "in" | "not in":
                return f"{self.value(scope, kind)} {shape} ({self.subquery(scope, kind)})"
        operator = self.pick("=", "=", "<>", "<", "<=", "is distinct from")
        return f"{self.value(scope, kind)} {operator} {self.value(scope, kind)}"

    def subquery(self, scope: Scope, kind: str) -> str:
        """A query of one column, which may read the columns around it."""
        source, inner = self.relations(1)
        both = Scope(inner.columns + scope.columns, scope.depth - 1)
        value = self.value(Scope(inner.columns, 0), kind)
        return f"select {value} from {source} where {self.condition(both, 1)}"

    def scalar_subquery(self, scope: Scope, kind: str) -> str:
        """A query of one row and one column."""
        source, inner = self.relations(1)
        both = Scope(inner.columns + scope.columns, scope.depth - 1)
        function = self.pick("min", "max") if kind != "int" else self.pick("min", "max", "count")
        value = self.value(Scope(inner.columns, 0), kind)
        return f"(select {function}({value}) from {source} where {self.condition(both, 1)})"

    def relations(self, most: int) -> tuple[str, Scope]:
        """A FROM clause of up to `most` relations."""
        text, columns = self.relation()
        for _ in range(int(self.draw(st.integers(0, most - 1).map(str)))):
            more, added = self.relation()
            kind = self.pick("join", "join", "left join", "cross join")
            columns += added
            on = "" if kind == "cross join" else f" on {self.on(Scope(columns, 0), added)}"
            text = f"{text} {kind} {more}{on}"
        return text, Scope(columns, 2)

    def relation(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A table, or a grouped, distinct or windowed subquery, under a new alias."""
        alias = self.alias()
        table = self.pick(*COLUMNS)
        columns = COLUMNS[table]
        if self.pick("table", "table", "query") == "table":
            return f"{table} {alias}", tuple((f"{alias}.{c}", k) for c, k in columns.items())
        inner = self.alias()
        column = self.pick(*columns)
        kind = columns[column]
        shape = self.pick("group", "distinct", "window")
        if shape == "distinct":
            text = f"(select distinct {inner}.{column} as a from {table} {inner}) {alias}"
            return text, ((f"{alias}.a", kind),)
        if shape == "window":
            text = (
                f"(select {inner}.{column} as a, {self.windowed(inner, columns)} as n "
                f"from {table} {inner}) {alias}"
            )
            return text, ((f"{alias}.a", kind), (f"{alias}.n", "int"))
        text = (
            f"(select {inner}.{column} as a, count(*) as n from {table} {inner} "
            f"group by {inner}.{column}) {alias}"
        )
        return text, ((f"{alias}.a", kind), (f"{alias}.n", "int"))

    def windowed(self, table: str, columns: Mapping[str, str]) -> str:
        """A window function of integers on which no order of ties has a say."""
        number = next(f"{table}.{c}" for c, kind in columns.items() if kind == "int")
        order, key = f"{table}.{self.pick(*columns)}", f"{table}.{self.pick(*columns)}"
        function = self.pick("rank()", "dense_rank()", "count(*)", f"max({number})")
        by = self.pick("", f"partition by {key} ")
        direction = self.pick("nulls first", "nulls last", "desc nulls last")
        return f"{function} over ({by}order by {order} {direction})"

    def on(self, scope: Scope, added: tuple[tuple[str, str], ...]) -> str:
        """A join condition, mostly with an equality to the relation added."""
        numbers = [name for name, kind in added if kind == "int"]
        others = [c for c in scope.of("int") if c not in numbers]
        if not numbers or not others:
            return self.condition(scope, 1)
        equal = f"{self.pick(*numbers)} = {self.pick(*others)}"
        return (
            equal
            if self.pick("plain", "more") == "plain"
            else f"{equal} and {self.condition(scope, 0)}"
        )

    def query(self) -> str:
        """A whole query with the columns `a int` and `b text`."""
        match self.pick("rows", "rows", "rows", "groups", "groups", "distinct", "union", "except"):
            case "groups":
                return self.groups()
            case "distinct":
                return self.rows("distinct ")
            case "union":
                return f"{self.rows()} union {self.pick('', 'all ')}{self.rows()}"
            case "except":
                return f"{self.rows()} {self.pick('except', 'intersect')} {self.rows()}"
            case _:
                return self.rows()

    def rows(self, distinct: str = "") -> str:
        """A query without grouping."""
        source, scope = self.relations(3)
        a, b = self.value(scope, "int"), self.value(scope, "text")
        where = self.condition(scope)
        return f"select {distinct}{a} as a, {b} as b from {source} where {where}"

    def groups(self) -> str:
        """A grouped query."""
        source, scope = self.relations(2)
        flat = Scope(scope.columns, 0)
        key = self.value(flat, "text")
        number, money = self.value(flat, "int"), self.value(flat, "money")
        calls = [
            "count(*)",
            f"count({money})",
            f"count(distinct {number})",
            f"max({money})",
            f"sum({number})",
            f"sum({money}) filter (where {self.condition(flat, 0)})",
        ]
        call, having = self.pick(*calls), self.pick(*calls)
        where = self.condition(scope)
        by = self.pick(" group by 2", " group by 2", "")
        shown = key if by else "'all'"
        return (
            f"select {call} as a, {shown} as b from {source} where {where}{by} "
            f"having {having} is {self.pick('', 'not ')}null or count(*) > 1"
        )


@st.composite
def queries(draw: Draw) -> str:
    """A random query."""
    return Generator(draw).query()
