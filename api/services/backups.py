"""Backups: a consistent copy of the data directory while the service runs, as a tar archive.

The copy is as of one moment between two batches, at which no source or view changes: it is what a
kill at that moment would have left. Of files that are only appended to it has hard links, with the
bytes that they had; so the moment is short, and the archive is written after it.

The journal is the first that is copied, so all others have at least what it says that they have; a
start cuts off what goes beyond it, as after any crash.
"""

import os
import shutil
import tarfile
import time as clock
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from api.services import data_directory
from api.services.admission import Admission
from api.services.checkpoints import TableCheckpoints
from api.services.parts import Parts
from connectors.checkpoint.store import open_store
from connectors.files.requests import LOG

# The first entry of an archive, and the last: one without it is not whole.
FACTS, END = "backup.json", "complete"
FORMAT = 1
_CHUNK = 1 << 20


@dataclass(slots=True)
class Staged:
    """The contents of an archive: files by name, each with the bytes that count."""

    directory: Path
    files: list[tuple[str, Path, int]] = field(default_factory=list)

    def add(self, name: str, path: Path) -> None:
        """Hold a file as it is now, though bytes are appended to it or its name goes."""
        held = self.directory / str(len(self.files))
        try:
            os.link(path, held)
        except FileNotFoundError:
            return  # retention has removed it, and what it says is held by another
        except OSError:  # it stands on another filesystem
            shutil.copyfile(path, held)
        self.files.append((name, held, held.stat().st_size))

    def copied(self, name: str) -> Path:
        """A place for a copy of what is written to in place; `note` it once it stands there."""
        return self.directory / name.replace("/", "-")

    def note(self, name: str, path: Path) -> None:
        """Hold a copy."""
        self.files.append((name, path, path.stat().st_size))

    def archive(self) -> Iterator[bytes]:
        """The archive in pieces; afterwards nothing is held any more."""
        facts = {"format": FORMAT, "version": data_directory.present(), "taken": clock.time()}
        try:
            yield from _entry(FACTS, orjson.dumps(facts))
            for name, path, size in self.files:
                yield _header(name, size)
                yield from _content(path, size)
                yield bytes(-size % tarfile.BLOCKSIZE)
            yield from _entry(END, b"")
            yield bytes(2 * tarfile.BLOCKSIZE)
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


class Backups:
    """Takes backups of one running service, one at a time."""

    def __init__(self, parts: Parts, admission: Admission, checkpoints: TableCheckpoints) -> None:
        self._parts = parts
        self._admission = admission
        self._checkpoints = checkpoints
        self._root = parts.work / "backups"
        shutil.rmtree(self._root, ignore_errors=True)

    def take(self) -> Staged:
        """Hold all that there is at one moment (raises NotReady, OSError)."""
        directory = self._root / str(clock.monotonic_ns())
        directory.mkdir(parents=True)
        staged = Staged(directory)
        try:
            pauses = self._checkpoints.paused(), self._parts.sink.paused()
            with self._admission.change(), pauses[0], pauses[1]:
                self._add_checkpoints(staged)
                with self._parts.applier.lock:
                    self._add_state(staged)
                    self._add_topics(staged)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        return staged

    def _add_checkpoints(self, staged: Staged) -> None:
        store = open_store(self._parts.settings.checkpoints_place)
        for name in store.names():
            path = staged.copied(f"checkpoints/{name}")
            if (local := Path(store.place, name)).exists():
                staged.add(f"checkpoints/{name}", local)
            else:
                path.write_bytes(store.read(name))
                staged.note(f"checkpoints/{name}", path)

    def _add_state(self, staged: Staged) -> None:
        parts = self._parts
        copies = {"journal": parts.journal.copy, "quarantine.sqlite": parts.quarantine.copy}
        for name, copy in copies.items():
            path = staged.copied(name)
            copy(path)
            staged.note(f"data/{name}", path)
        data = parts.settings.data.resolve()
        for name in ("registry.json", "keys.json", data_directory.FILE):
            if (data / name).exists():
                path = staged.copied(name)
                shutil.copyfile(data / name, path)
                staged.note(f"data/{name}", path)

    def _add_topics(self, staged: Staged) -> None:
        topics = self._parts.topics
        # A log of requests before the records that it made: a start finishes what it says.
        found = sorted(topics.glob("*/*/*.jsonl*")) + sorted(topics.glob(f"*/{LOG}"))
        for path in reversed(found):
            staged.add(f"topics/{path.relative_to(topics)}", path)


def _entry(name: str, content: bytes) -> Iterator[bytes]:
    yield _header(name, len(content))
    yield content + bytes(-len(content) % tarfile.BLOCKSIZE)


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, int(clock.time()), 0o600
    return entry.tobuf(tarfile.PAX_FORMAT)


def _content(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while size:
            chunk = file.read(min(size, _CHUNK))
            if not chunk:
                raise OSError(f"{path} became shorter while it was backed up")
            size -= len(chunk)
            yield chunk
