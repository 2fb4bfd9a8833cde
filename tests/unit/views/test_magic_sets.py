"""Queries with bound arguments answer as in full, and derive only what can answer them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.pool import Pool
from tests.property.shop import CATALOG, Row, feed
from tests.unit.views.datalog import answers
from views.compile import compile_view
from views.datalog.bind import bind
from views.explain import explain
from views.limits import Limits

LEFT = "path(x, y) :- follows(x, y). path(x, z) :- path(x, y), follows(y, z). "
RIGHT = "path(x, y) :- follows(x, y). path(x, z) :- follows(x, y), path(y, z). "
TWICE = "path(x, y) :- follows(x, y). path(x, z) :- path(x, y), path(y, z). "
GENERATION = (
    "path(x, y) :- follows(p, x), follows(p, y). "
    "path(x, y) :- follows(p, x), path(p, q), follows(q, y). "
)
MUTUAL = (
    "path(x, y) :- follows(x, y). path(x, z) :- even(x, y), follows(y, z). "
    "even(x, z) :- path(x, y), follows(y, z). "
)
FOREIGN = "path(x, y) :- follows(x, y), !blocked(x). blocked(x) :- follows(x, x). " + (
    "path(x, z) :- path(x, y), follows(y, z), n = count : { follows(z, _) }, n < 3. "
)
PROGRAMS = [LEFT, RIGHT, TWICE, GENERATION, MUTUAL, FOREIGN]

graphs = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=12, unique=True)


@pytest.mark.parametrize("program", PROGRAMS)
@given(follows=graphs)
@settings(max_examples=15, deadline=None)
def test_a_query_answers_as_the_whole_relation_filtered(program: str, follows: list[Row]) -> None:
    edges = {"follows": follows}
    whole = answers(program + ".output path", edges)
    assert answers(program + "?- path(1, x).", edges) == {(y,) for x, y in whole if x == 1}
    assert answers(program + "?- path(x, 2).", edges) == {(x,) for x, y in whole if y == 2}
    assert answers(program + "?- path(x, y), x = 1, y > x.", edges) == {
        row for row in whole if row[0] == 1 and row[1] > 1
    }
    assert answers(program + "?- path(x, y), x = 1, y > x, path(y, z).", edges) == {
        (*one, z) for one in whole if one[0] == 1 < one[1] for y, z in whole if y == one[1]
    }
    assert answers(program + "?- follows(3, x), path(x, y).", edges) == {
        row for row in whole if (3, row[0]) in follows
    }
    assert answers(program + "?- follows(x, y), path(y, z).", edges) == {
        (x, *row) for x, y in follows for row in whole if row[0] == y
    }
    assert answers(program + "?- follows(x, y), path(y, x).", edges) == {
        (x, y) for x, y in follows if (y, x) in whole
    }


def held(program: str, follows: list[Row]) -> int:
    """The updates in the arrangements of a view, those inside its loops too."""
    view, pool = compile_view(program, CATALOG, language="datalog"), Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    pool.install("view", view.node, view.key)
    empty: dict[str, list[Row]] = {table.name: [] for table in CATALOG.tables}
    feed(pool, empty, {"follows": follows}, 0)
    return sum(i.records for i in pool.arrangements() if i.name.startswith("view"))


@pytest.mark.parametrize("program", [LEFT, RIGHT, TWICE])
@pytest.mark.parametrize("query", ["?- path(1, x).", "?- path(x, 3)."])
def test_only_relevant_facts_are_derived(program: str, query: str) -> None:
    """A chain of three beside one of forty, whose 820 paths nobody asks for."""
    short, long = [(1, 2), (2, 3)], [(i, i + 1) for i in range(100, 140)]
    assert held(program + ".output path", short + long) > 820
    assert held(program + query, short + long) == held(program + query, short)


def rewritten(program: str) -> str:
    stages = explain(program, CATALOG, (), "datalog")
    return next((stage.text for stage in stages if stage.name == "magic_sets"), "")


def test_the_rules_are_shown() -> None:
    assert rewritten(RIGHT + "?- path(1, x).").splitlines() == [
        "magic path{bf}(1).",
        "?-(x) :- path{bf}(1, x).",
        'reached path{bf}("origin 0", "origin 0") :- magic path{bf}("origin 0").',
        'reached path{bf}("origin 0", y) :- reached path{bf}("origin 0", x), follows(x, y).',
        'path{bf}("origin 0", y) :- reached path{bf}("origin 0", x), follows(x, y).',
        ".output ?-",
    ]


@pytest.mark.parametrize("program", [LEFT, RIGHT])
@pytest.mark.parametrize(
    "query", ["?- path(1, x).", "?- path(x, 60).", "?- path(x, y), x = 1, y = 60."]
)
def test_what_a_long_chain_keeps_grows_with_its_length(program: str, query: str) -> None:
    chain = [(i, i + 1) for i in range(1, 60)]
    assert held(program + query, chain) < 10 * len(chain)


@pytest.mark.parametrize("program", [LEFT, RIGHT])
def test_rows_of_a_table_ask_for_what_can_answer_them(program: str) -> None:
    """From 1 and 2 of the rows that follow 3 there are short chains; nobody asks for the long."""
    query = "asked(x) :- follows(3, x). ?- asked(x), path(x, y)."
    short, long = [(3, 1), (3, 2), (1, 4), (2, 5)], [(i, i + 1) for i in range(100, 140)]
    assert held(program + query, short + long) < held(program + query, short) + 2 * len(long)


@pytest.mark.parametrize(
    "program",
    [
        LEFT + ".output path",
        LEFT + "?- path(1, x), !path(x, 1).",
        LEFT + "?- path(x, y), path(1, x).".replace("path(1, x)", "z = x + y, path(z, x)"),
        "p(x, y) :- follows(x, y). ?- p(1, x).",
    ],
)
def test_what_is_needed_in_full_or_is_not_recursive_is_left_as_it_is(program: str) -> None:
    assert rewritten(program) == ""


def test_a_program_that_would_need_too_many_copies_is_left_as_it_is() -> None:
    """Each rule leaves another argument open: all sets of bound ones would be asked for."""
    names = [f"x{i}" for i in range(9)]
    program = f"p({', '.join(names)}) :- {', '.join(f'follows({n}, _)' for n in names)}. "
    for i in range(len(names)):
        opened = ", ".join("y" if n == names[i] else n for n in names)
        program += f"p({', '.join(names)}) :- follows({names[i]}, _), p({opened}). "
    assert rewritten(program + f"?- p({', '.join('1' * 8)}, x).") == ""


def test_a_long_body_that_would_be_repeated_for_each_of_its_readings_is_left_as_it_is() -> None:
    steps = [f"path(x{i}, x{i + 1})" for i in range(50)]
    program = f"path(x, y) :- follows(x, y). path(x0, x50) :- {', '.join(steps)}. ?- path(1, y)."
    assert rewritten(program) == ""


NEGATING = (
    RIGHT
    + """
    lone(x) :- path(1, x).
    top(x) :- follows(x, y), !lone(x).
    top(y) :- follows(1, x), top(x), path(x, y).
"""
)


def test_what_is_asked_for_makes_no_cycle_through_a_negation() -> None:
    """`lone` asks for paths from 1, and `top`, which negates it, for paths from what it holds."""
    assert rewritten(NEGATING + ".output top") == ""
    facts = {"follows": [(1, 2), (2, 3), (4, 1), (3, 4), (5, 6)]}
    assert answers(NEGATING + ".output top", facts) == {(5,)}


def test_what_a_negated_relation_reads_is_derived_as_far_as_it_asks() -> None:
    program = RIGHT + "lone(x) :- path(1, x). ?- follows(x, _), !lone(x)."
    assert "path{bf}" in rewritten(program)


@pytest.mark.parametrize(("most", "copied"), [(7, True), (6, False)])
def test_a_program_whose_copies_repeat_too_many_negations_is_left_as_it_is(
    most: int, copied: bool
) -> None:
    """The program has five, and seven with copies."""
    program = (
        "path(x, y) :- follows(x, y), !follows(y, x). "
        "path(x, z) :- path(x, y), follows(y, z), !follows(z, y). "
        "?- path(1, x), path(x, 2), !follows(x, x)."
    )
    stages = bind(program, CATALOG, Limits(subqueries=most)).stages()
    assert ("magic_sets" in {stage.name for stage in stages}) == copied


def test_computed_values_are_not_asked_for() -> None:
    """Or the numbers asked for, 2, 3, 4 and so on, would have no end."""
    program = "n(x, y) :- follows(x, y). n(x, y) :- z = x + 1, n(z, y), follows(x, _). ?- n(1, y)."
    assert answers(program, {"follows": [(1, 5), (2, 6)]}) == {(5,), (6,)}


def test_a_text_constant_has_the_type_of_what_it_asks_for() -> None:
    program = (
        "same(a, b) :- orders(customer_id: c, day: a), orders(customer_id: c, day: b). "
        'same(a, c) :- same(a, b), same(b, c). ?- same("2024-01-01", d), d = "2024-01-01".'
    )
    assert answers(program, {}) == set()
