"""The page of the client: its programs run as they stand."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ivm_client import Client
from tests.unit.client.conftest import Listening

PAGE = (Path(__file__).parents[3] / "docs" / "client.md").read_text()
PROGRAMS = [p for p in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "spark" not in p]


@pytest.fixture
def busy(listening: Listening) -> Iterator[Listening]:
    """A service that reads what is written, and whose table gets rows all the time."""
    done = threading.Event()

    def work() -> None:
        number = 100
        with Client(listening.url) as client:
            while not done.wait(0.05):
                if client.views():
                    client.write("orders", [{"id": number, "customer": "eve", "amount": 1}])
                    number += 1
                listening.pipeline.step()

    working = threading.Thread(target=work)
    working.start()
    yield listening
    done.set()
    working.join()


def test_the_programs_run_one_after_the_other(
    busy: Listening, capsys: pytest.CaptureFixture[str]
) -> None:
    for program in PROGRAMS:
        names: dict[str, Any] = {}
        exec(program.replace("http://localhost:8080", busy.url), names)
    assert len(PROGRAMS) == 2
    assert "{'customer': 'ada', 'orders': 1, 'total': '7.50'}" in capsys.readouterr().out
