"""Random queries three scopes deep, whose innermost one reads both of the scopes around it.

The middle query is mostly bound to the outermost row by an equality, plain or computed, and the
innermost one to both rows by comparisons that are no equalities of columns: unnesting makes a
domain of such values from a copy of the middle query, which is itself unnested.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.property.sql_grammar import COLUMNS, Draw, Generator


@dataclass(frozen=True)
class Rows:
    """A table under an alias, and its columns of integers."""

    source: str
    numbers: tuple[str, ...]


class NestedGenerator(Generator):
    """Draws queries of an outermost, a middle and an innermost table."""

    def rows_of_table(self) -> Rows:
        """A table under a new alias."""
        alias, table = self.alias(), self.pick("orders", "items", "follows", "products")
        numbers = (f"{alias}.{c}" for c, kind in COLUMNS[table].items() if kind == "int")
        return Rows(f"{table} {alias}", tuple(numbers))

    def equality(self, own: Rows, outer: Rows) -> str:
        """An equality, of columns or of something computed of them."""
        mine, other = self.pick(*own.numbers), self.pick(*outer.numbers)
        return self.pick(
            f"{mine} = {other}",
            f"{mine} = {other}",
            f"{mine}::numeric = {other}",
            f"{mine} + 1 = {other}",
            f"coalesce({mine}, 1) = {other}",
            f"{mine} is not distinct from {other}",
        )

    def comparison(self, own: Rows, outer: Rows) -> str:
        """A comparison that no column of its own can stand in for."""
        mine, other = self.pick(*own.numbers), self.pick(*outer.numbers)
        operator = self.pick("<>", "<", ">=", "is distinct from")
        return self.pick(f"{mine} {operator} {other}", f"{mine}::numeric = {other}")

    def innermost(self, middle: Rows, outer: Rows) -> str:
        """A number that depends on a row of each of the two scopes around it."""
        own = self.rows_of_table()
        conditions = [self.comparison(own, middle), self.comparison(own, outer)]
        if self.pick("two", "two", "three") == "three":
            conditions.append(self.pick(self.equality(own, middle), self.equality(own, outer)))
        rows = f"from {own.source} where {' and '.join(conditions)}"
        value = self.pick(*own.numbers)
        return self.pick(
            f"(select count(*) {rows})",
            f"(select max({value}) {rows})",
            f"(select {value} {rows} order by 1 limit 1)",
            f"(select count(*) from (select distinct {value} {rows}) d)",
            f"case when exists (select 1 {rows}) then 1 else 0 end",
            f"case when {self.pick(*middle.numbers)} in (select {value} {rows}) then 1 else 0 end",
            f"case when {self.pick(*middle.numbers)} > all (select {value} {rows}) then 1 end",
        )

    def middle(self, outer: Rows) -> tuple[str, str, str]:
        """A FROM with its WHERE, a number of each of its rows, and a condition on that."""
        own = self.rows_of_table()
        value = self.innermost(own, outer)
        bound = self.pick(self.equality(own, outer), self.comparison(own, outer))
        where = self.pick(bound, bound, f"{bound} and {self.pick(*own.numbers)} > 1")
        return f"from {own.source} where {where}", value, f"{value} > {self.pick('0', '1', '2')}"

    def query(self) -> str:
        """A whole query with the columns `a int` and `b int`."""
        outer = self.rows_of_table()
        rows, value, condition = self.middle(outer)
        a = self.pick(*outer.numbers)
        lateral = self.pick(
            f"select {value} as m {rows}",
            f"select distinct {value} as m {rows}",
            f"select {value} as m {rows} order by 1 limit 1",
            f"select count(*) as m {rows} having max({value}) is not null",
            f"select {value} as m {rows} union all select {a}",
        )
        source = outer.source
        return self.pick(
            f"select {a} as a, l.m as b from {source}, lateral ({lateral}) l",
            f"select {a} as a, l.m as b from {source} left join lateral ({lateral}) l on true",
            f"select {a} as a, 0 as b from {source} where exists (select 1 {rows} and {condition})",
            f"select {a} as a, (select count(*) {rows} and {condition}) as b from {source}",
            f"select {a} as a, (select sum({value}) {rows}) as b from {source}",
        )


@st.composite
def nested_queries(draw: Draw) -> str:
    """A random query."""
    return NestedGenerator(draw).query()
