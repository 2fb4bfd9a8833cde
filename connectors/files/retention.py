"""Retention of a partition: which of its closed segments are older, or more, than is to be kept.

A segment is closed once another follows it. What is beyond retention is always a prefix, so that
the offsets that are held adjoin. With segments of 64, 64, 64 and (open) 10 MiB and room for 100
MiB, the first two are beyond it: without them 74 MiB are left.
"""

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Literal

from connectors.files.durable import sync_directory
from connectors.files.layout import bases, segment_path
from connectors.files.writer import SEGMENT_BYTES

Cleanup = Literal["compact", "delete"]


@dataclass(frozen=True, slots=True)
class Retention:
    """How long records are kept, and how many bytes of them (None: without a bound)."""

    seconds: float | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """How a topic is stored: in which segments, and what becomes of those beyond retention.

    With `compact` it can always be folded from its first record on, with `delete` it cannot.
    """

    retention: Retention
    cleanup: Cleanup = "compact"
    segment_bytes: int = SEGMENT_BYTES
    segment_seconds: float = inf


# All is kept.
KEPT = Storage(Retention())


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed segment: records `[base, end)` in `size` bytes, the last written at `written`."""

    path: Path
    base: int
    end: int
    size: int
    written: float


def closed_segments(directory: Path) -> list[Closed]:
    """The closed segments of a partition, in order (raises FileNotFoundError if one goes)."""
    found = bases(directory)
    segments = []
    for base, end in pairwise(found):
        path = segment_path(directory, base)
        told = path.stat()
        segments.append(Closed(path, base, end, told.st_size, told.st_mtime))
    return segments


def beyond(directory: Path, retention: Retention, upto: int) -> list[Closed]:
    """The closed segments beyond retention of which no record is at or after `upto`."""
    segments = closed_segments(directory)
    kept = sum(segment.size for segment in segments)
    if found := bases(directory):
        kept += segment_path(directory, found[-1]).stat().st_size
    oldest = 0.0 if retention.seconds is None else clock.time() - retention.seconds
    most = kept if retention.size is None else retention.size
    gone = []
    for segment in segments:
        if segment.end > upto or (segment.written >= oldest and kept <= most):
            break
        kept -= segment.size
        gone.append(segment)
    return gone


def remove(segments: Sequence[Closed]) -> None:
    """Delete segments, the first of a partition, oldest first."""
    for segment in segments:
        segment.path.unlink(missing_ok=True)
    if segments:
        sync_directory(segments[0].path.parent)
