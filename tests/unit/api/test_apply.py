"""`ivm view apply`: a file's views reach the service as SQL, once."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest
from fastapi.testclient import TestClient

from api.cli.apply import apply
from ivm_client.errors import Problem
from ivm_client.service import ServiceClient
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order
from views.errors import BadDefinition

FILE = """
    from views.builder import Database, F, Table, view

    @view(key=["customer"])
    def spent(db: Database) -> Table:
        orders = db["orders"].filter(F.col("amount") > 1)
        return orders.group_by("customer").agg(total=F.sum(F.col("amount")))

    @view()
    def spenders(db: Database) -> Table:
        return db["spent"].filter(F.col("total") > 10).select("customer")
"""


@pytest.fixture
def service(client: TestClient) -> ServiceClient:
    """The command line's client, of the service under test."""
    service = ServiceClient("http://testserver")
    service._http = client
    return service


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "revenue.py"
    file.write_text(dedent(text))
    return file


def test_a_files_views_are_registered_in_order(
    service: ServiceClient, client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    file = written(tmp_path, FILE)
    assert [(a.name, a.is_new) for a in apply(file, service)] == [
        ("spent", True), ("spenders", True),
    ]  # fmt: skip
    assert [(a.name, a.is_new) for a in apply(file, service)] == [
        ("spent", False), ("spenders", False),
    ]  # fmt: skip
    pipeline.deliver("orders", (order(1, "ada", "12.50"), 1), (order(2, "bob", "7.25"), 1))
    rows = client.get("/v1/views/spenders/rows", params={"scan": "true"}).json()["rows"]
    assert rows == [{"customer": "ada"}]
    assert client.get("/v1/views/spent").json()["key"] == ["customer"]


def test_a_file_imports_what_lies_beside_it(
    service: ServiceClient,
    pipeline: DirectPipeline,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "shared_by_views.py").write_text("LEAST = 1")
    text = FILE.replace("> 1)", "> LEAST)").replace(
        "@view(key", "from shared_by_views import *\n    @view(key"
    )
    assert [a.name for a in apply(written(tmp_path, text), service)] == ["spent", "spenders"]


def test_a_fault_is_told_with_its_line(
    service: ServiceClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    file = written(tmp_path, FILE.replace('"amount") > 1', '"amuont") > 1'))
    with pytest.raises(BadDefinition, match=r"revenue\.py:6: view 'spent': no column 'amuont'"):
        list(apply(file, service))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("import nothing", r":2: ModuleNotFoundError: No module named 'nothing'"),
        ("def f(:", r":2: SyntaxError: "),
        (FILE.replace('db["orders"]', "undefined"), r":6: view 'spent': NameError: .*undefined"),
        (FILE.replace(".filter(", ".filter(nothing=1)("), r":6: view 'spent': TypeError: "),
    ],
)
def test_what_the_file_itself_raises_is_told_with_its_line(
    service: ServiceClient, pipeline: DirectPipeline, tmp_path: Path, text: str, fault: str
) -> None:
    file = written(tmp_path, "\n" + text if "\n" not in text else text)
    with pytest.raises(BadDefinition, match=r"revenue\.py" + fault):
        list(apply(file, service))


@pytest.mark.parametrize(
    ("ending", "advice"),
    [
        ("orders.group_by('customer')", "answers Grouped, which is no table; end with agg()"),
        ("orders.order_by('customer')", "answers Ordered, which is no table; end with limit()"),
        ("None", "answers NoneType, which is no table; return one"),
    ],
)
def test_a_function_that_answers_no_table_is_told_how_to_end(
    service: ServiceClient, pipeline: DirectPipeline, tmp_path: Path, ending: str, advice: str
) -> None:
    whole = 'orders.group_by("customer").agg(total=F.sum(F.col("amount")))'
    file = written(tmp_path, FILE.replace(whole, ending))
    with pytest.raises(BadDefinition) as told:
        list(apply(file, service))
    assert str(told.value) == f"{file}: view 'spent': its function {advice}"


def test_a_key_of_one_column_needs_no_list(
    service: ServiceClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    list(apply(written(tmp_path, FILE.replace('["customer"]', '"customer"')), service))
    assert service.get("/v1/views/spent")["key"] == ["customer"]


def test_a_changed_definition_is_a_conflict(
    service: ServiceClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    list(apply(written(tmp_path, FILE), service))
    with pytest.raises(Problem, match="different-definition"):
        list(apply(written(tmp_path, FILE.replace("> 1)", "> 2)")), service))


def test_a_file_without_views_is_refused(service: ServiceClient, tmp_path: Path) -> None:
    with pytest.raises(BadDefinition, match="defines no view"):
        list(apply(written(tmp_path, "x = 1"), service))
