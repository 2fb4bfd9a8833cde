"""Exercise the installed packages: modules, pool, command line, and the service over a file topic.

Run by `.ci/trial` in an empty environment; it uses what is installed there alone.
"""

import json
import os
import pkgutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa

import ivm
from ivm.dataflow.nodes import Distinct, Get, project
from ivm.pool import Pool

ROOMS = ("api", "connectors", "ivm", "ivm_client", "views")
SCRIPTS = {"api.__main__"}
START_SECONDS = 120
ORDERS = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in ("id", "amount")])
SOURCE = {
    "topic": "orders",
    "columns": [{"name": f.name, "type": "int64", "nullable": False} for f in ORDERS],
    "key": ["id"],
}
VIEW = {"query": "SELECT id, amount * 2 AS twice FROM orders", "key": ["id"]}


def main() -> None:
    """Do all of it; fails at the first fault."""
    import_every_module()
    feed_a_pool()
    subprocess.run(["ivm", "--help"], check=True, stdout=subprocess.DEVNULL)
    with service() as url:
        look_up_in_a_view(url)
    print("The wheel works.")


def import_every_module() -> None:
    """Import all that was installed; none of it may come from elsewhere."""
    home = Path(ivm.__file__).parents[1]
    for room in ROOMS:
        package = import_module(room)
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            if module.name not in SCRIPTS:
                found = Path(str(import_module(module.name).__file__))
                assert found.is_relative_to(home), f"{module.name} comes from {found}"


def feed_a_pool() -> None:
    """Two rows go into an input, and their distinct amount is looked up."""
    pool = Pool()
    pool.create_input("orders", ORDERS, ["id"])
    pool.install("amounts", Distinct(project(Get("orders", ORDERS), (1,))), ["amount"])
    rows = pa.RecordBatch.from_pylist([{"id": n, "amount": 5} for n in (1, 2)], schema=ORDERS)
    pool.feed("orders", rows, np.ones(2, np.int64), 0)
    pool.advance(1)
    assert pool.peek("amounts", {"amount": 5}).rows.to_pylist() == [{"amount": 5}]


@contextmanager
def service() -> Iterator[str]:
    """The address of a service that is ready, and is stopped afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(["ivm", "serve"], env=os.environ | {"IVM_PORT": str(port)})
    try:
        wait_for(f"{url}/readyz")
        yield url
    finally:
        process.terminate()
        process.wait()


def wait_for(address: str) -> None:
    """Wait until it answers well (raises TimeoutError)."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            if httpx.get(address).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise TimeoutError(address)


def look_up_in_a_view(url: str) -> None:
    """A record of a topic is in a view over it."""
    topic = Path("data/topics/orders/0")
    topic.mkdir(parents=True)
    record = {"op": "c", "before": None, "after": {"id": 1, "amount": 5}}
    (topic / f"{0:020}.jsonl").write_text(json.dumps(record) + "\n")
    httpx.put(f"{url}/v1/sources/orders", json=SOURCE, timeout=60).raise_for_status()
    httpx.put(f"{url}/v1/views/doubled", json=VIEW, timeout=60).raise_for_status()
    asked = {"id": "1", "at_least": "orders:0:0"}
    answer = httpx.get(f"{url}/v1/views/doubled/rows", params=asked, timeout=60).raise_for_status()
    assert answer.json()["rows"] == [{"id": 1, "twice": 10}], answer.text


if __name__ == "__main__":
    main()
