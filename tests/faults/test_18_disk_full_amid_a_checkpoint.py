"""Row 18: no room for a checkpoint. The one before stands, and the service goes on and says so."""

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from api.services.definition import Definition
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.api.test_checkpoints import ORDERS, TOTALS, order, rows

Shortage = Callable[[Path], object]


@contextmanager
def files_bounded(directory: Path) -> Iterator[None]:
    """No file of this process may grow beyond 64 KiB."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def disk_full(directory: Path) -> Iterator[None]:
    """The disk of `directory` has no room left."""
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    try:
        yield
    finally:
        ballast.unlink()


def may_mount() -> bool:
    """Whether this process may mount a small disk."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"]).returncode == 0


@pytest.fixture
def checkpoints(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Where checkpoints are kept: on a disk of their own of 1 MiB, if one can be had."""
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    if not may_mount():
        yield directory
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", directory], check=True)
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


@pytest.fixture
def runtime(tmp_path: Path, checkpoints: Path) -> Runtime:
    """A service with one checkpoint, and more since."""
    runtime = runtime_on(tmp_path, checkpoints=str(checkpoints))
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    for start in (0, 10_000):
        write_rows(tmp_path, "orders", *((order(start + n), 1) for n in range(10_000)))
        pipeline_of(runtime).step(10_000)
        if start == 0:
            assert take_checkpoint(runtime)
    return runtime


@pytest.mark.parametrize("shortage", [files_bounded, *([disk_full] if may_mount() else [])])
def test_the_checkpoint_before_stands_and_the_service_goes_on(
    runtime: Runtime, checkpoints: Path, tmp_path: Path, shortage: Shortage
) -> None:
    before = {path.name: path.read_bytes() for path in checkpoints.iterdir()}
    expected = rows(runtime)
    with shortage(checkpoints):  # type: ignore[attr-defined]
        assert not take_checkpoint(runtime)
    assert {path.name: path.read_bytes() for path in checkpoints.iterdir()} == before
    assert runtime.readiness.fault() is None
    again = runtime_on(tmp_path, checkpoints=str(checkpoints))
    assert pipeline_of(again).replayed == 1
    assert rows(again) == expected
    assert take_checkpoint(again)


def test_a_failure_is_counted_and_shown_and_the_service_stays_ready(
    tmp_path: Path, checkpoints: Path
) -> None:
    runtime = make_runtime(tmp_path, checkpoints=str(checkpoints))
    with TestClient(create_app(runtime)) as client:
        runtime.sources.put(ORDERS)
        write_rows(tmp_path, "orders", *((order(n), 1) for n in range(10_000)))
        pipeline_of(runtime).step(10_000)
        with files_bounded(checkpoints):
            assert not take_checkpoint(runtime)
        assert "ivm_checkpoint_failures_total 1.0" in client.get("/metrics").text
        assert client.get("/readyz").status_code == 200
        assert take_checkpoint(runtime)
        assert "ivm_checkpoints_total 1.0" in client.get("/metrics").text
    assert runtime.checkpoints.counts.error is None
