"""The judge: DuckDB recomputes each view from the input topics; the delta topics are folded.

A view is verified if the fold of its delta topic, up to the last frontier record, equals DuckDB's
answer over the input records before that record's offsets, row for row, count for count.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import orjson

from api.demo.queries import DemoView
from api.demo.tables import TABLES
from connectors.files.reader import TopicReader

Row = tuple[Any, ...]

_TYPES = {"int64": "BIGINT", "int32": "INTEGER", "utf8": "VARCHAR", "date32": "INTEGER"}
_BLOCK = 50_000


@dataclass(frozen=True, slots=True)
class Folded:
    """A delta topic's sum: rows with their counts, as of the last frontier."""

    rows: Counter[Row]
    deltas: int
    offsets: Mapping[str, Mapping[str, int]]


def fold(topics: Path, view: str, columns: tuple[str, ...]) -> Folded:
    """Add up the delta topic of `view`; `columns` orders the values of a row."""
    reader = TopicReader(topics, f"deltas.{view}")
    rows: Counter[Row] = Counter()
    pending: list[tuple[Row, int]] = []
    offsets: Mapping[str, Mapping[str, int]] = {}
    deltas = position = 0
    while lines := reader.read(0, position, _BLOCK):
        position += len(lines)
        for line in lines:
            record = orjson.loads(line)
            if "frontier" not in record:
                pending.append((tuple(record["row"][c] for c in columns), record["diff"]))
                continue
            for row, diff in pending:
                rows[row] += diff
            deltas += len(pending)
            pending.clear()
            offsets = record["offsets"]
    return Folded(Counter({row: n for row, n in rows.items() if n}), deltas, offsets)


class Judge:
    """The input tables in DuckDB, as of given offsets."""

    def __init__(self, topics: Path, offsets: Mapping[str, Mapping[str, int]]) -> None:
        self._database = duckdb.connect()
        for table, (columns, _) in TABLES.items():
            self._load(topics, table, columns, offsets.get(table, {}))

    def _load(
        self,
        topics: Path,
        table: str,
        columns: tuple[tuple[str, str, bool], ...],
        ends: Mapping[str, int],
    ) -> None:
        """Make `table` of the envelopes before `ends`: what was added less what was taken away."""
        fields = ", ".join(f"{name} {_TYPES.get(t, 'DECIMAL(12, 2)')}" for name, t, _ in columns)
        names = ", ".join(name for name, _, _ in columns)
        files = [str(p) for p in sorted((topics / table / "0").glob("*.jsonl"))]
        self._database.execute(
            f"""
            CREATE TABLE {table} AS
            WITH records AS (
                SELECT * FROM read_json(
                    {files}, format = 'newline_delimited',
                    columns = {{before: 'STRUCT({fields})', after: 'STRUCT({fields})'}}
                ) LIMIT {ends.get("0", 0)}
            ), changes AS (
                SELECT unnest(after), 1 AS diff FROM records WHERE after IS NOT NULL
                UNION ALL
                SELECT unnest(before), -1 AS diff FROM records WHERE before IS NOT NULL
            )
            SELECT {names} FROM changes GROUP BY {names} HAVING sum(diff) > 0
            """
        )

    def answer(self, view: DemoView) -> tuple[tuple[str, ...], Counter[Row]]:
        """The view's column names and rows, values as JSON has them."""
        result = self._database.execute(view.query)
        columns = tuple(c[0] for c in result.description or ())
        return columns, Counter(tuple(map(_plain, row)) for row in result.fetchall())


def _plain(value: Any) -> Any:
    return format(value, "f") if isinstance(value, Decimal) else value
