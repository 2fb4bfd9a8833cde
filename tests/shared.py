"""One server for all processes of a test session.

Each process holds a shared lock while it uses the server, so that the first one to come starts it
and the last one to leave stops it; a note in the session's directory tells the others where it is.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest


def session_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that all workers of a test session have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextmanager
def shared_server(
    directory: Path, name: str, start: Callable[[], str], stop: Callable[[str], None]
) -> Iterator[str]:
    """The note that `start` returned, in whichever process of `directory` that was.

    `stop` gets the note, in whichever process leaves last.
    """
    noted = directory / f"{name}.note"
    with (directory / f"{name}.users").open("w") as users:
        with _alone(directory / f"{name}.lock"):
            if not noted.exists():
                noted.write_text(start())
            note = noted.read_text()
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield note
        finally:
            with _alone(directory / f"{name}.lock"):
                fcntl.flock(users, fcntl.LOCK_UN)
                if _is_last(users):
                    noted.unlink()
                    stop(note)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_last(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
