"""What must hold of the committed messages of a view, whatever was done to the service.

Each (view, time, sequence) occurs once and without gaps; and at every time that a frontier record
completes, the fold of the deltas is what the view's function computes from the input records before
the offsets that the record names.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from confluent_kafka import Message

from tests.faults.load.shop import Past, Shop
from tests.faults.load.views import VIEWS, Rows


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was compared: frontiers, and the offsets that the last one names."""

    frontiers: int
    offsets: Mapping[str, Mapping[str, int]]
    rows: Rows


def judge(view: str, messages: Sequence[Message], shop: Shop) -> Verdict:
    """See that the criteria hold of all messages of the topic of `view`."""
    _expect_no_gaps(view, messages)
    changes, frontiers = _by_time(messages)
    past, fold, compared = Past(shop), Counter[tuple[Any, ...]](), 0
    offsets: Mapping[str, Mapping[str, int]] = {}
    times = sorted(changes)
    for time in sorted(frontiers):
        while times and times[0] <= time:
            for row, diff in changes[times.pop(0)]:
                fold[row] += diff
        offsets = frontiers[time]
        expected = VIEWS[view].rows(past.advance(offsets))
        found = Counter({row: count for row, count in fold.items() if count})
        assert found == expected, f"{view} at time {time}, offsets {offsets}"
        compared += 1
    assert not times, f"{view}: deltas of the times {times} without a frontier"
    return Verdict(compared, offsets, Counter({r: n for r, n in fold.items() if n}))


def _expect_no_gaps(view: str, messages: Sequence[Message]) -> None:
    sequences = []
    for message in messages:
        said: dict[str, Any] = dict(message.headers() or [])
        assert said["view"] == view.encode()
        sequences.append(int(said["sequence"]))
    assert sorted(sequences) == list(range(min(sequences), min(sequences) + len(sequences)))


def _by_time(
    messages: Sequence[Message],
) -> tuple[dict[int, list[tuple[tuple[Any, ...], int]]], dict[int, Any]]:
    changes: dict[int, list[tuple[tuple[Any, ...], int]]] = {}
    frontiers: dict[int, Any] = {}
    for message in messages:
        line = orjson.loads(message.value() or b"")
        if "frontier" in line:
            known = frontiers.setdefault(line["frontier"], line["offsets"])
            assert known == line["offsets"], "partitions disagree about a frontier"
        else:
            row = tuple(line["row"].values())
            changes.setdefault(line["time"], []).append((row, line["diff"]))
    return changes, frontiers
