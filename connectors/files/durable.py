"""Appending to files so that a crash leaves whole records and at most one torn tail."""

import os
from collections.abc import Iterable
from pathlib import Path

# In the place of a file that is closed: no file has this number.
CLOSED = -1


def append(file: int, size: int, data: bytes, sync: bool = True) -> None:
    """Write `data` at the end `size` of `file`; on failure the file keeps `size` bytes.

    Without `sync` it is durable, as all before it, once something else of the file is synced.
    """
    try:
        write(file, data)
        if sync:
            os.fdatasync(file)
    except OSError:
        os.ftruncate(file, size)
        raise


def write(file: int, data: bytes) -> None:
    """Write all of `data` at the file's position."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def close(file: int) -> int:
    """Close `file` unless it is `CLOSED`, and return that, to be kept in its place.

    A number that is closed twice may be that of another file by then.

    >>> file = os.open("/dev/null", os.O_RDONLY)
    >>> file = close(file)
    >>> file = close(file)
    """
    if file != CLOSED:
        os.close(file)
    return CLOSED


def cut(file: int, size: int) -> None:
    """Shorten `file` to `size` bytes, durably."""
    os.ftruncate(file, size)
    os.fsync(file)


def sync_directory(path: Path) -> None:
    """Make the names in `path` durable."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def replace(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Let `path` hold `data`: a reader, or a crash, sees the former content or all of the new."""
    settle(stage(path, data, mode), path)


def stage(path: Path, data: bytes, mode: int = 0o644) -> Path:
    """A durable file with `data` beside `path`, for `settle`, which needs no room any more."""
    temporary = staged_for(path)
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        write(file, data)
        os.fsync(file)
    finally:
        os.close(file)
    return temporary


def stage_lines(path: Path, lines: Iterable[bytes]) -> Path:
    """The same of lines, which are written as they come."""
    temporary = staged_for(path)
    with temporary.open("wb") as file:
        file.writelines(line + b"\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    return temporary


def staged_for(path: Path) -> Path:
    """The file that `stage` makes for `path`."""
    return path.with_name(path.name + ".new")


def settle(staged: Path, path: Path) -> None:
    """Let `path` be the file that `stage` has made for it."""
    staged.replace(path)
    sync_directory(path.parent)
