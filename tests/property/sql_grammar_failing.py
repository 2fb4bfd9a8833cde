"""Random queries with subqueries that fail for some rows of their tables, asked for by few rows.

An expression fails on a small number, of which the shop has many, and is asked for by the rows of a
table that is often empty, in a branch, or by the value of a column.
"""

from hypothesis import strategies as st

from tests.property.sql_grammar import Draw
from tests.property.sql_grammar_nested import NestedGenerator, Rows


class FailingGenerator(NestedGenerator):
    """Draws queries of an outer table and of a subquery that may fail."""

    def failing(self, own: Rows) -> str:
        """A number of a row, which the row may lack."""
        return f"(12 / ({self.pick(*own.numbers)} - {self.pick('0', '1', '2')}))"

    def number(self, outer: Rows) -> str:
        """A subquery of one number."""
        own = self.rows_of_table()
        value, group = self.failing(own), self.pick(*own.numbers)
        bound = self.pick("true", f"{group} = {self.pick(*outer.numbers)}")
        rows = f"from {own.source} where {bound}"
        return self.pick(
            f"(select max{value} {rows})",
            f"(select 12 / count(*) {rows})",
            f"(select 12 / sum({group})::bigint {rows})",
        )

    def query(self) -> str:
        """A whole query with the columns `a int` and `b int`."""
        outer = self.rows_of_table()
        a = self.pick(*outer.numbers)
        number, of_group = self.number(outer), self.number(Rows(outer.source, (a,)))
        condition = f"{self.pick(*outer.numbers)} > {self.pick('0', '2', '4')}"
        rows = f"from {outer.source}"
        return self.pick(
            f"select {a} as a, {number} as b {rows}",
            f"select {a} as a, 0 as b {rows} where {a} < {number}",
            f"select {a} as a, case when {condition} then {number} end as b {rows}",
            f"select {a} as a, coalesce(nullif({a}, 1), {number}) as b {rows}",
            f"select {a} as a, count(*) as b {rows} group by 1 having count(*) < {of_group}",
        )


@st.composite
def failing_queries(draw: Draw) -> str:
    """A random query."""
    return FailingGenerator(draw).query()
