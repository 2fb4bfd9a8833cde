"""The runner sees what differs, and says where."""

from pathlib import Path

import pytest

from tests.postgres import Judge
from tests.slt.run import rewritten, run
from tests.slt.script import BadScript, Script, read

SCRIPT = """# feature: Test | nothing

statement ok
CREATE TABLE t (id bigint PRIMARY KEY)

query I rowsort all
SELECT id FROM t
----

statement ok
INSERT INTO t VALUES (7)

query I rowsort all
----
7
"""


def script(directory: Path, text: str) -> Script:
    path = directory / "it.slt"
    path.write_text(text)
    return read(path)


def test_rows_that_differ_are_reported_with_their_place(tmp_path: Path, judge: Judge) -> None:
    with pytest.raises(AssertionError, match=r"it\.slt:10: the query at 13: PostgreSQL has\n7\n"):
        run(script(tmp_path, SCRIPT.replace("\n7\n", "\n8\n")), judge)


def test_rows_hold_until_the_file_says_otherwise(tmp_path: Path, judge: Judge) -> None:
    with pytest.raises(AssertionError, match="the query at 6: PostgreSQL has\n7\n"):
        run(script(tmp_path, SCRIPT[: SCRIPT.rindex("query")]), judge)


def test_rewriting_adds_the_mentions_that_are_missing(tmp_path: Path, judge: Judge) -> None:
    given = script(tmp_path, SCRIPT[: SCRIPT.rindex("query")])
    assert rewritten(given, judge).text() == SCRIPT


def test_a_view_that_is_not_refused_as_expected_is_reported(tmp_path: Path, judge: Judge) -> None:
    with pytest.raises(AssertionError, match=r"it\.slt:17: this should be refused"):
        run(script(tmp_path, SCRIPT + "\nquery error unsupported\nSELECT 1 AS x\n"), judge)


def test_what_postgresql_does_not_know_is_ours_alone(tmp_path: Path, judge: Judge) -> None:
    run(
        script(
            tmp_path, f"{SCRIPT}\nonlyif ivm\nquery I\nSELECT arg_max(id, id) FROM t\n----\n7\n"
        ),
        judge,
    )


@pytest.mark.parametrize(
    "text",
    [
        "query X rowsort\nSELECT 1",
        "statement maybe\nSELECT 1",
        "query I rowsort unknown\n----\n1",
        "query I rowsort all\nSELECT 2\n----\n2",
    ],
)
def test_what_is_not_in_the_format_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadScript, match=r"it\.slt:17"):
        script(tmp_path, f"{SCRIPT}\n{text}\n")
