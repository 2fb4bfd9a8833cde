"""`Client`: a service, with a method for each thing that it does."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pyarrow as pa

from ivm_client.backup import write_backup
from ivm_client.errors import Problem
from ivm_client.feed import ARROW, Feed
from ivm_client.quarantine import Quarantine
from ivm_client.service import TIMEOUT, ServiceClient, path

NDJSON = "application/x-ndjson"
# Rows of a page, and of a query, unless the caller says how many.
PAGE = 10_000

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of a query as of `time`; `more`: there are rows beyond its limit."""

    table: pa.Table
    time: int
    more: bool


@dataclass(frozen=True, slots=True)
class Inferred:
    """A declaration of a source that was not made, and what to look at before it is."""

    declaration: dict[str, Any]
    unsure: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Rows that are durable; look-ups take `at_least` to wait until they are reflected.

    `again`: they had been written before, under the same key.
    """

    rows: int
    at_least: str | None
    again: bool


class Client:
    """A service at `url`. Raises Problem for what it refuses, Unreachable where none answers.

    Values are JSON's, as in the answers of the REST API: decimals and moments are texts. Queries
    and feeds have Arrow's types.
    """

    def __init__(
        self,
        url: str = "http://localhost:8080",
        timeout: float = TIMEOUT,
        key: str | None = None,
        ca: str | PathLike[str] | None = None,
    ) -> None:
        """Nothing is sent yet; a request takes `timeout` seconds at most.

        `key` is an API key, or a token; that of the variable IVM_API_KEY unless given. `ca` is a
        file of PEM certificates that are trusted beside those that the system trusts.
        """
        self.url = url
        self.service = ServiceClient(url, timeout, key, ca)
        self.quarantine = Quarantine(self.service)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the connections."""
        self.service.close()

    def create_table(
        self, name: str, columns: Mapping[str, str], key: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Declare a table whose rows are written with `write`: SQL's types by column.

        The same table again is nothing new.
        """
        named = [{"name": column, "type": kind} for column, kind in columns.items()]
        return self.create_source(name, connector="http", columns=named, key=list(key))

    def create_source(self, name: str, **declaration: Any) -> dict[str, Any]:
        """Declare a source, as `PUT /v1/sources/{name}` takes it."""
        found: dict[str, Any] = self.service.put(path("sources", name), declaration)
        return found

    def infer(self, topic: str | None = None, **options: Any) -> Inferred:
        """Propose a declaration by the first records of a topic, or by its schemas.

        Nothing is declared: `create_source(name, **found.declaration)` does that. `options` are
        `topic_pattern`, in place of the topic, of which the first that it matches is looked at;
        `connection`, unless it is a topic of files, `format`, `envelope`, and `records`, how many
        are looked at.
        """
        found = self.service.post(path("sources", "infer"), {"topic": topic, **options})
        return Inferred(found["declaration"], tuple(found["unsure"]))

    def source(self, name: str) -> dict[str, Any]:
        """A source: its declaration, its status, and how far its topic is reflected."""
        found: dict[str, Any] = self.service.get(path("sources", name))
        return found

    def sources(self) -> list[dict[str, Any]]:
        """All sources."""
        found: list[dict[str, Any]] = self.service.get(path("sources"))["sources"]
        return found

    def drop_source(self, name: str) -> None:
        """Forget a source that no view reads."""
        self.service.delete(path("sources", name))

    def create_view(
        self, name: str, query: str, key: Sequence[str] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Maintain a view from now on; `options` as `language`, `sink`, `lookups`."""
        body = {"query": query, "key": None if key is None else list(key), **options}
        found: dict[str, Any] = self.service.put(path("views", name), body)
        return found

    def views(self) -> list[dict[str, Any]]:
        """All views."""
        found: list[dict[str, Any]] = self.service.get(path("views"))["views"]
        return found

    def view(self, name: str) -> dict[str, Any]:
        """A view: its definition, columns and status."""
        found: dict[str, Any] = self.service.get(path("views", name))
        return found

    def drop_view(self, name: str) -> None:
        """Stop a view that no other reads."""
        self.service.delete(path("views", name))

    def rename_view(self, name: str, to: str) -> dict[str, Any]:
        """Let a view that no other reads have another name; its topics keep theirs."""
        found: dict[str, Any] = self.service.post(path("views", name, "rename"), {"to": to})
        return found

    def retry_view(self, name: str) -> dict[str, Any]:
        """Maintain a view that has failed again."""
        found: dict[str, Any] = self.service.post(path("views", name, "retry"), {})
        return found

    def replace_view(
        self, name: str, query: str, key: Sequence[str] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Prepare another definition of a view: its preview, or the view if it is defined so.

        `replacement` shows the preview again, until it is `ready`; `approve` carries it out.
        """
        return self.create_view(name, query, key, replace=True, **options)

    def replacement(self, name: str, sample: int = 10) -> dict[str, Any]:
        """The replacement of a view that waits: how far it is, and the rows that it changes."""
        found: dict[str, Any] = self.service.get(path("views", name, "replacement"), sample=sample)
        return found

    def approve(self, name: str, version: str, time: int | None = None) -> int:
        """Let a replacement take the view's place: the time from which on it has.

        With the `time` of a preview, only if its difference has not changed since.
        """
        body = {"version": version, "time": time}
        return int(self.service.post(path("views", name, "approve"), body)["time"])

    def discard(self, name: str) -> None:
        """Forget the replacement of a view, which stays as it is."""
        self.service.send(path("views", name, "discard"))

    def explain(
        self, query: str, language: str = "sql", key: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """The view that a query would make: its columns, key, plans and arrangements."""
        body = {"query": query, "language": language, "key": None if key is None else list(key)}
        found: dict[str, Any] = self.service.post("/v1/explain", body)
        return found

    def operators(self, view: str) -> dict[str, Any]:
        """Rows, bytes, time and rounds of each operator of a view."""
        found: dict[str, Any] = self.service.get(path("views", view, "operators"))
        return found

    def arrangements(self) -> list[dict[str, Any]]:
        """What the service keeps in memory, and which views share it."""
        found: list[dict[str, Any]] = self.service.get("/v1/arrangements")["arrangements"]
        return found

    def cluster(self) -> list[dict[str, Any]]:
        """The shards that the engine is divided among, and what each holds; none without them."""
        found: list[dict[str, Any]] = self.service.get("/v1/cluster")["shards"]
        return found

    def errors(self, view: str | None = None) -> list[dict[str, Any]]:
        """Rows that cannot be computed, and keys that do not add up; of one view, or of all."""
        parameters = {} if view is None else {"view": view}
        found: list[dict[str, Any]] = self.service.get("/v1/errors", **parameters)["errors"]
        return found

    def readiness(self) -> dict[str, Any]:
        """Whether the service is ready, by `status`; if it is not, `faults` say why."""
        try:
            found: dict[str, Any] = self.service.get("/readyz")
        except Problem as problem:
            if problem.code != "not-ready":
                raise
            return dict(problem.document)
        return found

    def is_alive(self) -> bool:
        """Whether the process serves (raises Unreachable if none answers)."""
        return bool(self.service.get("/healthz")["status"] == "alive")

    def backup(self, file: str | PathLike[str]) -> int:
        """Write all that the service keeps to a tar archive, as of one moment: its bytes."""
        return write_backup(self.service, Path(file))

    def metrics(self) -> str:
        """The metrics, in the text format of Prometheus."""
        return self.service.text("/metrics")

    def write(
        self,
        source: str,
        rows: Iterable[Mapping[str, Any]] | pa.Table,
        changes: bool = False,
        key: str | None = None,
    ) -> Written:
        """Write rows to a table, all or none; with `changes` each says what it does.

        They are written once for a `key`, by default one of this call: pass your own, such as the
        number of a batch, where the call itself may come again.
        """
        if isinstance(rows, pa.Table):
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, rows.schema) as writer:
                writer.write_table(rows)
            body, media = sink.getvalue(), ARROW
        else:
            body, media = b"".join(json.dumps(row).encode() + b"\n" for row in rows), NDJSON
        given = self.service.write(
            path("sources", source, "rows"), body, media, key or str(uuid4()), changes
        )
        return Written(given["rows"], given["at_least"], given["again"])

    def lookup(
        self, view: str, /, at_least: str | Sequence[str] | None = None, **values: Any
    ) -> list[Row]:
        """The rows of a view with these values, all of an index of it.

        `at_least` waits until what `write` told is reflected.
        """
        return list(self._rows(view, values, at_least, scan=False))

    def rows(
        self, view: str, /, at_least: str | Sequence[str] | None = None, **values: Any
    ) -> Iterator[Row]:
        """All rows of a view with these values, of any columns or none, page by page."""
        return self._rows(view, values, at_least, scan=True)

    def query(self, query: str, language: str = "sql", limit: int = PAGE) -> Answer:
        """Answer a query once, over one consistent time; `.table` is Arrow's."""
        body = {"query": query, "language": language, "limit": limit}
        found = self.service.request("POST", "/v1/query", body, headers={"accept": ARROW})
        table = pa.ipc.open_stream(found.content).read_all()
        return Answer(table, int(found.headers["ivm-time"]), found.headers["ivm-more"] == "true")

    def follow(
        self,
        view: str,
        /,
        since: int | None = None,
        snapshot: bool = True,
        patience: float = 60.0,
        part: tuple[int, int] | None = None,
        **values: Any,
    ) -> Feed:
        """Follow a view: its rows, unless `since` or `snapshot` says otherwise, and every change.

        With a `part`, as (0, 4), the rows that are in it by their keys: four feeds share a view so.

        The feed goes on by itself where a connection breaks, and raises Unreachable where no
        service answers for `patience` seconds.
        """
        return Feed(self.service, view, since, snapshot, values, patience, part)

    def wait(self, view: str, at_least: str | Sequence[str], patience: float = 300.0) -> None:
        """Wait until a view reflects what `write` told, for `patience` seconds at most."""
        waited = 0.0
        while True:
            try:
                next(self._rows(view, {}, at_least, scan=True, page=1), None)
                return
            except Problem as problem:
                waited += 30.0
                if problem.code != "offset-not-reached" or waited >= patience:
                    raise

    def _rows(
        self,
        view: str,
        values: Mapping[str, Any],
        at_least: str | Sequence[str] | None,
        scan: bool,
        page: int = PAGE,
    ) -> Iterator[Row]:
        parameters: dict[str, Any] = {f"filter[{name}]": _text(v) for name, v in values.items()}
        parameters |= {"limit": page, "scan": str(scan).lower()}
        if at_least is not None:
            parameters["at_least"] = [at_least] if isinstance(at_least, str) else list(at_least)
        while True:
            found = self.service.get(path("views", view, "rows"), **parameters)
            yield from found["rows"]
            if "next" not in found or page == 1:
                return
            parameters["cursor"] = found["next"]


def _text(value: Any) -> str:
    """A value as a parameter."""
    return value if isinstance(value, str) else json.dumps(value)
