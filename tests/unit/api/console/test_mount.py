"""The console costs nothing where it is off, and no start waits for it."""

import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from tests.unit.api.filed import make_runtime

ROOT = Path(__file__).parents[4]


def test_the_root_leads_to_the_console(tmp_path: Path) -> None:
    client = TestClient(create_app(make_runtime(tmp_path)), follow_redirects=False)
    answer = client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/console/")


@pytest.mark.parametrize("path", ["/", "/console/"])
def test_a_service_without_a_console_has_no_route_to_it(tmp_path: Path, path: str) -> None:
    client = TestClient(create_app(make_runtime(tmp_path, console=False)))
    answer = client.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_an_unknown_path_is_a_problem_document_beside_a_console(tmp_path: Path) -> None:
    answer = TestClient(create_app(make_runtime(tmp_path))).get("/v1/nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_nothing_of_nicegui_is_loaded_with_the_service() -> None:
    program = "import sys, api.serve; print('nicegui' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


def test_the_pages_are_loaded_once_the_service_is_ready(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from api.app import create_app
from tests.kafka.java import await_true
from tests.unit.api.filed import make_runtime
with TestClient(create_app(make_runtime(Path(sys.argv[1])))):
    await_true("loaded", lambda: "api.console.pages" in sys.modules)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
