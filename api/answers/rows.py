"""Answers with rows, and about rows that could not be computed."""

from typing import Any

from api.answers.base import COLUMNS, Answer, Column, Ends, example


class Rows(Answer):
    """Rows as of one time, in the order of the view's key; `next` is the cursor of the next page.

    `time` is null before anything was completed. `errors` counts rows that could not be computed.
    The offsets of the input that the rows reflect are by topic and by source; `stalled` says why a
    source stands still there that the view reads.
    """

    model_config = example(
        time=42,
        rows=[{"customer": "ada", "total": "12.50"}],
        errors=0,
        offsets={"orders": {"0": 2}},
        sources={"orders": {"0": 2}},
    )

    time: int | None = None
    rows: list[dict[str, Any]]
    errors: int
    next: str | None = None
    offsets: Ends
    sources: Ends
    stalled: str | None = None


class Answered(Answer):
    """The first rows of a query as of one time, in its order; `more` says that there are others.

    The offsets of the input that the rows reflect are by topic and by source; `stalled` says why a
    source stands still there that the query reads.
    """

    model_config = example(
        time=42,
        columns=COLUMNS,
        rows=[{"customer": "ada", "total": "12.50"}],
        more=False,
        offsets={"orders": {"0": 2}},
        sources={"orders": {"0": 2}},
    )

    time: int
    columns: list[Column]
    rows: list[dict[str, Any]]
    more: bool
    offsets: Ends
    sources: Ends
    stalled: str | None = None


class RowError(Answer):
    """A message of rows of a view or keys of a source, and the number of those now."""

    view: str | None = None
    source: str | None = None
    error: str
    count: int


class RowErrors(Answer):
    """Rows that could not be computed, by view; keys that do not add up, by source."""

    model_config = example(errors=[{"view": "ratios", "error": "division by zero", "count": 1}])

    errors: list[RowError]
