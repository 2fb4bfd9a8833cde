"""Random queries of more kinds, to which PostgreSQL and we give one answer.

To those of `sql_grammar` come ANY and ALL, rows of values, every kind of join, LATERAL, set
operations that count, orders that are total with limits and ties, WITH, and recursion.
"""

from hypothesis import strategies as st

from tests.property.sql_grammar import COLUMNS, Draw, Generator, Scope


class WideGenerator(Generator):
    """Draws from the wider grammar."""

    def condition(self, scope: Scope, size: int = 2) -> str:
        """A condition over the columns in scope."""
        shapes = ["plain", "plain", "plain", "row"]
        if scope.depth > 0:
            shapes += ["quantified", "quantified", "row in"]
        match self.pick(*shapes):
            case "quantified":
                kind = self.pick("int", "text", "money")
                operator = self.pick("=", "<>", "<", "<=", ">", ">=")
                rows = self.subquery(scope, kind)
                return f"{self.value(scope, kind)} {operator} {self.pick('any', 'all')} ({rows})"
            case "row":
                operator = self.pick("=", "<>", "<", "<=", ">", ">=", "is distinct from")
                return f"{self.row(scope)} {operator} {self.row(scope)}"
            case "row in":
                source, inner = self.relations(1)
                where = self.condition(Scope(inner.columns + scope.columns, 0), 1)
                flat = Scope(inner.columns, 0)
                values = f"{self.value(flat, 'int')}, {self.value(flat, 'text')}"
                operator = self.pick("in", "not in")
                return f"{self.row(scope)} {operator} (select {values} from {source} where {where})"
            case _:
                return super().condition(scope, size)

    def row(self, scope: Scope) -> str:
        """A number and a text."""
        return f"({self.value(scope, 'int')}, {self.value(scope, 'text')})"

    def relations(self, most: int) -> tuple[str, Scope]:
        """A FROM clause of up to `most` relations."""
        text, columns = self.relation()
        for _ in range(int(self.draw(st.integers(0, most - 1).map(str)))):
            kind = self.pick(
                "join", "left join", "right join", "full join", "cross join", "lateral"
            )
            if kind == "lateral":
                more, added = self.lateral(Scope(columns, 0))
                columns += added
                text = f"{text} cross join lateral {more}"
                continue
            more, added = self.relation()
            both = Scope(columns + added, 1 if kind in ("join", "left join") else 0)
            columns += added
            on = "" if kind == "cross join" else f" on {self.on(both, added)}"
            text = f"{text} {kind} {more}{on}"
        return text, Scope(columns, 2)

    def lateral(self, scope: Scope) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A subquery that reads the relations before it: groups, or the first rows."""
        alias, inner = self.alias(), self.alias()
        table = self.pick("orders", "items", "customers")
        own = tuple((f"{inner}.{c}", k) for c, k in COLUMNS[table].items())
        both = Scope(own + scope.columns, 0)
        where = self.condition(both, 1)
        a, b = self.value(Scope(own, 0), "int"), self.value(both, "text")
        rows = f"select {a} as a, {b} as b from {table} {inner} where {where}"
        shape = self.pick("rows", "first", "ties", "count")
        if shape == "count":
            most = self.value(Scope(own, 0), "text")
            text = f"(select count(*) as a, max({most}) as b from {table} {inner} where {where})"
        elif shape == "first":
            text = f"({rows} order by a nulls first, b limit {self.pick('1', '2')})"
        elif shape == "ties":
            text = f"({rows} order by a desc fetch first {self.pick('1', '2')} rows with ties)"
        else:
            text = f"({rows})"
        return f"{text} {alias}", ((f"{alias}.a", "int"), (f"{alias}.b", "text"))

    def query(self) -> str:
        """A whole query with the columns `a int` and `b text`."""
        plain = super().query
        match self.pick("plain", "plain", "counted", "limited", "ties", "first", "with", "closure"):
            case "counted":
                operation = self.pick("except all", "intersect all", "except", "intersect")
                return f"{self.rows()} {operation} {self.rows()}"
            case "limited":
                where = f"limit {self.pick('0', '1', '3')} offset {self.pick('0', '1')}"
                return f"select a, b from ({plain()}) q order by a desc, b {where}"
            case "ties":
                number = self.pick("1", "2", "3")
                return (
                    f"select a, b from ({plain()}) q order by a fetch first {number} rows with ties"
                )
            case "first":
                return f"select distinct on (a) a, b from ({plain()}) q order by a, b desc"
            case "with":
                both = "q.a, r.b from q join r on q.a = r.a where q.b is distinct from r.b"
                return f"with q as ({plain()}), r as (select b as b, a from q) select {both}"
            case "closure":
                base = f"select a::bigint, b from ({self.rows()}) s"
                step = "select f.dst, q.b from q join follows f on f.src = q.a"
                return f"with recursive q(a, b) as ({base} union {step}) select a, b from q"
            case _:
                return plain()


@st.composite
def wide_queries(draw: Draw) -> str:
    """A random query."""
    return WideGenerator(draw).query()
