"""JSON paths lead where PostgreSQL's do: each line of `json_paths.txt` is a path."""

from pathlib import Path

import pytest

from ivm.errors import Unsupported
from ivm.values.json_path_syntax import parse_path
from tests.postgres import Judge, emptied
from tests.unit.views.test_scalars import ours, theirs

PATHS = (Path(__file__).parent / "json_paths.txt").read_text().splitlines()
DOCUMENT = (
    '{"a": {"a": 12}, "b": [1, 2, {"c": [true, null, "x"]}], '
    '"n": null, "d": 1.5, "s": "abc", "e": []}'
)
FORMS = (
    "jsonb_path_query_array('{document}', '{path}')",
    "jsonb_path_query_array('{document}', '{path}', '{{}}', true)",
    "jsonb_path_exists('{document}', '{path}')",
    "'{document}'::jsonb @? '{path}'",
    "'{document}'::jsonb @@ '{path}'",
)


def test_paths_lead_where_those_of_postgresql_do(judge: Judge) -> None:
    emptied(judge).execute("CREATE TABLE one (id bigint); INSERT INTO one VALUES (1)")
    expressions = [
        form.format(document=DOCUMENT, path=path.replace("'", "''"))
        for path in PATHS
        for form in FORMS
    ]
    answers = [(e, ours(e)) for e in expressions]
    assert answers == [(e, theirs(e, judge)) for e in expressions]


@pytest.mark.parametrize("path", ["(" * 9999, "-" * 9999 + "1", "$ ? (" * 9999])
def test_a_path_that_cannot_be_followed_is_refused(path: str) -> None:
    with pytest.raises(Unsupported):
        parse_path(path)
