"""Answers about views, their sinks and topics."""

from typing import Literal

from api.answers.base import COLUMNS, Answer, Column, Hydrated, example
from connectors.sinks.target import OutputEnvelope, OutputFormat
from views.catalog import Language

INFO = {"name": "orders[id]", "records": 2, "bytes": 4096}

_VIEW = {
    "name": "revenue",
    "language": "sql",
    "query": "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer",
    "key": ["customer"],
    "lookups": True,
    "columns": COLUMNS,
    "reads": ["orders"],
    "status": "running",
    "reason": None,
    "stalled": None,
    "errors": 0,
    "deltas": {"topic": "revenue.deltas", "end": 3},
}

ViewStatus = Literal["planned", "hydrating", "replaying", "running", "stalled", "failed"]


class Arrangement(Answer):
    """An arrangement, or the state that operators keep beside it."""

    name: str
    records: int
    bytes: int


SinkStatus = Literal["running", "stalled", "failed"]


class Sink(Answer):
    """The topic in Kafka that a view goes to; `reason` is why it is not published there now."""

    connector: Literal["kafka"]
    connection: str
    topic: str
    envelope: OutputEnvelope
    format: OutputFormat
    snapshot: bool
    partitions: int | None = None
    replication: int | None = None
    config: dict[str, str]
    headers: list[str]
    status: SinkStatus
    reason: str | None = None


class DeltaTopic(Answer):
    """The file topic of a view's changes, and its committed end."""

    topic: str
    end: int


class View(Answer):
    """A view: its definition, its state, and its topics.

    It is `planned` and then `hydrating` until it has what there is: `hydrated` says how far.
    `errors` counts the rows that could not be computed, and `reason` says why a view failed.
    `stalled` says why a source stands still that it reads, itself or through other views.
    """

    model_config = example(**_VIEW)

    name: str
    language: Language
    query: str
    key: list[str]
    lookups: bool
    columns: list[Column]
    reads: list[str]
    status: ViewStatus
    hydrated: Hydrated | None = None
    reason: str | None = None
    stalled: str | None = None
    errors: int
    deltas: DeltaTopic
    sink: Sink | None = None


class Installation(Answer):
    """The arrangements that a new view reuses, and those that it made."""

    reused: list[str]
    created: list[str]


class PutView(View):
    """A view that was put; `installed` only if it is new."""

    model_config = example(**_VIEW, installed={"reused": ["orders[id]"], "created": []})

    installed: Installation | None = None


class ViewInFull(View):
    """A view, and the arrangements that it reads."""

    model_config = example(**_VIEW, arrangements=[INFO])

    arrangements: list[Arrangement]


class Views(Answer):
    """All views, each after those it reads."""

    model_config = example(views=[_VIEW])

    views: list[View]
