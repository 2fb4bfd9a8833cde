"""The benchmark of the service: its records, whoever asks and follows, and its page."""

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from api.models import SourceBody
from benchmarks.bounds import Machine
from benchmarks.comparison import Result
from benchmarks.service import bank
from benchmarks.service.feeds import Feeds
from benchmarks.service.page import draw, page
from connectors.decode import decode
from connectors.records import Decoded, Records
from tests.unit.api.conftest import make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.listening import served

ACCOUNTS = 50


def decoded(table: str, records: list[bytes]) -> Decoded:
    spec = SourceBody.model_validate(bank.declaration(table)).spec(table, "stall")
    return decode(Records(records, range(len(records)), 0), spec)


def test_each_account_has_a_customer() -> None:
    accounts = decoded(bank.ACCOUNTS, bank.opened(ACCOUNTS)).rows
    customers = decoded(bank.CUSTOMERS, bank.customers(ACCOUNTS)).rows
    assert accounts["id"].to_pylist() == list(range(ACCOUNTS))
    assert set(accounts["customer"].to_pylist()) == set(customers["id"].to_pylist())


def test_a_change_is_of_an_account_that_there_is() -> None:
    found = decoded(bank.ACCOUNTS, list(islice(bank.changes(ACCOUNTS, seed=1), 1_000)))
    assert found.rejected == ()
    assert set(found.rows["id"].to_pylist()) == set(range(ACCOUNTS))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[int, DirectPipeline]]:
    """The port of a service with the accounts and their view, and what delivers to it."""
    runtime = make_runtime(tmp_path)
    with served(runtime) as (host, port):
        url = f"http://{host}:{port}"
        declared = bank.declaration(bank.ACCOUNTS) | {"replica_identity": "full"}
        httpx.put(f"{url}/v1/sources/accounts", json=declared).raise_for_status()
        httpx.put(f"{url}/v1/views/balances", json={"query": bank.BALANCES}).raise_for_status()
        pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
        pipeline.deliver("accounts", *opened())
        yield port, pipeline


def opened() -> list[tuple[dict[str, Any], int]]:
    rows = decoded(bank.ACCOUNTS, bank.opened(ACCOUNTS)).rows
    return [(row, 1) for row in rows.to_pylist()]


def test_whoever_asks_says_how_long_each_look_up_took(
    service: tuple[int, DirectPipeline],
) -> None:
    command = [sys.executable, "-m", "benchmarks.service.asker", str(service[0]), "2", "1"]
    done = subprocess.run([*command, str(ACCOUNTS)], stdout=subprocess.PIPE, check=True)
    taken = json.loads(done.stdout)
    assert len(taken) > 1
    assert all(milliseconds > 0 for milliseconds in taken)


def test_a_look_up_that_fails_ends_whoever_asks(service: tuple[int, DirectPipeline]) -> None:
    httpx.delete(f"http://127.0.0.1:{service[0]}/v1/views/balances").raise_for_status()
    command = [sys.executable, "-m", "benchmarks.service.asker", str(service[0]), "2", "1"]
    done = subprocess.run([*command, str(ACCOUNTS)], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"a look-up failed" in done.stderr


def test_each_feed_counts_its_deltas(service: tuple[int, DirectPipeline]) -> None:
    port, pipeline = service
    with Feeds(port, "balances", 3) as feeds:
        while "\nivm_followers 3.0" not in httpx.get(f"http://127.0.0.1:{port}/metrics").text:
            pass
        pipeline.deliver("accounts", *((row, -1) for row, _ in opened()))
        assert feeds.counted(ACCOUNTS, 30) == [ACCOUNTS] * 3


def test_the_page_has_what_was_asked_beside_each_figure(tmp_path: Path) -> None:
    case = "look-ups on one core, idle"
    found = [Result("service", case, "tiny", 1, "1/s", 2500.0, None, None, None, 0)]
    chart = tmp_path / "service.svg"
    draw({"idle": [1.0, 2.0, 4.0]}, chart)
    text = page(found, Machine("a processor", 2, None, None, ()), 0.25, chart.name)
    assert f"| {case} | 2,500 1/s | 3,000/s |" in text
    assert "load average was 0.2 before" in text
    assert "idle" in chart.read_text()
