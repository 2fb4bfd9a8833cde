"""A file topic whose records come in requests: each is written whole, and once, however often sent.

A request is durable as one line of a log beside the topic's partition, with its idempotency key and
its records, before the records are appended to the topic. A crash between the two is made up for
when the topic is opened again, so a request is in the topic whole or not at all. Once the log is
long, the topic is synced and the log keeps the latest keys alone.
"""

import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from connectors.errors import KeyReused
from connectors.files.durable import CLOSED, append, close, cut, replace, sync_directory
from connectors.files.lines import checked_line, read_checked
from connectors.files.retention import Retention, beyond, remove
from connectors.files.writer import SEGMENT_BYTES, TopicWriter

# The log of a topic's requests, in the topic's directory; no topic without it is the service's.
LOG = "requests.log"
LOG_BYTES = 16 << 20
# A segment of such a topic ends at this age, so that retention finds one to delete.
SEGMENT_SECONDS = 86_400.0
# Idempotency keys that are remembered.
KEYS = 100_000


@dataclass(frozen=True, slots=True)
class Written:
    """The records `[first, end)` of a request; `again` if it had been written before."""

    first: int
    end: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class _Request:
    first: int
    end: int
    digest: str


_PLACE = ("first", "end", "digest")


class WrittenTopic:
    """The only writer of a topic of one partition; safe to call from several threads."""

    def __init__(self, root: Path, topic: str, log_bytes: int = LOG_BYTES) -> None:
        """Open the topic, or make it, and finish a request that a crash has interrupted."""
        self.name = topic
        directory = root / topic
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / LOG
        self._log_bytes = log_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Request] = OrderedDict()
        self._topic = TopicWriter(root, topic, 0, SEGMENT_BYTES, SEGMENT_SECONDS)
        self._log = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        sync_directory(directory)
        self._size = self._recover()

    @property
    def end(self) -> int:
        """The offset that the next record gets."""
        return self._topic.end

    def write(self, records: Sequence[bytes], key: str | None = None) -> Written:
        """Write a request's records (JSON texts without newlines), unless `key` was written before.

        Durable on return. Raises KeyReused for a key that came with other records, and OSError,
        when nothing was written.
        """
        digest = blake2b(b"\n".join(records), digest_size=16).hexdigest()
        with self._lock:
            if key is not None and (known := self._known.get(key)) is not None:
                return _again(known, key, digest)
            request = _Request(self._topic.end, self._topic.end + len(records), digest)
            self._commit(request, key, records)
            self._topic.append(records)
            self._remember(key, request)
            if self._size >= self._log_bytes:
                self._compact()
            return Written(request.first, request.end)

    def clean(self, retention: Retention, upto: int) -> int:
        """Delete segments beyond retention of which all records are before `upto`; their bytes.

        The log forgets records first, since they would be written anew after a crash.
        """
        with self._lock:
            segments = beyond(self._topic.directory, retention, upto)
            if segments:
                self._compact()
                remove(segments)
            return sum(segment.size for segment in segments)

    def close(self) -> None:
        """Release the files, unless that is done; they need no recovery."""
        with self._lock:
            if self._log != CLOSED:
                self._compact()
                self._topic.close()
                self._log = close(self._log)

    def _commit(self, request: _Request, key: str | None, records: Sequence[bytes]) -> None:
        line = checked_line(_entry(request, key) | {"records": [r.decode() for r in records]})
        append(self._log, self._size, line)
        self._size += len(line)

    def _recover(self) -> int:
        """Read the log, write its records anew, and return the size of its whole lines.

        What was not synced when the machine stopped may have any content, so nothing of it is kept.
        """
        size, written = 0, False
        with self._path.open("rb") as log:
            for line in log:
                entry = read_checked(line)
                if entry is None:
                    break
                size += len(line)
                self._remember(entry["key"], _Request(*(entry[name] for name in _PLACE)))
                if "records" in entry:
                    if not written:
                        self._topic.truncate(entry["first"])
                    written = True
                    self._topic.append([record.encode() for record in entry["records"]])
        cut(self._log, size)
        self._topic.sync()
        return size

    def _remember(self, key: str | None, request: _Request) -> None:
        if key is not None:
            self._known[key] = request
            if len(self._known) > KEYS:
                self._known.popitem(last=False)

    def _compact(self) -> None:
        """Sync the topic, and keep the keys of the log alone."""
        self._topic.sync()
        data = b"".join(checked_line(_entry(r, key)) for key, r in self._known.items())
        replace(self._path, data)
        self._log = close(self._log)
        self._log = os.open(self._path, os.O_RDWR | os.O_APPEND)
        self._size = len(data)


def is_written(root: Path, topic: str) -> bool:
    """Whether a topic is one whose records come in requests."""
    return (root / topic / LOG).exists()


def delete(root: Path, topic: str) -> None:
    """Delete such a topic with its records; nothing if there is none."""
    directory = root / topic
    if not is_written(root, topic):
        return
    for entry in directory.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
    (directory / LOG).unlink()  # last, so that what a crash leaves is still known for ours
    directory.rmdir()
    sync_directory(root)


def _entry(request: _Request, key: str | None) -> dict[str, Any]:
    return {"key": key} | {name: getattr(request, name) for name in _PLACE}


def _again(known: _Request, key: str, digest: str) -> Written:
    if known.digest != digest:
        raise KeyReused(
            f"idempotency key {key!r} came with other rows before; send them under a key of their "
            "own"
        )
    return Written(known.first, known.end, again=True)
