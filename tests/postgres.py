"""A PostgreSQL server for tests: SQL's dialect here, and therefore its judge.

One server serves all processes of a test session. Each holds a shared lock while it uses the
server, so that the last one to leave stops it. Nothing of it outlives the session: its files are in
a temporary directory and its socket too, and no port is opened.
"""

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.types.string import TextLoader

Judge = Connection[tuple[object, ...]]

_SETTINGS = (
    "listen_addresses=''",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "timezone=UTC",
    "max_connections=30",
    "max_stack_depth=6MB",
)


class NoServer(RuntimeError):
    """The machine has no PostgreSQL server."""


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A connection to an empty database, in autocommit; `emptied` empties it again."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    try:
        with judging(shared) as connection:
            yield connection
    except NoServer as reason:
        pytest.skip(str(reason))


@contextmanager
def judging(shared: Path) -> Iterator[Judge]:
    """A connection to a new database of the server of `shared` (raises NoServer)."""
    with server(shared) as address, psycopg.connect(address, autocommit=True) as administrator:
        name = sql.Identifier(f"judge{os.getpid()}")
        administrator.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        administrator.execute(sql.SQL("CREATE DATABASE {}").format(name))
        with psycopg.connect(
            address,
            dbname=f"judge{os.getpid()}",
            autocommit=True,
            prepare_threshold=None,  # a plan kept for a text outlives the tables of the text
        ) as connection:
            for as_text in ("json", "jsonb", "interval"):
                connection.adapters.register_loader(as_text, TextLoader)
            yield connection


def emptied(judge: Judge) -> Judge:
    """The database without anything that was created in it."""
    judge.execute("DROP SCHEMA IF EXISTS public CASCADE")
    judge.execute("CREATE SCHEMA public")
    return judge


@contextmanager
def server(shared: Path) -> Iterator[str]:
    """How to connect to the server of all that name the directory `shared` (raises NoServer)."""
    noted = shared / "postgres.address"
    with (shared / "postgres.users").open("w") as users:
        with _alone(shared):
            if not noted.exists():
                noted.write_text(str(_start()))
            directory = Path(noted.read_text())
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield f"host={directory} user=postgres dbname=postgres"
        finally:
            with _alone(shared):
                fcntl.flock(users, fcntl.LOCK_UN)
                if _is_last(users):
                    noted.unlink()
                    _stop(directory)


@contextmanager
def _alone(shared: Path) -> Iterator[None]:
    with (shared / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_last(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start() -> Path:
    """Create a cluster in a new directory and serve it on a socket there."""
    directory = Path(tempfile.mkdtemp(prefix="postgres-"))
    if (owner := _owner()) is not None:
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    data = directory / "data"
    program, options = _binaries() / "initdb", ("--username=postgres", "--auth=trust", "--no-sync")
    _run(program, "--pgdata", data, *options, "--encoding=UTF8", "--locale=C.UTF-8")
    settings = " ".join(f"-c {s}" for s in (*_SETTINGS, f"unix_socket_directories={directory}"))
    _control(directory, "start", "--log", directory / "log", "--options", settings)
    return directory


def _stop(directory: Path) -> None:
    _control(directory, "stop", "--mode=fast")
    shutil.rmtree(directory)


def _control(directory: Path, *what: str | Path) -> None:
    _run(_binaries() / "pg_ctl", "--wait", "--silent", "--pgdata", directory / "data", *what)


def _run(*command: str | Path) -> None:
    """Run one of the server's programs, which refuse to be root."""
    owner = _owner()
    subprocess.run(
        command,
        cwd="/",
        check=True,
        stdout=subprocess.DEVNULL,
        user=None if owner is None else owner.pw_uid,
        group=None if owner is None else owner.pw_gid,
        extra_groups=None if owner is None else [],
    )


def _owner() -> pwd.struct_passwd | None:
    """Who the server runs as, unless as whoever runs the tests."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _binaries() -> Path:
    """Where the server's programs are: on the path, or where Debian has them."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(installed, key=lambda path: int(path.parts[-3]), default=None)
    if newest is None:
        raise NoServer("no PostgreSQL server (Debian's package is postgresql)")
    return newest.parent
