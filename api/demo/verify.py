"""Compares the views with DuckDB, which recomputes them from the input topics alone.

Two accounts of each view must equal DuckDB's: the sum of its delta topic, in which a delta lost or
published twice would show, and the rows that the service answers.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson

from api.demo.answers import answers
from api.demo.queries import SOURCES, DemoView
from ivm_client.service import ServiceClient

Row = tuple[str, ...]
_DUCKDB_TYPES = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "utf8": "VARCHAR",
    "decimal128(12, 2)": "DECIMAL(12, 2)",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one view; `faults` is empty if all three accounts are the same."""

    view: str
    rows: int
    deltas: int
    faults: tuple[str, ...]


class Judge:
    """DuckDB over the input topics, cut at the offsets that the service says it reflects."""

    def __init__(self, topics: Path, offsets: Mapping[str, Mapping[str, int]]) -> None:
        self._topics = topics
        self._database = duckdb.connect()
        for table, source in SOURCES.items():
            self._load(table, source, offsets.get(table, {}).get("0", 0))

    def _load(self, table: str, source: Mapping[str, Any], end: int) -> None:
        """The rows of a table after the records before offset `end`."""
        columns = {c["name"]: _DUCKDB_TYPES[c["type"]] for c in source["columns"]}
        row = "STRUCT(" + ", ".join(f'"{n}" {t}' for n, t in columns.items()) + ")"
        fields = f"{{op: 'VARCHAR', before: '{row}', after: '{row}', source: 'STRUCT(lsn BIGINT)'}}"
        key = ", ".join(f"coalesce(after.{k}, before.{k})" for k in source["key"])
        files = self._topics / table / "*" / "*.jsonl"
        self._database.execute(
            f"""
            CREATE TABLE {table} AS SELECT unnest(last.after) FROM (
                SELECT max_by({{op: op, after: after}}, source.lsn) AS last
                FROM read_ndjson('{files}', columns = {fields})
                WHERE source.lsn < {end} GROUP BY {key}
            ) WHERE last.op <> 'd'
            """
        )

    def rows(self, view: DemoView) -> Counter[Row]:
        """The view as DuckDB computes it."""
        return Counter(map(_texts, self._database.execute(view.judge).fetchall()))

    def verdict(self, view: DemoView, client: ServiceClient) -> Verdict:
        """Compare the delta topic and the service's answers with DuckDB's rows."""
        expected = self.rows(view)
        deltas, folded = _folded(self._topics / f"deltas.{view.name}")
        answered = Counter(_texts(row.values()) for row in answers(client, view.name))
        faults = [
            f"{account}: {len(found - expected)} rows too many, {len(expected - found)} missing"
            for account, found in (("delta topic", folded), ("answers", answered))
            if found != expected
        ]
        negative = sum(count < 0 for count in folded.values())
        if negative:
            faults.append(f"delta topic: {negative} rows deleted more often than inserted")
        return Verdict(view.name, expected.total(), deltas, tuple(faults))


def _folded(topic: Path) -> tuple[int, Counter[Row]]:
    """The number of deltas in a topic, and their sum."""
    rows: Counter[Row] = Counter()
    deltas = 0
    for segment in sorted(topic.glob("*/*.jsonl")):
        with segment.open("rb") as lines:
            for line in map(orjson.loads, lines):
                if "row" in line:
                    rows[_texts(line["row"].values())] += line["diff"]
                    deltas += 1
    return deltas, Counter({row: count for row, count in rows.items() if count})


def _texts(values: Any) -> Row:
    return tuple(map(str, values))
