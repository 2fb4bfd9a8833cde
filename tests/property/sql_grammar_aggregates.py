"""Random grouped queries with the aggregates to which PostgreSQL and we give one answer."""

from hypothesis import strategies as st

from tests.property.sql_grammar import Draw, Generator, Scope

SETS = (
    "1, 2",
    "rollup (1, 2)",
    "cube (1, 2)",
    "1, rollup (2)",
    "grouping sets ((1), (2), ())",
    "grouping sets ((1, 2), rollup (2))",
)


class AggregateGenerator(Generator):
    """Draws queries that group by two columns, which may be the same one, or sets of them."""

    def query(self) -> str:
        """A whole query with the columns `k`, `m`, `a` and `b`."""
        source, scope = self.relations(2)
        texts, numbers = scope.of("text"), scope.of("int")
        if not (texts and numbers):
            return self.query()
        first = self.pick(*texts)
        keys = f"{first} as k, {self.pick(*numbers, first)} as m"
        flat = Scope(scope.columns, 0)
        a, b = self.call(flat), self.call(flat)
        having = self.pick("", f" having count(*) > 1 or {self.call(flat)} is not null")
        where = self.condition(scope)
        by = self.pick(*SETS)
        return (
            f"select {keys}, {a} as a, {b} as b from {source} where {where} group by {by}{having}"
        )

    def call(self, scope: Scope) -> str:
        """An aggregate whose result does not depend on an order that is left open."""
        text, number = self.pick(*scope.of("text")), self.pick(*scope.of("int"))
        money = self.pick(*(scope.of("money") or scope.of("int")))
        way = self.pick("", " desc", " nulls first")
        only = self.pick("", "", f" filter (where {self.condition(scope, 0)})")
        return (
            self.pick(
                f"array_agg({text} order by {number}{way}, {text})",
                f"array_agg(distinct {number} order by {number}{way})",
                f"string_agg({text}, ',' order by {text}{way})",
                f"string_agg(distinct {text}, '' order by {text}{way})",
                f"percentile_cont(0.3) within group (order by {number}{way})",
                f"percentile_disc(0.6) within group (order by {money}{way})",
                f"mode() within group (order by {text}{way})",
                f"var_pop({number})",
                f"stddev(distinct {number})",
                f"regr_count({number}, {money})",
                f"avg({money})",
                f"bit_and({number})",
                f"bit_or(distinct {number})",
                f"bit_xor({number})",
                f"bit_xor(distinct {number})",
            )
            + only
        )


@st.composite
def aggregate_queries(draw: Draw) -> str:
    """A random query."""
    return AggregateGenerator(draw).query()
