"""The layout of a file topic: `<root>/<topic>/<partition>/<base offset, 20 digits>.jsonl`.

A segment is append-only JSON lines, one record per line; the offset of a record is the segment's
base plus its line number. A line counts only once its newline is there. A segment ends where the
next begins.
"""

import re
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".jsonl"
# The names that the functions below make; no others are read, so nothing is found under one name
# and then opened under another.
_PARTITION = re.compile(r"0|[1-9][0-9]{0,17}")
_SEGMENT = re.compile(r"[0-9]{20}" + re.escape(SUFFIX))


def partition_directory(root: Path, topic: str, partition: int) -> Path:
    """The directory of one partition's segments."""
    return root / topic / str(partition)


def partitions(root: Path, topic: str) -> list[int]:
    """The partitions that `topic` has, ascending (none if there is no such topic)."""
    return named_partitions(_names(root / topic))


def named_partitions(names: Iterable[str]) -> list[int]:
    """The partitions that the names in a topic's directory stand for, ascending."""
    return sorted(int(name) for name in names if _PARTITION.fullmatch(name))


def segment_path(directory: Path, base: int) -> Path:
    """The file of the segment that begins at offset `base`."""
    return directory / f"{base:020d}{SUFFIX}"


def bases(directory: Path) -> list[int]:
    """The base offsets of the segments in `directory`, ascending (none if it is missing)."""
    return named_bases(_names(directory))


def named_bases(names: Iterable[str]) -> list[int]:
    """The base offsets that the names in a partition's directory stand for, ascending."""
    return sorted(int(name[: -len(SUFFIX)]) for name in names if _SEGMENT.fullmatch(name))


def _names(directory: Path) -> list[str]:
    try:
        return [entry.name for entry in directory.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
