"""What the builder's methods mean, as the SQL that they make answers, and what they refuse."""

from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tests.oracle import evaluate
from tests.property.shop import CATALOG, Row
from views.builder import Database, F, Table
from views.compile import compile_view
from views.errors import SqlError, TypeMismatch

GIVEN: dict[str, list[Row]] = {
    "customers": [(1, "ann", "gold", "rome"), (2, "bob", None, "oslo"), (3, None, "gold", None)],
    "orders": [
        (1, 1, "paid", date(2024, 1, 1), Decimal("5.00")),
        (2, 1, "open", date(2024, 1, 2), Decimal("7.50")),
        (3, 2, "paid", None, None),
    ],
    "follows": [(1, 2), (2, 3), (3, 1), (3, 3)],
}


def rows(table: Table) -> Counter[Row]:
    """The rows of a view over the SQL that `table` makes."""
    view = compile_view(table.sql(), CATALOG)
    assert view.schema.names == table.schema.names
    assert view.schema.types == table.schema.types
    empty = {t.name: Counter[Row]() for t in CATALOG.tables}
    result = evaluate(view.node, empty | {name: Counter(given) for name, given in GIVEN.items()})
    assert not result.errors
    return result.rows


@pytest.fixture
def db() -> Database:
    return Database(CATALOG)


def test_filter_keeps_rows_by_all_conditions(db: Database) -> None:
    follows = db["follows"]
    assert rows(follows.filter(follows.src > 1, F.col("dst") != 3)) == {(3, 1): 1}


def test_select_names_and_computes_columns(db: Database) -> None:
    table = db["follows"].select("src", next=F.col("dst") + 1, other="dst", kind=F.lit("x"))
    assert table.schema.names == ["src", "next", "other", "kind"]
    assert rows(table)[(1, 3, 2, "x")] == 1


def test_operators_group_as_python_does(db: Database) -> None:
    a, b = F.col("src"), F.col("dst")
    table = db["follows"].filter((a == 1) | ((a == 3) & ~(b == 1)))
    assert rows(table.select(x=(a + b) * 2 - -a % 2, y=7 / (a + 1))) == {(7, 3): 1, (13, 1): 1}
    assert rows(db["follows"].filter(7 % (a + b) == 1)) == {(1, 2): 1, (3, 3): 1}


def test_values_of_python_are_constants(db: Database) -> None:
    orders = db["orders"]
    assert rows(orders.filter(orders.day == date(2024, 1, 2)).select("id")) == {(2,): 1}
    assert rows(orders.filter(orders.total > 5.5).select("id")) == {(2,): 1}
    assert rows(orders.filter(orders.total.is_null()).select("id")) == {(3,): 1}
    assert rows(orders.filter(orders.status.is_in("open", "new")).select("id")) == {(2,): 1}
    assert rows(orders.filter(orders.status.like("p%")).select(n=F.col("id").cast("text"))) == {
        ("1",): 1, ("3",): 1,
    }  # fmt: skip


def test_join_by_names_has_their_columns_once(db: Database) -> None:
    totals = db["orders"].select("total", id="customer_id")
    table = db["customers"].join(totals, on="id", how="left").select("id", "total")
    assert rows(table) == {
        (1, Decimal("5.00")): 1, (1, Decimal("7.50")): 1, (2, None): 1, (3, None): 1,
    }  # fmt: skip


def test_join_by_a_condition_of_both_sides(db: Database) -> None:
    follows = db["follows"]
    back = follows.select(a="src", b="dst")
    table = follows.join(back, on=(follows.src == back.b) & (follows.dst == back.a))
    assert rows(table) == {(3, 3, 3, 3): 1}


def test_semi_and_anti_joins_keep_the_left_columns(db: Database) -> None:
    customers, orders = db["customers"], db["orders"]
    on = customers.id == orders.customer_id
    assert rows(customers.join(orders, on, "semi").select("id")) == {(1,): 1, (2,): 1}
    assert rows(customers.join(orders, on, "anti").select("id")) == {(3,): 1}


def test_group_by_and_agg(db: Database) -> None:
    table = db["orders"].group_by("status").agg(n=F.count(), total=F.sum(F.col("total")))
    assert rows(table) == {("paid", 2, Decimal("5.00")): 1, ("open", 1, Decimal("7.50")): 1}
    assert rows(db["orders"].agg(n=F.count(F.col("status"), distinct=True))) == {(2,): 1}


def test_union_matches_columns_by_name(db: Database) -> None:
    follows = db["follows"]
    back = follows.select(dst="src", src="dst")
    assert rows(follows.union(back))[(3, 3)] == 2
    assert rows(follows.union(back, distinct=True))[(3, 3)] == 1
    assert rows(follows.select("src").distinct()) == {(1,): 1, (2,): 1, (3,): 1}


def test_order_by_and_limit_keep_the_first_rows(db: Database) -> None:
    follows = db["follows"]
    assert rows(follows.order_by(follows.src.desc(), "dst").limit(1, offset=1)) == {(3, 3): 1}


def test_constant_rows_are_a_table(db: Database) -> None:
    table = db.values([(1, "a"), (2, None)], x="bigint", y="text")
    assert rows(table.filter(table.x < 3)) == {(1, "a"): 1, (2, None): 1}


def reach(follows: Table) -> Table:
    def step(found: Table) -> Table:
        return found.join(follows.select(dst="src", far="dst"), on="dst").select("src", dst="far")

    return follows.iterate(step)


def test_iterate_is_the_least_set_closed_under_its_step(db: Database) -> None:
    assert rows(reach(db["follows"])) == {(a, b): 1 for a in (1, 2, 3) for b in (1, 2, 3)}


def test_a_step_may_iterate_in_turn(db: Database) -> None:
    follows = db["follows"]
    back = follows.select(src="dst", dst="src")

    def both_ways(found: Table) -> Table:
        return reach(found).union(back)

    assert rows(follows.iterate(both_ways)) == rows(reach(follows.union(back, distinct=True)))


def fewest_steps(db: Database, step: Callable[[Table], Table]) -> Table:
    """The fewest steps along `follows` from 1, by `step` of what was found."""
    onward = db["follows"].select(at="src", then="dst")
    start = db.values([(1, 0)], at="bigint", steps="bigint")

    def walked(found: Table) -> Table:
        return step(found.join(onward, on="at").select(at="then", steps=F.col("steps") + 1))

    return start.iterate(walked)


def least(found: Table) -> Table:
    return found.group_by("at").agg(steps=F.min(found.steps))


def first(found: Table) -> Table:
    return found.order_by("steps", "at").limit(2)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (least, {(1, 0): 1, (1, 3): 1, (2, 1): 1, (3, 2): 1}),
        (first, {(1, 0): 1, (2, 1): 1, (3, 2): 1}),
    ],
)
def test_a_step_that_takes_rows_away_starts_each_round_with_the_rows_given(
    db: Database, step: Callable[[Table], Table], expected: dict[Row, int]
) -> None:
    assert rows(fewest_steps(db, step)) == expected


def test_a_step_may_ask_for_rows_that_were_not_found(db: Database) -> None:
    follows = db["follows"]
    names = follows.select(at="src").union(follows.select(at="dst"), distinct=True)

    def odd(found: Table) -> Table:
        next_ = follows.select(at="src", then="dst").filter(F.col("at") < F.col("then"))
        return names.join(
            next_.join(found, next_.then == found.at, how="semi"), on="at", how="anti"
        )

    assert rows(names.filter(names.at == 3).iterate(odd)) == {(3,): 1, (1,): 1}


def test_a_table_read_twice_is_written_once(db: Database) -> None:
    table = db["follows"].filter(F.col("src") > 0)
    for _ in range(6):
        table = table.union(table.copy(), distinct=True)
    assert table.sql().count("WHERE") == 1
    assert rows(table)[(1, 2)] == 1


def test_the_same_steps_make_the_same_text(db: Database) -> None:
    assert reach(db["follows"]).sql() == reach(Database(CATALOG)["follows"]).sql()


REFUSED: list[tuple[Callable[[Database], object], str]] = [
    (lambda db: db["folows"], "unknown-table"),
    (lambda db: db["follows"].scr, "unknown-column"),
    (lambda db: db["follows"].filter(F.col("scr") > 1), "unknown-column"),
    (lambda db: db["follows"].filter(db["follows"].src > 1), "unknown-column"),
    (lambda db: db["follows"].select(F.col("src") + 1), "unknown-column"),
    (lambda db: db["follows"].union(db["orders"]), "unknown-column"),
    (lambda db: db["customers"].filter(F.col("name") > 1), "type-mismatch"),
    (lambda db: db["follows"].filter(F.col("src").cast("money") == 1), "unsupported"),
    (lambda db: db["follows"].select(x=F.frobnicate("src")), "unknown-function"),
    (lambda db: db["follows"].group_by("src").agg(x=F.col("dst")), "grouping-error"),
    (lambda db: db["customers"].join(db["products"], on=F.lit(True)), "duplicate-column"),
    (lambda db: (t := db["follows"]).join(t, on="src"), "duplicate-column"),
    (lambda db: db["follows"].filter(F.lit([1]) == 1), "type-mismatch"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("build", "code"), REFUSED)
def test_a_fault_is_raised_where_it_is_made(
    db: Database, build: Callable[[Database], object], code: str
) -> None:
    with pytest.raises(SqlError) as caught:
        build(db)
    assert caught.value.code == code
    assert caught.value.position is None


# What a type checker would tell, for those who have none.
MISUSED: dict[str, Callable[[Any], object]] = {
    r"filter\(\) takes a condition": lambda t: t.filter(),
    "a column's name or an expression is needed, not 1": lambda t: t.select(1),
    "a column's name or an expression is needed, not None": lambda t: t.group_by(None),
    "a constant orders nothing": lambda t: t.order_by(1),
    r"order_by\(\) takes a column": lambda t: t.order_by(),
    "a number of rows is needed, not 'x'": lambda t: t.order_by("src").limit("x"),
    r"join\(\) takes the names of columns": lambda t: t.join(t.copy(), on=[]),
    "a column's name, several or a condition": lambda t: t.join(t.copy(), on=1),
    "one of inner, left, right, full, semi, anti": lambda t: t.join(t.copy(), "src", how="outer"),
    "a Table to join with is needed, not 1": lambda t: t.join(1, on="src"),
    "a Table to unite with is needed, not 1": lambda t: t.union(1),
    "a Table as the answer of the step": lambda t: t.iterate(lambda found: None),
    "the name of a column is needed, not 1": lambda t: t[1],
    "at least one row": lambda t: t.database.values([], x="int"),
    "a row of values is needed, not 1": lambda t: t.database.values([1], x="int"),
}


@pytest.mark.parametrize("told", MISUSED)
def test_an_argument_of_another_kind_is_told(db: Database, told: str) -> None:
    with pytest.raises(TypeMismatch, match=told):
        MISUSED[told](db["follows"])


def test_a_constant_key_is_no_position(db: Database) -> None:
    grouped = db["follows"].group_by("src", one=F.lit(7)).agg(n=F.count())
    assert rows(grouped) == {(1, 7, 1): 1, (2, 7, 1): 1, (3, 7, 2): 1}


def test_and_and_or_are_not_silently_wrong(db: Database) -> None:
    with pytest.raises(TypeError, match="&"):
        db["follows"].filter(F.col("src") > 1 and F.col("dst") > 1)
