"""A PostgreSQL server for tests: SQL's dialect here, and therefore its judge.

One server serves all processes of a test session, and nothing of it outlives the session: its files
are in a temporary directory and its socket too, and no port is opened. A publisher is a server of a
test's own, from which changes can be captured over a port of the loopback.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.types.string import TextLoader

from api.demo.ports import free_ports
from tests.shared import session_directory, shared_server

Judge = Connection[tuple[object, ...]]

# Connectors that may read one server at the same time, each through a slot of its own.
_CONNECTORS = 50
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
    try:
        with judging(session_directory(tmp_path_factory)) as connection:
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
            for as_text in ("json", "jsonb", "interval", "record"):
                connection.adapters.register_loader(as_text, TextLoader)
            yield connection


@dataclass(frozen=True, slots=True)
class Publisher:
    """A server whose write-ahead log can be decoded; its user needs no password."""

    host: str
    port: int
    user: str
    database: str

    def connect(self) -> Judge:
        """A connection, in autocommit."""
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            dbname=self.database,
            autocommit=True,
            prepare_threshold=None,
        )


@contextmanager
def publishing() -> Iterator[Publisher]:
    """A server of its own that replicates logically (raises NoServer)."""
    (port,) = free_ports(1)
    settings = (
        f"port={port}",
        "listen_addresses=127.0.0.1",
        "wal_level=logical",
        f"max_replication_slots={_CONNECTORS}",
        f"max_wal_senders={_CONNECTORS}",
    )
    note = _start(settings)
    try:
        yield Publisher("127.0.0.1", port, "postgres", "postgres")
    finally:
        _stop(note, "immediate")


def emptied(judge: Judge) -> Judge:
    """The database without anything that was created in it."""
    judge.execute("DROP SCHEMA IF EXISTS public CASCADE")
    judge.execute("CREATE SCHEMA public")
    return judge


@contextmanager
def server(shared: Path) -> Iterator[str]:
    """How to connect to the server of all that name the directory `shared` (raises NoServer)."""
    with shared_server(shared, "postgres", _start, _stop) as directory:
        yield f"host={directory} user=postgres dbname=postgres"


def _start(more: tuple[str, ...] = ()) -> str:
    """Create a cluster in a new directory and serve it on a socket there."""
    directory = Path(tempfile.mkdtemp(prefix="postgres-"))
    if (owner := _owner()) is not None:
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    data = directory / "data"
    program, options = _binaries() / "initdb", ("--username=postgres", "--auth=trust", "--no-sync")
    _run(program, "--pgdata", data, *options, "--encoding=UTF8", "--locale=C.UTF-8")
    settings = " ".join(
        f"-c {s}" for s in (*_SETTINGS, *more, f"unix_socket_directories={directory}")
    )
    _control(directory, "start", "--log", directory / "log", "--options", settings)
    return str(directory)


def _stop(note: str, mode: str = "fast") -> None:
    directory = Path(note)
    _control(directory, "stop", f"--mode={mode}")
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
