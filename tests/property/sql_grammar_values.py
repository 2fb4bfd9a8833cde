"""Random queries over typed values: constants of every spelling, casts, JSON numbers and decimals.

Decimals lie at the edges of their digits, and what fails stands in branches that some row takes and
others do not. Groups are made by sets of expressions that are repeated and computed of one another.
"""

from hypothesis import strategies as st

from tests.property.sql_grammar import Draw, Generator

DECIMALS = ("0.005", "-0.005", "2.5", "-1.5", "9999999999.99", "0.1", "1e-3", "123456789.987654321")
NUMBERS = ("smallint", "int", "bigint", "numeric(12, 2)", "numeric(20, 6)", "float8")
TYPED = {
    "int": ("int '3'", "'3'::int", "cast('3' as bigint)", "bigint '-3'", "+3", "(- 3)"),
    "numeric": ("numeric(9, 3) '2.5005'", "'2.5005'::numeric(9, 3)", "1.5e2", ".5", "5."),
    "date": ("date '2024-02-29'", "'2024-02-29'::date", "cast('2024-01-31' as date)"),
    "timestamp": ("timestamp '2024-02-29 12:30:45'", "'2024-02-29'::timestamp"),
    "interval": ("interval '1 month'", "'36 hours'::interval", "interval '1 day -1 hour'"),
    "boolean": ("boolean 't'", "'false'::boolean", "true", "(not true)"),
}
DOCUMENTS = (
    """'{"a": 1, "b": "2", "c": null, "d": 2.5}'""",
    """'{"a": -7, "b": "x", "d": 1e2, "e": true}'""",
    """'[3, "4", null]'""",
)


class ValueGenerator(Generator):
    """Draws queries over one table of numbers, `orders` joined with its `items`."""

    def number(self, depth: int = 2) -> str:
        """A number of a row: exact, unless it is cast."""
        leaves = ("o.id", "o.total", "i.quantity", "i.price", "i.line", self.pick(*DECIMALS))
        if depth == 0:
            return self.pick(*leaves)
        below = self.number(depth - 1)
        return self.pick(
            *leaves,
            f"({below} {self.pick('+', '-', '*')} {self.number(depth - 1)})",
            f"round({below}{self.pick('', '::numeric(20, 6)')}, {self.pick('0', '1', '2', '-1')})",
            f"coalesce({below}, {self.pick(*DECIMALS)})",
            f"nullif({below}, {self.pick('0', '2.50', '2.5')})",
            f"({self.pick(*TYPED['int'], *TYPED['numeric'])} + {below})",
            f"greatest({below}, {self.number(0)})",
            f"abs({below})",
            f"({below})::numeric(30, {self.pick('0', '2', '5')})",
            f"({self.condition_of_row()})::int",
            f"({self.document()})",
        )

    def document(self) -> str:
        """A number out of a document, or NULL."""
        given = f"{self.pick(*DOCUMENTS[:2])}::{self.pick('json', 'jsonb')}"
        of_array = f"{DOCUMENTS[2]}::{self.pick('json', 'jsonb')}"
        return self.pick(
            f"({given} ->> 'a')::{self.pick(*NUMBERS)}",
            f"({given} ->> 'd')::{self.pick('numeric(12, 2)', 'float8::numeric(9, 2)')}",
            f"({given} ->> 'c')::int",
            f"({of_array} ->> {self.pick('0', '1', '2')})::{self.pick(*NUMBERS[:5])}",
            f"({of_array} ->> i.line)::int",
        )

    def condition_of_row(self) -> str:
        """A condition that holds for some rows."""
        return self.pick(
            "i.quantity > 1",
            "o.id < 3",
            "o.total is null",
            f"o.total {self.pick('<', '=', '>=')} {self.pick(*DECIMALS)}",
            f"o.day {self.pick('<', '>=')} {self.pick(*TYPED['date'])}",
            f"o.day + {self.pick(*TYPED['interval'])} > {self.pick(*TYPED['timestamp'])}",
            f"{self.pick(*TYPED['boolean'])} and i.line = 1",
        )

    def moment(self) -> str:
        """A value of a row's day: a day, a moment, a text or a number."""
        day = self.pick("o.day", f"coalesce(o.day, {self.pick(*TYPED['date'])})")
        return self.pick(
            f"{day} {self.pick('+', '-')} {self.pick(*TYPED['interval'])}",
            f"{day} {self.pick('+', '-')} {self.pick('i.line', 'i.quantity', '30')}",
            f"{day} - {self.pick(*TYPED['date'])}",
            f"({day} + {self.pick(*TYPED['interval'])})::{self.pick('date', 'text')}",
            f"date_trunc('{self.pick('month', 'week', 'quarter', 'year')}', {day})",
            f"extract({self.pick('dow', 'doy', 'week', 'isoyear', 'quarter')} from {day})::int",
            f"extract(epoch from {self.pick(*TYPED['timestamp'])} - {day})::bigint",
            f"to_char({day}, '{self.pick('YYYY-MM', 'DD.MM.YY', 'Mon FMDD')}')",
            f"greatest({day}, {self.pick(*TYPED['date'])})",
        )

    def failing(self) -> str:
        """A number that some rows do not have: an error, where it is evaluated."""
        return self.pick(
            "12 / i.quantity",
            "12 % (i.quantity - 1)",
            "o.status::int",
            "(o.total * 100)::smallint",
            "o.total::numeric(3, 2)",
            "('x' || o.id)::int",
            "o.id / (o.id - 2)",
        )

    def branch(self) -> str:
        """A number that may fail only in a branch."""
        met = self.condition_of_row()
        failing = self.failing()
        return self.pick(
            f"case when {met} then {failing} else {self.number(1)} end",
            f"case when {met} then {self.number(1)} when o.id = 1 then {failing} end",
            "case i.quantity when 0 then 0 else 12 / i.quantity end",
            f"coalesce({self.number(0)}, {failing})",
            f"case when {met} and i.quantity <> 0 then 12 / i.quantity end",
        )

    def grouped(self) -> str:
        """Sums by sets of expressions, some of which are repeated or computed of others."""
        one, other = self.pick(
            "i.quantity|i.quantity + 1",
            "o.status|upper(o.status)",
            "o.total|round(o.total, 1)",
            "i.line|i.line",
            "o.id % 2|o.id",
            "coalesce(o.total, 0)|o.total",
        ).split("|")
        sets = self.pick(
            f"grouping sets (({one}, {other}), ({other}), ())",
            f"grouping sets (({one}), ({one}), ({other}, {one}))",
            f"rollup ({one}, {other})",
            f"cube ({one}, {other})",
            f"{one}, grouping sets (({other}), ())",
            f"grouping sets (rollup ({one}), ({other}))",
            f"{one}, rollup ({other}, {one})",
        )
        value = self.pick("count(*)", "sum(i.price)", "max(i.quantity)", f"grouping({other})")
        where = self.pick(
            "", f"having count(*) > {self.pick('0', '1')}", f"having {one} is not null"
        )
        return (
            f"select {one} as a, {other} as b, {value} as c from orders o join items i "
            f"on i.order_id = o.id group by {sets} {where}"
        )

    def query(self) -> str:
        """A whole query."""
        if self.pick("values", "values", "sets") == "sets":
            return self.grouped()
        rows = "from orders o join items i on i.order_id = o.id"
        value = self.pick("exact", "branch")
        made = self.number() if value == "exact" else self.branch()
        return self.pick(
            f"select o.id, i.line, {made} as a {rows}",
            f"select o.id, i.line, {made} as a, {self.number(1)} as b {rows}",
            f"select o.id, i.line, {self.moment()} as a, {self.moment()} as b {rows}",
            f"select o.id, i.line {rows} where {made} {self.pick('>', '<=')} {self.number(0)}",
            f"select i.line, sum({made}) as a, count(*) as b {rows} group by i.line",
            f"select distinct {made} as a {rows}",
        )


@st.composite
def value_queries(draw: Draw) -> str:
    """A random query."""
    return ValueGenerator(draw).query()
