"""A running service is backed up as of one moment, and restored into empty directories."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from api.app import create_app
from api.cli.main import app
from api.errors import BackupRefused, DataDirectoryNewer
from api.runtime import Runtime
from api.services import data_directory
from api.services.definition import Definition
from api.services.restore_backup import restore_backup
from api.settings import Settings
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.api.listening import served
from tests.unit.api.test_checkpoints import ORDERS, TOTALS, folded, order, rows

GUESTS = {"connector": "http", "columns": [{"name": "id", "type": "int64"}], "key": ["id"]}
SEGMENTS = {"delta_segment_bytes": 300, "delta_retention_bytes": 1}


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with a table, a view, a checkpoint and what came after it."""
    runtime = runtime_on(tmp_path / "data", **SEGMENTS)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    deliver(runtime, 1, 4)
    take_checkpoint(runtime)
    deliver(runtime, 4, 6)
    return runtime


def deliver(runtime: Runtime, first: int, end: int) -> None:
    for number in range(first, end):
        write_rows(runtime.settings.data, "orders", (order(number), 1))
        pipeline_of(runtime).step()


def archived(runtime: Runtime, file: Path) -> Path:
    file.write_bytes(b"".join(runtime.backups.take().archive()))
    return file


def restored(file: Path, data: Path) -> Runtime:
    restore_backup(file, Settings(data=data))
    return runtime_on(data, **SEGMENTS)


def test_what_comes_back_is_what_there_was(runtime: Runtime, tmp_path: Path) -> None:
    before, deltas = rows(runtime), folded(tmp_path / "data")
    again = restored(archived(runtime, tmp_path / "ivm.tar"), tmp_path / "again")
    assert rows(again) == before
    assert folded(tmp_path / "again") == deltas
    assert pipeline_of(again).replayed == 2, "its checkpoint came along"
    deliver(again, 6, 7)
    assert sum(row["orders"] for row in rows(again)) == 6


def test_what_comes_while_the_archive_is_written_is_not_in_it(
    runtime: Runtime, tmp_path: Path
) -> None:
    before, deltas = rows(runtime), folded(tmp_path / "data")
    archive = runtime.backups.take().archive()
    pieces = [next(archive)]
    deliver(runtime, 6, 30)
    runtime.cleaning.clean()
    take_checkpoint(runtime)
    runtime.views.drop("totals")
    file = tmp_path / "ivm.tar"
    file.write_bytes(b"".join([*pieces, *archive]))
    again = restored(file, tmp_path / "again")
    assert rows(again) == before
    assert folded(tmp_path / "again") == deltas
    assert not list((tmp_path / "data" / "work" / "backups").iterdir())


def test_a_topic_that_was_compacted_comes_back(runtime: Runtime, tmp_path: Path) -> None:
    deliver(runtime, 6, 30)
    runtime.cleaning.clean()
    rows_then = folded(tmp_path / "data")[0]
    restored(archived(runtime, tmp_path / "ivm.tar"), tmp_path / "again")
    assert folded(tmp_path / "again")[0] == rows_then


def test_rows_that_were_posted_come_back(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path / "data")
    with TestClient(create_app(runtime)) as client:
        runtime.readiness.wait()
        assert client.put("/v1/sources/guests", json=GUESTS).status_code == 201
        headers = {"idempotency-key": "first"}
        posted = client.post("/v1/sources/guests/rows", json=[{"id": 1}], headers=headers)
        assert posted.status_code in (200, 201), posted.text
        answer = client.get("/v1/backup")
        assert answer.headers["content-type"] == "application/x-tar"
    (tmp_path / "ivm.tar").write_bytes(answer.content)
    restore_backup(tmp_path / "ivm.tar", Settings(data=tmp_path / "again"))
    with TestClient(create_app(make_runtime(tmp_path / "again"))) as client:
        client.app.state.runtime.readiness.wait()  # type: ignore[attr-defined]
        again = client.post("/v1/sources/guests/rows", json=[{"id": 1}], headers=headers)
        assert again.json()["again"]


def test_a_backup_that_is_not_whole_leaves_nothing_that_starts(
    runtime: Runtime, tmp_path: Path
) -> None:
    whole = archived(runtime, tmp_path / "ivm.tar").read_bytes()
    half = tmp_path / "half.tar"
    for size in range(0, len(whole) - 3 * tarfile.BLOCKSIZE, len(whole) // 7):
        half.write_bytes(whole[:size])
        with pytest.raises(BackupRefused, match=r"half.tar is (no|not)"):
            restore_backup(half, Settings(data=tmp_path / "again"))
        assert not (tmp_path / "again" / "journal").exists()
    again = restored(tmp_path / "ivm.tar", tmp_path / "again")  # what was cut short is begun again
    assert rows(again) == rows(runtime)


def test_a_directory_with_a_state_is_left_alone(runtime: Runtime, tmp_path: Path) -> None:
    file = archived(runtime, tmp_path / "ivm.tar")
    with pytest.raises(BackupRefused, match=r"is not empty.*set `data` \(IVM_DATA\)"):
        restore_backup(file, Settings(data=tmp_path / "data"))


def made(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({}, "is no backup"),
        ({"other": b""}, "is no backup of `ivm backup`"),
        ({"backup.json": b'{"format": 2, "version": 1}'}, "has format 2; this ivm reads 1"),
        ({"backup.json": b'{"format": 1, "version": 1}', "data/../../x": b""}, "has an entry"),
        ({"backup.json": b'{"format": 1, "version": 1}', "/etc/x": b""}, "has an entry"),
    ],
)
def test_what_is_no_backup_is_refused(tmp_path: Path, entries: dict[str, bytes], told: str) -> None:
    (tmp_path / "x.tar").write_bytes(made(entries))
    with pytest.raises(BackupRefused, match=told):
        restore_backup(tmp_path / "x.tar", Settings(data=tmp_path / "data"))
    assert not (tmp_path / "x").exists()


def test_a_backup_of_a_newer_service_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(made({"backup.json": b'{"format": 1, "version": 99}'}))
    with pytest.raises(DataDirectoryNewer, match="has version 99, and this ivm knows"):
        restore_backup(tmp_path / "x.tar", Settings(data=tmp_path / "data"))


def test_a_new_directory_has_the_present_version(tmp_path: Path) -> None:
    make_runtime(tmp_path)
    assert data_directory.version_of(tmp_path) == data_directory.present()


def test_a_directory_without_a_version_goes_on(runtime: Runtime, tmp_path: Path) -> None:
    before = rows(runtime)
    (tmp_path / "data" / "version").unlink()
    assert rows(runtime_on(tmp_path / "data", **SEGMENTS)) == before
    assert data_directory.version_of(tmp_path / "data") == data_directory.present()


def test_an_older_directory_is_migrated_step_by_step_also_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_runtime(tmp_path)
    done: list[int] = []

    def step(number: int, fails: bool = False) -> Callable[[Path], Any]:
        def migrate(_: Path) -> None:
            done.append(number)
            if fails:
                raise OSError("the disk is full")

        return migrate

    (first,) = data_directory.MIGRATIONS
    monkeypatch.setattr(data_directory, "MIGRATIONS", (first, step(2), step(3, fails=True)))
    with pytest.raises(OSError, match="full"):
        data_directory.open_directory(tmp_path)
    assert (done, data_directory.version_of(tmp_path)) == ([2, 3], 2)
    monkeypatch.setattr(data_directory, "MIGRATIONS", (first, step(2), step(3)))
    data_directory.open_directory(tmp_path)
    assert (done, data_directory.version_of(tmp_path)) == ([2, 3, 3], 3)


def test_a_newer_directory_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    make_runtime(tmp_path).stop()
    (tmp_path / "version").write_text("7\n")
    with pytest.raises(DataDirectoryNewer, match="version 7, and this ivm knows"):
        make_runtime(tmp_path)
    assert (tmp_path / "version").read_text() == "7\n"
    (tmp_path / "version").write_text("new")
    with pytest.raises(DataDirectoryNewer, match="holds 'new', which is no version"):
        make_runtime(tmp_path)


def test_a_backup_is_taken_and_restored_from_the_command_line(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(runtime)
    runtime.stop()
    file = tmp_path / "ivm.tar"
    with served(make_runtime(tmp_path / "data", **SEGMENTS)) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        taken = CliRunner().invoke(app, ["backup", str(file), "--json"])
    assert (taken.exit_code, orjson.loads(taken.output)["bytes"]) == (0, file.stat().st_size)
    monkeypatch.setenv("IVM_DATA", str(tmp_path / "again"))
    told = CliRunner().invoke(app, ["restore", str(file)])
    assert "files restored" in told.output, told.output
    assert rows(runtime_on(tmp_path / "again", **SEGMENTS)) == before
    refused = CliRunner().invoke(app, ["restore", str(file)])
    assert refused.exit_code == 1
    gone = CliRunner().invoke(app, ["backup", str(tmp_path / "other.tar")])
    assert gone.exit_code == 3
    assert {path.name for path in tmp_path.iterdir()} == {"data", "again", "ivm.tar"}
