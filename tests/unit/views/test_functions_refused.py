"""Functions that are refused say what to write, and none fails with an error of Python's."""

import pytest

from tests.unit.views.test_scalars import SAMPLES
from views.catalog import Catalog
from views.compile import compile_view
from views.errors import SqlError


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("random()", "insert the value as a column"),
        ("gen_random_uuid()", "insert the value as a column"),
        ("clock_timestamp()", "compare now()"),
        ("current_user", "a view has no session"),
        ("nextval('ids')", "row_number()"),
        ("to_tsvector('a')", "LIKE"),
        ("int4range(1, 2)", "two columns"),
        ("parse_ident('a.b')", "string_to_array"),
        ("B'101'", "bits in integers"),
        ("jsonb_populate_record(NULL, '{}')", "jsonb_to_record(document) AS x"),
        ("'a' ~ '(a)\\1'", "regexp_match()"),
        ("'a' COLLATE \"fr_FR\"", 'the order of "C"'),
        ("num_nulls()", "take arguments"),
        ("concat_ws(',')", "takes a separator and values"),
        ("float8(1, 2)", "takes one argument"),
        ("timezone('UTC')", "takes a zone and a moment"),
    ],
)
def test_a_refused_function_says_what_to_write(expression: str, advice: str) -> None:
    with pytest.raises(SqlError) as refusal:
        compile_view(f"SELECT {expression} AS x FROM one", Catalog([SAMPLES]))
    assert advice in str(refusal.value)
