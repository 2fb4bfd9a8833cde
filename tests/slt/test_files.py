"""Every view of every file is at every step what PostgreSQL says."""

from pathlib import Path

import pytest

from tests.postgres import Judge
from tests.slt.run import explain_all, run
from tests.slt.script import FILES, read
from tests.slt.support import PAGE, page, scripts


@pytest.mark.parametrize("path", sorted(FILES.glob("*.slt")), ids=lambda path: path.stem)
def test_views_are_what_postgresql_says(path: Path, judge: Judge) -> None:
    run(read(path), judge)


@pytest.mark.parametrize("path", sorted(FILES.glob("*.slt")), ids=lambda path: path.stem)
def test_every_query_is_explained(path: Path, judge: Judge) -> None:
    explain_all(read(path), judge)


@pytest.mark.parametrize("path", sorted(FILES.glob("*.slt")), ids=lambda path: path.stem)
def test_a_file_is_written_as_it_is_read(path: Path) -> None:
    assert read(path).text() == path.read_text()


def test_the_table_of_support_says_what_the_files_show() -> None:
    assert page(scripts()) == PAGE.read_text(), "write it anew: python -m tests.slt --table"
