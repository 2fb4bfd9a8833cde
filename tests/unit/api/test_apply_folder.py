"""`ivm apply`: a folder of definitions is planned, applied, and then left alone."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from api.cli.applying import carry_out
from api.cli.folder import read
from api.cli.main import app
from api.cli.planning import Plan, plan
from ivm_client.service import ServiceClient
from tests.unit.api.conftest import ORDERS, make_runtime
from tests.unit.api.listening import served
from tests.unit.api.orders import order
from views.errors import BadDefinition

SPENT = "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"
FILES = {
    "sources/orders.json": json.dumps(ORDERS),
    "b_spent.sql": f'-- What customers spent.\n-- ivm: key = ["customer"]\n{SPENT}',
    "a_best.sql": "SELECT customer FROM b_spent WHERE total > 10",
    "names.dl": "// ivm: lookups = false\n?- b_spent(Customer, Total), Total > 1.",
    "built.py": """
from views.builder import Database, Table, view

@view(key="customer")
def built(db: Database) -> Table:
    return db["a_best"].select("customer")
""",
    "_helper.py": "raise AssertionError('a helper is not run by itself')",
    "ivm.toml": "port = 1",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "definitions"
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.fixture
def service(client: TestClient) -> ServiceClient:
    service = ServiceClient("http://testserver")
    service._http = client
    return service


@pytest.fixture
def planned(folder: Path, service: ServiceClient) -> Callable[..., Plan]:
    """Plans the folder, as it is by then."""

    def made(*, prune: bool = False) -> Plan:
        return plan(read(folder), service, prune=prune)

    return made


@pytest.fixture
def applied(planned: Callable[..., Plan], service: ServiceClient) -> Callable[..., list[str]]:
    """Applies the folder: what was done."""

    def done(*, prune: bool = False) -> list[str]:
        return [
            f"{change.kind} {change.name}: {told}"
            for change, told in carry_out(planned(prune=prune), service)
        ]

    return done


Applied = Callable[..., list[str]]
Planned = Callable[..., Plan]


def told(found: Plan) -> list[tuple[str, str]]:
    return [(change.action, change.name) for change in found.changes]


def test_everything_is_made_in_the_order_in_which_it_is_read(
    planned: Planned, applied: Applied, client: TestClient
) -> None:
    found = planned()
    assert told(found)[:3] == [("create", "orders"), ("create", "b_spent"), ("create", "names")]
    assert sorted(told(found)[3:]) == [("create", "a_best"), ("create", "built")]
    assert found.summary() == "Plan: 5 to create, 0 to replace, 0 to drop; 0 unchanged."
    applied()
    made = {view["name"]: view for view in client.get("/v1/views").json()["views"]}
    assert made["b_spent"]["key"] == ["customer"]
    assert made["names"]["language"] == "datalog"
    assert made["names"]["lookups"] is False


def test_a_second_time_nothing_is_done(planned: Planned, applied: Applied) -> None:
    applied()
    assert told(planned()) == []
    assert planned(prune=True).summary() == (
        "Plan: 0 to create, 0 to replace, 0 to drop; 5 unchanged."
    )
    assert applied() == []


def test_another_definition_replaces_the_view_in_place(
    folder: Path, applied: Applied, planned: Planned, client: TestClient, runtime: Any
) -> None:
    applied()
    runtime.pipeline.deliver("orders", (order(1, "ada", "12.50"), 1), (order(2, "bob", "7"), 1))
    (folder / "b_spent.sql").write_text(SPENT.replace("sum", "2 * sum"))
    assert told(planned()) == [("replace", "b_spent")]
    assert applied() == ["view b_spent: replaced (2 rows in, 2 out)"]
    rows = client.get("/v1/views/built/rows", params={"scan": "true"}).json()["rows"]
    assert {row["customer"] for row in rows} == {"ada", "bob"}
    assert told(planned()) == []


def test_views_that_change_together_are_replaced_in_an_order_that_works(
    folder: Path, applied: Applied, planned: Planned
) -> None:
    applied()
    (folder / "b_spent.sql").write_text(
        "SELECT customer, count(*) AS orders FROM orders GROUP BY 1"
    )
    (folder / "a_best.sql").write_text("SELECT customer FROM orders WHERE amount > 10")
    (folder / "names.dl").unlink()
    assert sorted(told(planned(prune=True))) == [
        ("drop", "names"),
        ("replace", "a_best"),
        ("replace", "b_spent"),
    ]
    applied(prune=True)
    assert told(planned(prune=True)) == []


def test_what_the_folder_lacks_is_dropped_only_when_asked_for(
    folder: Path, applied: Applied, planned: Planned, client: TestClient
) -> None:
    applied()
    (folder / "built.py").unlink()
    (folder / "names.dl").unlink()
    assert told(planned()) == []
    applied(prune=True)
    names = {view["name"] for view in client.get("/v1/views").json()["views"]}
    assert names == {"b_spent", "a_best"}


def test_options_that_no_replacement_changes_make_a_view_anew(
    folder: Path, applied: Applied, planned: Planned, client: TestClient
) -> None:
    applied()
    (folder / "names.dl").write_text("?- b_spent(Customer, Total), Total > 1.")
    assert [(c.action, c.detail) for c in planned().changes] == [("recreate", "lookups")]
    applied()
    assert client.get("/v1/views/names").json()["lookups"] is True


def test_a_view_that_is_read_is_not_made_anew(
    folder: Path, applied: Applied, planned: Planned
) -> None:
    applied()
    for name in ("a_best.sql", "names.dl", "built.py"):
        (folder / name).unlink()
    text = (folder / "b_spent.sql").read_text()
    (folder / "b_spent.sql").write_text("-- ivm: lookups = false\n" + text)
    [change] = planned().changes
    assert change.action == "refuse"
    assert "read by" in change.detail


def test_a_source_that_is_declared_otherwise_is_refused(
    folder: Path, applied: Applied, planned: Planned
) -> None:
    applied()
    other = {**ORDERS, "topic": "others"}
    (folder / "sources/orders.json").write_text(json.dumps(other))
    [change] = planned().changes
    assert (change.action, change.name) == ("refuse", "orders")
    assert "delete it first" in change.detail


def test_a_source_gets_columns(folder: Path, applied: Applied, client: TestClient) -> None:
    applied()
    columns = [*client.get("/v1/sources/orders").json()["columns"], {"name": "n", "type": "text"}]
    (folder / "sources/orders.json").write_text(json.dumps({**ORDERS, "columns": columns}))
    assert applied() == ["source orders: altered"]
    assert applied() == []


def test_options_may_stand_beside_a_text(
    folder: Path, applied: Applied, client: TestClient
) -> None:
    (folder / "a_best.toml").write_text('key = ["customer"]\nlookups = true')
    applied()
    assert client.get("/v1/views/a_best").json()["key"] == ["customer"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a_best.sql", "-- ivm: keys = ['x']\nSELECT 1", "a_best.sql: keys"),
        ("a_best.sql", "-- ivm: key = [\nSELECT 1", "a_best.sql: "),
        ("a_best.sql", "SELECT customer FROM nowhere", "a_best.sql: no table or view 'nowhere'"),
        ("a_best.sql", "SELECT customer FROM a_best", "a_best.sql: no table or view 'a_best'"),
        ("a_best.sql", "SELECT nothing FROM b_spent", "a_best.sql: "),
        ("b-c.sql", "SELECT 1", "'b-c' is no name"),
        ("sources/orders.json", "{", "orders.json: "),
        ("sources/orders.json", "{}", "source 'orders': invalid-table: file topic 'orders'"),
        ("sources/b_spent.json", json.dumps(ORDERS), "'b_spent' is defined twice"),
        ("other.toml", "columns = 1", "other.toml: columns"),
        ("built.py", "x = 1", "built.py defines no view"),
    ],
)
def test_a_fault_names_its_file(
    folder: Path, planned: Planned, name: str, text: str, told: str
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(BadDefinition) as caught:
        planned()
    assert told in str(caught.value)


def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadDefinition, match="is no folder"):
        read(tmp_path / "nowhere")


def test_the_commands_show_the_plan_ask_and_carry_it_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: str, told: str = "") -> str:
        result = CliRunner().invoke(app, list(arguments), input=told)
        return f"{result.exit_code}: {result.output}"

    with served(make_runtime(tmp_path / "data")) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        assert "  + view a_best" in run("apply", str(folder), "--dry-run")
        assert "--yes or --dry-run" in run("apply", str(folder), "--json")
        assert run("apply", str(folder), told="n\n").startswith("1: ")
        assert "view built: created" in run("apply", str(folder), "--yes")
        again = run("apply", str(folder))
        assert "Plan: 0 to create, 0 to replace, 0 to drop; 5 unchanged." in again
        other = SPENT.replace("sum", "2 * sum")
        replacing = "view", "replace", "b_spent", other, "--key", "customer", "--json"
        former = version_in(run(*replacing))
        assert former in run("view", "replacement", "b_spent")
        assert run("view", "discard", "b_spent").startswith("0: ")
        assert "unknown-name" in run("view", "approve", "b_spent", former)
        version = version_in(run(*replacing))
        assert run("view", "approve", "b_spent", version).startswith("0: ")
        assert "  ~ view b_spent (query)" in run("apply", str(folder), "--dry-run")


def version_in(shown: str) -> str:
    found = re.search(r'"version": "(\w+)"', shown)
    assert found is not None
    return found[1]
