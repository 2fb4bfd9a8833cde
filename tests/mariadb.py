"""A MariaDB server of a test's own, whose log connectors read over a port of the loopback."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.demo.ports import free_ports
from tests.kafka.java import await_true
from tests.postgres import NoServer

_NOWHERE = subprocess.DEVNULL


@dataclass(frozen=True, slots=True)
class MariaDb:
    """A server at a port of 127.0.0.1; its files, and the socket for its administrator."""

    directory: Path
    port: int

    def execute(self, script: str, database: str = "") -> list[tuple[str | None, ...]]:
        """Run statements as the administrator: the rows of the last query, as texts."""
        command = ["mariadb", f"--socket={self.directory}/socket", "--user=root", "--batch"]
        command += ["--skip-column-names", "--default-character-set=utf8mb4"]
        found = subprocess.run(
            [*command, *([database] if database else [])],
            input=script,
            check=True,
            capture_output=True,
            text=True,
        )
        rows = [line.split("\t") for line in found.stdout.splitlines()]
        return [tuple(None if text == "NULL" else text for text in row) for row in rows]


@contextmanager
def serving() -> Iterator[MariaDb]:
    """A server that writes whole rows to its log, as docs/databases.md asks (raises NoServer)."""
    program, install = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if program is None or install is None or shutil.which("mariadb") is None:
        raise NoServer("no MariaDB server (Debian's package is mariadb-server)")
    (port,) = free_ports(1)
    directory = Path(tempfile.mkdtemp(prefix="mariadb-"))
    owner = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    if owner is not None:
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    who = [] if owner is None else [f"--user={owner.pw_name}"]
    options = ["--no-defaults", f"--datadir={directory}/data", *who]
    made = [install, *options, "--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run(made, check=True, stdout=_NOWHERE, stderr=_NOWHERE)
    settings = {
        "socket": f"{directory}/socket",
        "port": str(port),
        "bind-address": "127.0.0.1",
        "pid-file": f"{directory}/pid",
        "server-id": "1",
        "log-bin": "log",
        "binlog-format": "ROW",
        "binlog-row-image": "FULL",
        "innodb-flush-log-at-trx-commit": "0",
    }
    told = [f"--{name}={value}" for name, value in settings.items()]
    server = subprocess.Popen([program, *options, *told], stdout=_NOWHERE, stderr=_NOWHERE)
    database = MariaDb(directory, port)
    try:
        await_true("MariaDB", lambda: server.poll() is not None or _answers(database))
        yield database
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(directory)


def _answers(database: MariaDb) -> bool:
    try:
        return database.execute("SELECT 1") == [("1",)]
    except subprocess.CalledProcessError:
        return False
