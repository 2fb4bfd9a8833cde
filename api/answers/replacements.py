"""Answers about changes of definitions, as OpenAPI describes them, with an example of each."""

from typing import Any, Literal

import pyarrow as pa

from api.answers.base import Answer, Column, Hydrated, example
from api.answers.plans import Explanation
from api.answers.sources import DECLARED, Declared
from connectors.tables.spec import type_name
from views.catalog import Language

ReplacementStatus = Literal["hydrating", "ready", "failed", "outdated"]

_TOTAL = {"name": "total", "type": "decimal128(38, 2)", "nullable": True}


class ColumnChange(Answer):
    """A column whose type changes."""

    name: str
    former: str
    later: str


class SchemaChanges(Answer):
    """The columns that a replacement adds, drops and changes, and whether it changes the key."""

    added: list[Column]
    dropped: list[Column]
    changed: list[ColumnChange]
    key: bool

    @classmethod
    def between(cls, former: pa.Schema, later: pa.Schema, *, key: bool) -> "SchemaChanges":
        """The changes from the columns of one definition to those of another."""
        known = {field.name: field.type for field in former}
        there = {field.name for field in later}
        return cls(
            added=[c for c in Column.all_of(later) if c.name not in known],
            dropped=[c for c in Column.all_of(former) if c.name not in there],
            changed=[
                ColumnChange(
                    name=field.name,
                    former=type_name(known[field.name]),
                    later=type_name(field.type),
                )
                for field in later
                if field.name in known and known[field.name] != field.type
            ],
            key=key,
        )


class ViewDifference(Answer):
    """The numbers of rows that come into a view and go from it; copies count."""

    view: str
    rows_in: int
    rows_out: int


class Replacement(Answer):
    """Another definition of a view, which waits for its approval and publishes nothing.

    Once it is `ready`, `rows_in` and `rows_out` count the rows that would come and go at `time`,
    `sample_in` and `sample_out` show some of them, and `dependants` has the same of the views that
    read it. `version` is what an approval names. `reason` says why it has failed or is outdated.
    """

    model_config = example(
        view="totals",
        version="9f2c01aa",
        status="ready",
        reason=None,
        language="sql",
        query="SELECT customer, sum(amount) AS total FROM orders WHERE amount > 0 GROUP BY 1",
        key=["customer"],
        columns=[{"name": "customer", "type": "utf8", "nullable": False}, _TOTAL],
        reads=["orders"],
        schema_changes={"added": [], "dropped": [], "changed": [], "key": False},
        hydrated={"done": 1, "of": 1, "percent": 100},
        time=42,
        rows_in=1,
        rows_out=1,
        sample_in=[{"customer": "ada", "total": "12.50"}],
        sample_out=[{"customer": "ada", "total": "7.50"}],
        dependants=[],
    )

    view: str
    version: str
    status: ReplacementStatus
    reason: str | None = None
    language: Language
    query: str
    key: list[str]
    columns: list[Column]
    reads: list[str]
    schema_changes: SchemaChanges
    hydrated: Hydrated
    time: int | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    sample_in: list[dict[str, Any]] | None = None
    sample_out: list[dict[str, Any]] | None = None
    dependants: list[ViewDifference] | None = None


class Approved(Answer):
    """A replacement that has taken the view's place, from `time` on."""

    model_config = example(view="totals", time=43)

    view: str
    time: int


class WouldPut(Explanation):
    """The effect that putting a view would have, and the view: its columns, arrangements, plans."""

    model_config = example(
        would="create",
        columns=[{"name": "customer", "type": "utf8", "nullable": False}, _TOTAL],
        key=["customer"],
        reads=["orders"],
        arrangements={
            "reused": [],
            "created": [{"name": "totals[customer]", "rows": 2, "bytes": 128}],
            "rows": 2,
            "bytes": 128,
            "basis": "the rows that its inputs have now",
        },
        stages=[{"name": "plan", "text": "Aggregate"}],
    )

    would: Literal["create", "replace", "nothing"]


class WouldDeclare(Declared):
    """The effect that declaring a source would have, and the source as it would be."""

    model_config = example(would="create", **DECLARED)

    would: Literal["create", "alter", "nothing"]
