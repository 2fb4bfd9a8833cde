"""A PostgreSQL table as Debezium captures it, and a service over its topic, judged at every time.

The table has REPLICA IDENTITY DEFAULT: before images have the key only, or are missing. `Captured`
writes the records of its changes, remembers the table after each, and lets the service read them
in pieces, with restarts between. `judge` folds the delta topic of a view that copies the table:
at every frontier it must be the table as of the offset that the frontier tells.
"""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pyarrow as pa

from api.runtime import Runtime
from api.services.definition import Definition
from connectors.files.writer import TopicWriter
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint

UNAVAILABLE = "__debezium_unavailable_value"
FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("part", pa.string(), nullable=False),
    pa.field("amount", pa.decimal128(12, 2), nullable=False),
    pa.field("note", pa.string()),
]
PEOPLE = TableSpec("people", "people", pa.schema(FIELDS), ("id", "part"), on_error="quarantine")
EVERYTHING = "SELECT id, part, amount, note FROM people"
BY_PART = "SELECT part, count(*) AS people, sum(amount) AS total FROM people GROUP BY part"

Row = dict[str, Any]
Key = tuple[int, str]


class Captured:
    """The table, its topic, and the service."""

    def __init__(self, data: Path, random: Random) -> None:
        self.random = random
        self.rows: dict[Key, Row] = {}
        self.states: list[dict[Key, Row]] = [{}]
        self.sent: list[dict[str, Any] | None] = []
        self._data = data
        self._position = 100
        self._writer = TopicWriter(data / "topics", "people")
        self.runtime = runtime_on(data)
        self.runtime.sources.put(PEOPLE)
        self.runtime.views.put(Definition("copied", EVERYTHING, key=["id", "part"]))
        self.runtime.views.put(Definition("by_part", BY_PART))

    # --- the database and its connector ---

    def set(self, op: str, key: Key, *, before: bool = True, keep_note: bool = False) -> None:
        """Insert, update or read a row; with `keep_note` its note is not in the record."""
        known = self.rows.get(key)
        note = self.random.choice([None, "", "b", "a note of many bytes", "x" * 300])
        row = self.row(key, note)
        shown = row
        if keep_note:
            shown = {**row, "note": UNAVAILABLE}
            row = {**row, "note": known["note"] if known is not None else None}
        if known is not None or not keep_note:
            self.rows[key] = row
        image = self._key_only(key) if before and op == "u" else None
        self.send({"op": op, "before": image, "after": shown})

    def delete(self, key: Key) -> None:
        """Delete a row, and say so twice, as Debezium does."""
        self.rows.pop(key, None)
        self.send({"op": "d", "before": self._key_only(key), "after": None})
        self.send(None)

    def move(self, key: Key, new: Key) -> None:
        """Change a row's key: a delete, a tombstone and a create."""
        row = self.rows[key]
        self.delete(key)
        self.rows[new] = {**row, "id": new[0], "part": new[1]}
        self.send({"op": "c", "before": None, "after": self.rows[new]})

    def truncate(self) -> None:
        """Empty the table."""
        self.rows = {}
        self.send({"op": "t", "before": None, "after": None})

    def send(self, envelope: dict[str, Any] | None, *, again: bool = False) -> None:
        """Append a record; unless it is one `again`, it has a later position than all before."""
        if envelope is not None and not again:
            self._position += self.random.choice([0, 1, 7])
            sequence = [str(self._position // 10), str(self._position)]
            source = {"connector": "postgresql", "sequence": orjson.dumps(sequence).decode()}
            envelope = {**envelope, "source": source, "ts_ms": 1_700_000_000_000}
        self.sent.append(envelope)
        self._writer.append([orjson.dumps(envelope)])
        self.states.append(dict(self.rows))

    def row(self, key: Key, note: str | None) -> Row:
        """A row with this key, and an amount at random."""
        amount = f"{self.random.randrange(-9999, 9999) / 100:.2f}"
        return {"id": key[0], "part": key[1], "amount": amount, "note": note}

    def present(self) -> Key:
        """A key that has a row."""
        return self.random.choice(sorted(self.rows))

    def absent(self) -> Key:
        """A key that has none."""
        parts = ["", "b", "seven b", "a part of many bytes"]
        while (key := (self.random.randrange(40), self.random.choice(parts))) in self.rows:
            pass
        return key

    def _key_only(self, key: Key) -> Row:
        return {"id": key[0], "part": key[1], "amount": "0.00", "note": None}

    # --- the service ---

    def read(self) -> None:
        """Let the service read a piece of what is there, of any size."""
        self._writer.sync()
        pipeline_of(self.runtime).step(self.random.choice([1, 2, 7, 1000]))

    def catch_up(self) -> None:
        """Let it read all."""
        while self.reached() < len(self.sent):
            self.read()

    def reached(self) -> int:
        return pipeline_of(self.runtime).delivery.reached().get(("people", 0), 0)

    def restart(self) -> None:
        """Start the service again, from a checkpoint or the journal alone, after a crash."""
        if self.random.random() < 0.5:
            take_checkpoint(self.runtime)
        self.runtime = runtime_on(self._data)
        assert self.runtime.readiness.fault() is None

    def judge(self) -> None:
        """Raise AssertionError unless all that was published and is looked up is right."""
        assert _rows(self.runtime, "copied") == _copied(self.rows.values())
        assert _rows(self.runtime, "by_part") == _by_part(self.rows.values())
        for view, expected in (("copied", _copied), ("by_part", _by_part)):
            self._judge_topic(view, expected)

    def _judge_topic(self, view: str, expected: Any) -> None:
        folded: Counter[str] = Counter()
        frontiers = []
        for line in self._published(view):
            if "frontier" not in line:
                folded[_shown(line["row"])] += line["diff"]
                continue
            frontiers.append(line["frontier"])
            offset = line["offsets"].get("people", {}).get("0", 0)
            assert min(folded.values(), default=0) >= 0
            assert +folded == expected(self.states[offset].values()), offset
        assert frontiers == sorted(set(frontiers))

    def _published(self, view: str) -> list[dict[str, Any]]:
        topic = self._data / "topics" / f"deltas.{view}" / "0"
        return [
            orjson.loads(line)
            for segment in sorted(topic.iterdir())
            for line in segment.read_bytes().splitlines()
        ]


def _shown(row: Row) -> str:
    return repr({name: str(row[name]) for name in sorted(row)})


def _copied(rows: Any) -> Counter[str]:
    return Counter(_shown(row) for row in rows)


def _by_part(rows: Any) -> Counter[str]:
    parts: dict[str, list[int]] = {}
    for row in rows:
        parts.setdefault(row["part"], []).append(round(float(row["amount"]) * 100))
    return Counter(
        _shown({"part": part, "people": len(found), "total": _decimal(sum(found))})
        for part, found in parts.items()
    )


def _decimal(cents: int) -> str:
    sign, cents = ("-" if cents < 0 else ""), abs(cents)
    return f"{sign}{cents // 100}.{cents % 100:02d}"


def _rows(runtime: Runtime, view: str) -> Counter[str]:
    found = runtime.pool.scan(view)
    assert found.errors == 0
    counts: Counter[str] = Counter()
    for row, count in zip(found.rows.to_pylist(), found.counts.tolist(), strict=True):
        counts[_shown(row)] += count
    return counts
