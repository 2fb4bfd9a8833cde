"""Stores of checkpoints: a flat directory, on a local disk or on any filesystem of Arrow's.

Of what stands in it only what was published can be trusted: `publish` puts a file there whole or
not at all, after any crash, and durably so every file that was created before.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from connectors.errors import InvalidStore
from connectors.files.durable import replace, write

# A file goes to the disk in pieces of this many bytes: one large flush would hold up what others
# sync meanwhile.
SYNC_BYTES = 4 << 20


class Sink(Protocol):
    """A file that is being written."""

    def write(self, data: bytes, /) -> int: ...


class Store(Protocol):
    """The files of one directory; methods raise OSError where the place fails."""

    @property
    def place(self) -> str:
        """The directory as messages name it, without credentials."""

    def names(self) -> list[str]:
        """The files that are there."""

    def create(self, name: str) -> AbstractContextManager[Sink]:
        """Write a file anew; of one that is not finished nothing stays."""

    def publish(self, name: str, data: bytes) -> None:
        """Let `name` hold `data`."""

    def read(self, name: str) -> pa.Buffer:
        """The content of a file."""

    def remove(self, name: str) -> None:
        """Delete a file."""


def open_store(setting: str) -> Store:
    """The store at a path, or at a URI that Arrow knows (raises InvalidStore)."""
    parts = urlsplit(setting)
    place = f"{parts.scheme}://{parts.hostname or ''}{parts.path}" if parts.scheme else setting
    try:
        return _opened(setting, place)
    except (pa.ArrowException, ImportError, ValueError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise InvalidStore(
            f"checkpoints, which is {place}, cannot be used ({reason or type(error).__name__}); "
            "give a directory that can be written to, or a URI of Arrow's such as file:///path, "
            "s3://bucket/path or fsspec+memory:///path"
        ) from error


def _opened(setting: str, place: str) -> Store:
    if "://" not in setting:
        return LocalStore(Path(setting))
    filesystem, path = fs.FileSystem.from_uri(setting)
    if isinstance(filesystem, fs.LocalFileSystem):
        return LocalStore(Path(path))
    return ArrowStore(filesystem, path, place)


class LocalStore:
    """A directory of this machine, which is made if it is missing."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self.place = str(directory)

    def names(self) -> list[str]:
        return [path.name for path in self._directory.iterdir()]

    @contextmanager
    def create(self, name: str) -> Iterator[Sink]:
        path = self._directory / name
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            yield _SyncedFile(file)
            os.fsync(file)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            os.close(file)

    def publish(self, name: str, data: bytes) -> None:
        replace(self._directory / name, data)

    def read(self, name: str) -> pa.Buffer:
        with pa.memory_map(str(self._directory / name)) as file:
            return file.read_buffer()

    def remove(self, name: str) -> None:
        (self._directory / name).unlink()


class _SyncedFile:
    def __init__(self, file: int) -> None:
        self._file = file
        self._unsynced = 0

    def write(self, data: bytes, /) -> int:
        write(self._file, data)
        self._unsynced += len(data)
        if self._unsynced >= SYNC_BYTES:
            os.fdatasync(self._file)
            self._unsynced = 0
        return len(data)


class ArrowStore:
    """A directory of one of Arrow's filesystems, where a closed file is durable.

    Object stores put a file there whole when it is closed; elsewhere a crash may leave a part of
    it, which its checksum tells.
    """

    def __init__(self, filesystem: fs.FileSystem, path: str, place: str) -> None:
        filesystem.create_dir(path, recursive=True)
        self._filesystem = filesystem
        self._path = path.rstrip("/")
        self.place = place

    def names(self) -> list[str]:
        found = self._filesystem.get_file_info(fs.FileSelector(self._path))
        return [info.base_name for info in found if info.type == fs.FileType.File]

    @contextmanager
    def create(self, name: str) -> Iterator[Sink]:
        path = f"{self._path}/{name}"
        try:
            with self._filesystem.open_output_stream(path, compression=None) as file:
                yield cast(Sink, file)
        except BaseException:
            with suppress(OSError):
                self._filesystem.delete_file(path)
            raise

    def publish(self, name: str, data: bytes) -> None:
        with self.create(name) as file:
            file.write(data)

    def read(self, name: str) -> pa.Buffer:
        with self._filesystem.open_input_file(f"{self._path}/{name}") as file:
            return file.read_buffer()

    def remove(self, name: str) -> None:
        self._filesystem.delete_file(f"{self._path}/{name}")
