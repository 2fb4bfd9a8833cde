"""Compaction of a delta topic: segments become one that holds the rows they add up to.

For a topic of deltas d with frontiers, the segments up to a time T are replaced by

    snapshot(T) = { (row, n) : n = sum of diff over d with time <= T, n != 0 }

as one `+` for each row, all at T, and the frontier of T with the mark `"snapshot": true`. A reader
that folds the topic from its first record on gets the same rows as before, at every frontier from T
on. There are no more rows than there were deltas: the snapshot takes the last offsets of those that
it replaces, and no later record gets another offset. 1,000 deltas and frontiers at offsets 0 to 999
that leave 10 rows become 11 records at offsets 989 to 999.

It is done when the segments after the first have as many bytes as it has, which is the snapshot
before: each byte is written about twice, and a topic is at most about twice its view, and what
retention keeps. Rows are kept as texts while they are added up.

A crash leaves either all former segments or the new one: the snapshot stands under a name of its
own, whole, before the first segment is deleted, and `finish` does the rest.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import orjson

from connectors.files.durable import settle, stage_lines, sync_directory
from connectors.files.layout import bases, segment_path
from connectors.files.retention import Closed
from connectors.files.writer import last_line

# What a snapshot is called until the segments that it replaces are gone.
SUFFIX = ".compacted"
_TIME = b',"time":'


def is_worthwhile(segments: Sequence[Closed]) -> bool:
    """Whether compaction would read no more than twice what has come since the last one."""
    rest = sum(segment.size for segment in segments[1:])
    return len(segments) > 1 and rest >= segments[0].size


def is_whole(first: Closed) -> bool:
    """Whether a topic can be folded from this segment on: it is the first ever, or a snapshot."""
    if first.base == 0:
        return True
    line = last_line(first.path)
    return line is not None and bool(orjson.loads(line).get("snapshot"))


def write_snapshot(segments: Sequence[Closed]) -> Path | None:
    """Write the snapshot that replaces these segments beside them, durably; nothing is deleted.

    None where it would not be smaller, or where the last record is no frontier.
    """
    end = segments[-1].end
    rows, frontier = fold(line for segment in segments for line in _lines(segment.path))
    if not frontier or len(rows) + 1 >= end - segments[0].base:
        return None
    path = segment_path(segments[0].path.parent, end - len(rows) - 1)
    compacted = path.with_name(path.name + SUFFIX)
    staged = stage_lines(compacted, _snapshot(rows, frontier))
    os.utime(staged, (segments[-1].written, segments[-1].written))
    settle(staged, compacted)
    return compacted


def finish(directory: Path) -> None:
    """Let a snapshot that stands whole take the place of its segments; remove what is not whole."""
    for half in directory.glob("*.new"):
        half.unlink()
    for compacted in directory.glob(f"*{SUFFIX}"):
        path = compacted.with_name(compacted.name.removesuffix(SUFFIX))
        end = int(path.stem) + sum(1 for _ in _lines(compacted))
        for base in bases(directory):
            if base < end:
                segment_path(directory, base).unlink()
        sync_directory(directory)
        settle(compacted, path)


def fold(lines: Iterable[bytes]) -> tuple[Counter[bytes], bytes]:
    """What deltas add up to, by the text of a row or an error; and the frontier that ends them.

    >>> deltas = [b'{"op":"+","diff":2,"time":7,"row":{"id":1}}', b'{"frontier":7}']
    >>> fold(deltas)
    (Counter({b'"row":{"id":1}}': 2}), b'{"frontier":7}')
    """
    rows: Counter[bytes] = Counter()
    frontier = b""
    for line in lines:
        head, is_delta, rest = line.partition(_TIME)
        if line.startswith(b'{"frontier"') or not is_delta:
            frontier = line
            continue
        frontier = b""
        text = rest.partition(b",")[2]
        count = rows[text] + int(head.rpartition(b":")[2])
        if count:
            rows[text] = count
        else:
            del rows[text]
    return rows, frontier


def _snapshot(rows: Counter[bytes], frontier: bytes) -> Iterator[bytes]:
    """The lines of a snapshot; what is there less than never, by an error, comes first."""
    told = orjson.loads(frontier)
    time = b"%d" % told["frontier"]
    for text, count in sorted(rows.items(), key=lambda row: row[1] > 0):
        op = b"+" if count > 0 else b"-"
        yield b'{"op":"%b","diff":%d%b%b,%b' % (op, count, _TIME, time, text)
    yield orjson.dumps({**told, "snapshot": True})


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            yield line[:-1]
