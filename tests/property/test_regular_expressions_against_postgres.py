"""Regular expressions match what PostgreSQL matches, groups included, in polynomial time."""

import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm.errors import Unsupported
from ivm.values.patterns import compile_pattern, has_match, searcher
from tests.postgres import Judge

TEXTS = st.text("aab cé", max_size=8)
ATOMS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "\\w", "\\s"]
    + [
        place + "a"
        for place in ("\\m", "\\M", "\\y", "\\Y", "^", "$", "(?=a)", "(?!b)", "(?<=a)", "(?<!b)")
    ]
)
QUANTIFIERS = st.sampled_from(
    ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,2}", "*?", "+?", "??", "{2}?", "{1,2}?"]
)


def _sequences(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(st.builds(str.__add__, atoms, QUANTIFIERS), min_size=1, max_size=3)
    return st.lists(parts.map("".join), min_size=1, max_size=2).map("|".join)


EXPRESSIONS = st.recursive(
    _sequences(ATOMS),
    lambda inner: _sequences(
        ATOMS | inner.map(lambda e: f"({e})") | inner.map(lambda e: f"(?:{e})")
    ),
    max_leaves=6,
)


@given(expression=EXPRESSIONS, text=TEXTS)
def test_all_matches_and_their_groups_are_those_of_postgresql(
    expression: str, text: str, judge: Judge
) -> None:
    query = "SELECT regexp_matches(%s, %s, 'g')"
    try:
        theirs = [row[0] for row in judge.execute(query, (text, expression)).fetchall()]
    except psycopg.Error:
        with pytest.raises(ValueError, match=r"."):
            compile_pattern(expression)
        return
    pattern = compile_pattern(expression)
    found = pattern.on(text)
    ours = [found.texts(s) if pattern.groups else [text[slice(*s)]] for s in found.spans()]
    assert ours == theirs
    assert searcher(expression, "")(pa.array([text])).to_pylist() == [bool(theirs)]


@pytest.mark.parametrize("pattern", ["(a)\\1", "((a)\\2)", "[[.hyphen.]]", "(" * 999 + ")" * 999])
def test_what_cannot_be_matched_in_polynomial_time_is_refused(pattern: str) -> None:
    with pytest.raises(Unsupported):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a\\", "a{2,1}", "a{256}", "a**", "*a", "\\q", "(a\\1)", "***a", "(?z)a"]
)
def test_what_is_no_pattern_is_a_bad_value(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        compile_pattern(pattern)


def test_time_to_match_is_linear_in_the_text() -> None:
    find = searcher("^(a+)+$", "")
    assert find(pa.array(["a" * 100_000 + "b", "aa"])).to_pylist() == [False, True]


@pytest.mark.parametrize("pattern", ["^(a+)+\\M$", "(a*?)*?(?=c)", "(?:a|aa)+?\\yc"])
def test_what_re2_cannot_match_takes_no_exponential_time(pattern: str) -> None:
    assert not has_match(compile_pattern(pattern), "a" * 10_000 + "b")
