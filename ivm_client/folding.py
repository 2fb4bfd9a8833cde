"""Folding: the rows of a view, out of the deltas of its topic, feed or file."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ivm_client.feed import Batch

Row = Mapping[str, Any]


class Folded:
    """The rows of a view as of `time`, the last one of which all deltas have been taken.

    With `key`, columns that no two rows share, `rows` holds one row for each; without, each row is
    there as often as its deltas add up to.

    >>> folded = Folded(key=["customer"])
    >>> folded.take({"op": "+", "diff": 1, "time": 7, "row": {"customer": "ada", "total": 3}})
    >>> folded.take({"frontier": 7})
    >>> folded.time, folded.rows
    (7, [{'customer': 'ada', 'total': 3}])
    """

    def __init__(self, key: Sequence[str] | None = None) -> None:
        """No rows, as of no time."""
        self.time = -1
        self._key = key
        self._by_key: dict[tuple[Any, ...], Row] = {}
        self._counts: Counter[str] = Counter()
        self._pending: list[tuple[Row, int]] = []

    @property
    def rows(self) -> list[Row]:
        """The rows, in no order; a row of several copies as often."""
        if self._key is not None:
            return list(self._by_key.values())
        return [json.loads(row) for row, count in self._counts.items() for _ in range(count)]

    def take(self, delta: Mapping[str, Any]) -> None:
        """Take a line of a delta topic, which counts once its time is complete.

        Each partition of a topic of Kafka ends a time by itself: fold them apart, or take the times
        that all of them have.
        """
        if "frontier" in delta:
            for row, diff in self._pending:
                self._add(row, diff)
            self._pending.clear()
            self.time = delta["frontier"]
        elif "row" in delta:
            self._pending.append((delta["row"], delta["diff"]))

    def take_all(self, lines: Iterable[bytes | str]) -> None:
        """Take the lines, or the messages, of a delta topic in JSON."""
        for line in lines:
            self.take(json.loads(line))

    def take_batch(self, batch: Batch) -> None:
        """Take the changes of a feed up to a time."""
        for row, diff in batch:
            self._add(row, diff)
        self.time = batch.time

    def _add(self, row: Row, diff: int) -> None:
        if self._key is not None:
            # Within a time, what takes rows out comes before what adds rows.
            key = tuple(row[column] for column in self._key)
            if diff > 0:
                self._by_key[key] = row
            else:
                self._by_key.pop(key, None)
            return
        text = json.dumps(row, sort_keys=True, default=str)
        self._counts[text] += diff
        if not self._counts[text]:
            del self._counts[text]
