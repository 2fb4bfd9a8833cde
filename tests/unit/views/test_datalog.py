"""What each construct of Datalog means, and what is wrong with a program is said at its place."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ivm.errors import NoFixedPoint
from ivm.pool import Pool
from tests.property.shop import CATALOG
from tests.unit.views.datalog import Given, answers
from views.compile import compile_view
from views.errors import SqlError

CUSTOMERS: Given = {
    "customers": [
        (1, "ann", "gold", "rome"),
        (2, "bob", None, "oslo"),
        (3, None, "gold", None),
    ],
    "follows": [(1, 2), (1, 3), (2, 3)],
}
REACHES = "reaches(x, y) :- follows(x, y). reaches(x, z) :- reaches(x, y), follows(y, z). "


def test_a_relation_is_the_set_of_what_its_rules_derive() -> None:
    assert answers(".output p p(x) :- follows(x, _). p(x) :- follows(_, x). p(7).") == {
        (1,), (2,), (3,), (4,), (5,), (7,),
    }  # fmt: skip


def test_a_query_has_a_column_for_each_of_its_variables() -> None:
    program = "?- follows(x, y), follows(y, x), x < 5."
    assert answers(program) == set()
    view = compile_view("?- follows(1, friend).", CATALOG, language="datalog")
    assert view.schema.names == ["friend"]


def test_a_relation_reads_itself() -> None:
    assert answers(REACHES + "?- reaches(1, x).") == {(1,), (2,), (3,)}


def test_relations_read_one_another() -> None:
    program = "odd(y) :- follows(1, y). odd(y) :- even(x), follows(x, y). even(y) :- odd(x), "
    assert answers(program + "follows(x, y). .output even", CUSTOMERS) == {(3,)}


def test_many_relations_may_read_one_another() -> None:
    names = [f"p{i}" for i in range(30)]
    rules = [f"{b}(x) :- {a}(x)." for a, b in zip(names, [*names[1:], "p0"], strict=True)]
    program = " ".join(rules[::-1]) + " p7(x) :- follows(x, _). .output p3"
    assert answers(program) == {(1,), (2,), (3,), (4,), (5,)}


def test_a_table_is_read_by_name() -> None:
    assert answers('?- customers(id: i, segment: "gold").', CUSTOMERS) == {(1,), (3,)}


def test_null_equals_nothing() -> None:
    assert answers("?- customers(_, n, _, n).", CUSTOMERS) == set()
    pairs = "?- customers(id: i, segment: s), customers(id: j, segment: s), i < j."
    assert answers(pairs, CUSTOMERS) == {(1, "gold", 3)}


def test_null_is_a_constant_in_any_case() -> None:
    facts = "p(1, null). p(2, NULL). p(3, 7). "
    view = compile_view(facts + ".output p", CATALOG, language="datalog")
    assert view.schema.types == [pa.int32(), pa.int32()]
    assert answers(facts + ".output p") == {(1, None), (2, None), (3, 7)}
    assert answers(facts + "?- p(x, null).") == set()
    assert answers("?- customers(id: i), n = null.", CUSTOMERS) == {(i, None) for i in (1, 2, 3)}
    assert answers('flags(True, "null"). ?- flags(TRUE, t).') == {("null",)}
    assert answers("?- follows(nullable, trueish), nullable = 1.") == {(1, 2)}


@pytest.mark.parametrize("name", ["null", "true", "FALSE"])
def test_a_relation_may_have_the_name_of_a_constant(name: str) -> None:
    program = f"{name}(x) :- follows(x, _). n(c) :- c = count : {{ {name}(x) }}. "
    assert answers(program + f"?- {name}(x), !{name} (2).", CUSTOMERS) == set()
    assert answers(program + f"p(x) :- {name} (x), x > 1. .output p", CUSTOMERS) == {(2,)}
    assert answers(program + ".output n", CUSTOMERS) == {(2,)}
    assert answers(program + f".output {name}", CUSTOMERS) == {(1,), (2,)}


FEWEST = (
    "reached(1, 0). reached(y, n + 1) :- fewest(x, n), follows(x, y). "
    "fewest(x, n) :- reached(x, _), n = min m : { reached(x, m) }. "
)
LEAST = (
    "least(x, x) :- follows(x, _). least(y, y) :- follows(_, y). "
    "least(y, m) :- follows(x, y), m = min n : { least(x, n) }. "
    ".output best best(x, m) :- least(x, _), m = min n : { least(x, n) }."
)


def test_a_recursion_may_improve_a_minimum_of_its_own() -> None:
    ways: Given = {"follows": [(1, 2), (2, 3), (3, 1), (1, 4), (4, 3), (3, 5)]}
    fewest = {(1, 0), (2, 1), (4, 1), (3, 2), (5, 3)}
    assert answers(FEWEST + ".output fewest", ways) == fewest
    assert answers(FEWEST + "?- fewest(5, n).", ways) == {(3,)}
    assert answers(LEAST, ways) == {(x, 1) for x in (1, 2, 3, 4, 5)}


def test_a_minimum_of_its_own_follows_its_inputs() -> None:
    pool, view = Pool(), compile_view(FEWEST + ".output fewest", CATALOG, language="datalog")
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key or table.schema.names)
    pool.install("fewest", view.node, view.key)
    schema = CATALOG["follows"].schema
    for time, (added, diff) in enumerate([([(1, 2), (2, 3), (1, 3)], 1), ([(1, 3)], -1)]):
        columns = [
            pa.array(c, f.type) for c, f in zip(zip(*added, strict=True), schema, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        pool.feed("follows", batch, np.full(len(added), diff), time)
        pool.advance(time + 1)
        found = {tuple(row.values()) for row in pool.scan("fewest").rows.to_pylist()}
        assert found == {(1, 0), (2, 1), (3, 1 + time)}


def test_a_maximum_that_gets_ever_better_has_no_fixed_point() -> None:
    pool = Pool(max_rounds=20)
    program = "n(0::bigint). n(y + 1) :- n(_), y = max x : { n(x) }. .output n"
    view = compile_view(program, CATALOG, language="datalog")
    pool.install("n", view.node, view.key)
    with pytest.raises(NoFixedPoint):
        pool.advance(1)


def test_a_negation_keeps_what_has_no_match() -> None:
    assert answers("?- customers(id: i), !follows(i, _).", CUSTOMERS) == {(3,)}


def test_a_count_of_nothing_is_zero() -> None:
    program = "?- customers(id: i), n = count : { follows(i, _) }."
    assert answers(program, CUSTOMERS) == {(1, 2), (2, 1), (3, 0)}


def test_a_sum_of_nothing_is_zero_and_other_aggregates_hold_for_no_value() -> None:
    assert answers("?- customers(id: i), s = sum y : { follows(i, y) }.", CUSTOMERS) == {
        (1, Decimal(5)), (2, Decimal(3)), (3, Decimal(0)),
    }  # fmt: skip
    assert answers("?- customers(id: i), m = max(y * 2) : { follows(i, y) }.", CUSTOMERS) == {
        (1, 6), (2, 6),
    }  # fmt: skip


def test_aggregates_are_those_of_sql() -> None:
    best = "?- customers(id: i), who = arg_max(y, y % 3) : { follows(i, y) }."
    assert answers(best, CUSTOMERS) == {(1, 2), (2, 3)}
    assert answers("?- all = array_agg y : { follows(_, y) }.", CUSTOMERS) == {((2, 3, 3),)}


def test_functions_that_sql_reads_in_a_way_of_their_own_are_called_like_others() -> None:
    program = '?- names = string_agg(upper(n), "-") : { customers(name: n) }.'
    assert answers(program, CUSTOMERS) == {("ANN-BOB",)}
    program = '?- follows(1, x), y = date_part("year", "2024-01-01"::date) + x.'
    assert answers(program, CUSTOMERS) == {(2, 2026), (3, 2027)}


def test_an_aggregate_may_stand_in_another() -> None:
    program = "?- n = count : { customers(id: i), 2 = count : { follows(i, _) } }."
    assert answers(program, CUSTOMERS) == {(1,)}


def test_names_inside_the_braces_of_two_aggregates_are_their_own() -> None:
    program = "?- customers(id: i), n = count : { follows(i, y) }, m = count : { follows(y, i) }."
    assert answers(program, CUSTOMERS) == {(1, 2, 0), (2, 1, 1), (3, 0, 2)}


def test_a_computed_value_binds_a_variable() -> None:
    assert answers("?- follows(x, y), z = x * 10 + y, z > 11.", CUSTOMERS) == {
        (1, 2, 12), (1, 3, 13), (2, 3, 23),
    }  # fmt: skip


def test_literals_may_stand_in_any_order() -> None:
    assert answers("?- z > 12, z = x * 10 + y, !follows(y, _), follows(x, y).", CUSTOMERS) == {
        (13, 3, 1), (23, 3, 2),
    }  # fmt: skip


def test_an_argument_may_be_computed() -> None:
    assert answers("?- follows(x, x + 1).", CUSTOMERS) == {(1,), (2,)}
    assert answers("?- follows(x - 1, x).", CUSTOMERS) == {(2,), (3,)}


def test_functions_are_those_of_sql() -> None:
    assert answers('?- customers(id: i, name: n), upper(n) = "BOB".', CUSTOMERS) == {(2, "bob")}


def test_a_declaration_names_and_types_columns() -> None:
    program = '.decl due(day: date, n: number) due("2024-01-01", 1). due("2024-01-02", 2). '
    view = compile_view(program + ".output due", CATALOG, language="datalog")
    assert view.schema.names == ["day", "n"]
    assert view.schema.types == [pa.date32(), pa.int64()]
    assert answers(program + '?- due("2024-01-02", n).') == {(2,)}
    assert answers(program + "?- due(n: 1, day: d).") == {(date(2024, 1, 1),)}


def test_columns_are_as_wide_as_their_rules_need() -> None:
    program = "n(1). n(y) :- follows(_, y). n(x + 0.5) :- n(x), x < 2. .output n"
    assert answers(program, {"follows": [(1, 3)]}) == {
        (Decimal(1),), (Decimal("1.5"),), (Decimal(2),), (Decimal(3),),
    }  # fmt: skip


def test_strings_are_written_with_escapes() -> None:
    assert answers(r'p("a\"b\\\n"). ?- p(x).') == {('a"b\\\n',)}


def test_what_stands_in_a_string_nests_nothing() -> None:
    assert answers(f'p("{"(" * 200}"). ?- p(x).') == {("(" * 200,)}


def test_comments_are_left_out() -> None:
    assert answers("p(1). // one\n/* p(2).\n */ ?- p(x).") == {(1,)}


def test_an_endless_recursion_is_told_to_take_a_condition() -> None:
    view = compile_view("n(0::bigint). n(x + 1) :- n(x). .output n", CATALOG, language="datalog")
    pool = Pool(max_rounds=20)
    pool.install("n", view.node, view.key)
    with pytest.raises(NoFixedPoint, match="Add a condition that ends the recursion"):
        pool.advance(1)


def test_only_what_the_result_reads_is_a_dependency() -> None:
    program = "p(x) :- follows(x, _). q(x) :- customers(id: x). .output p"
    assert compile_view(program, CATALOG, language="datalog").dependencies == ("follows",)


FAULTS = [
    ("p(x) :- q(x)", "syntax-error", 13),
    ("p(x) := q(x).", "syntax-error", 6),
    ('p(x) :- "abc', "syntax-error", 9),
    ("/* p(1).", "syntax-error", 1),
    ("p(1).", "syntax-error", None),
    ("p(1). .output p ?- p(x).", "syntax-error", 20),
    ("?- follows(1, 2).", "syntax-error", 4),
    ("p(_). .output p", "syntax-error", 1),
    ("p(x) :- follows(x, _), x. .output p", "syntax-error", 24),
    ("?- follows(x, y), z = x + _.", "syntax-error", 27),
    ("?- follows(x, y), sum(x) = 1.", "syntax-error", 19),
    ("?- follows(src: x, 1).", "syntax-error", 4),
    ("?- folows(x, y).", "unknown-table", 4),
    ("p(1). .output q", "unknown-table", 15),
    (".decl q(x: number) p(1). .output p", "unknown-table", 7),
    ("?- follows(sr: x).", "unknown-column", 4),
    ("?- follows(x).", "type-mismatch", 4),
    ("p(1). p(1, 2). .output p", "type-mismatch", 7),
    ("?- customers(id: x, name: y), follows(y, _).", "type-mismatch", 39),
    ("p(x) :- follows(x, _). p(x) :- customers(name: x). .output p", "type-mismatch", 26),
    ('p(x) :- follows(x, _). p("a"). .output p', "invalid-literal", 26),
    (".decl p(x: smallint) p(x) :- follows(x, _). .output p", "type-mismatch", 24),
    (".decl p(x: money) p(1). .output p", "type-mismatch", 7),
    ("p(x) :- p(x). .output p", "type-mismatch", 1),
    ("follows(1, 2). .output follows", "duplicate-column", 1),
    (".decl p(x: number, x: number) p(1, 2). .output p", "duplicate-column", 7),
    ("?- follows(x, y), frobnicate(x) = 1.", "unknown-function", 19),
    ("?- follows(x, y), n = frobnicate : { follows(x, _) }.", "unknown-function", 23),
    ("?- follows(x, y), case(x, y) = 1.", "unknown-function", 19),
    ("p(x, w) :- follows(x, _). .output p", "unbound-variable", 6),
    ("?- follows(x, _), z > 3.", "unbound-variable", 19),
    ("?- follows(x, _), !follows(x, z).", "unbound-variable", 31),
    ("p(x, n) :- n = count : { follows(x, _) }. .output p", "unbound-variable", 34),
    ("p(x) :- follows(x, _), !p(x). .output p", "not-stratified", 25),
    ("p(n) :- n = count : { p(_) }. .output p", "not-stratified", 23),
]  # fmt: skip


@pytest.mark.parametrize(("program", "code", "position"), FAULTS)
def test_a_fault_has_a_code_and_a_place(program: str, code: str, position: int | None) -> None:
    with pytest.raises(SqlError) as caught:
        compile_view(program, CATALOG, language="datalog")
    assert (caught.value.code, caught.value.position) == (code, position)


def test_a_cycle_through_a_negation_is_told() -> None:
    program = "p(x) :- follows(x, _), !q(x). q(x) :- r(x). r(x) :- p(x). .output p"
    with pytest.raises(SqlError, match="'p' reads 'q', which reads 'r', which reads 'p'"):
        compile_view(program, CATALOG, language="datalog")


LARGE = {
    "characters": "p(1). " * 20_000 + ".output p",
    "parentheses": f"?- follows(x, y), z = {'(' * 200}x{')' * 200}.",
    "signs": f"?- follows(x, y), z = {'-' * 200}x.",
    "literals": f"?- {', '.join(['follows(x, y)'] * 300)}.",
    "relations": "p0(x) :- follows(x, _). "
    + "".join(f"p{i + 1}(x) :- p{i}(x). " for i in range(2_000))
    + ".output p2000",
    "plan": "".join(f"p{i + 1}(x) :- p{i}(x), p{i}(x). " for i in range(40))
    + "p0(x) :- follows(x, _). .output p40",
}


@pytest.mark.parametrize("name", LARGE)
def test_a_program_beyond_a_limit_is_refused(name: str) -> None:
    with pytest.raises(SqlError) as caught:
        compile_view(LARGE[name], CATALOG, language="datalog")
    assert caught.value.code == "query-too-large"
