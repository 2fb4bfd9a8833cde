"""`ivm top`: what a service does at present: its sources, its views, and what they take."""

import itertools
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from api.cli.texts import lag_of, state_of
from api.terminal import connected, out, print_line
from ivm_client.service import ServiceClient, path

STYLES = {
    "planned": "dim",
    "hydrating": "yellow",
    "replaying": "yellow",
    "running": "green",
    "waiting": "yellow",
    "stalled": "bold red",
    "failed": "bold red",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A service at one moment: its answers, and its counters by metric and source or view."""

    moment: float
    sources: list[dict[str, Any]]
    views: list[dict[str, Any]]
    totals: Mapping[tuple[str, str], float]

    def total(self, metric: str, name: str = "") -> float:
        """The value of a metric of a source or view; 0 where there is none."""
        return self.totals.get((metric, name), 0.0)


def top(
    interval: Annotated[float, typer.Option(min=0.05, help="Seconds between two looks.")] = 2.0,
    count: Annotated[int | None, typer.Option("-n", min=1, help="End after so many looks.")] = None,
    json: Annotated[bool, typer.Option("--json", help="A line of JSON for each look.")] = False,
) -> None:
    """Show what a service does, again and again, until interrupted."""
    with connected() as service:
        if json:
            for before, now in looks(service, interval, count):
                print_line(figures(before, now))
            return
        with Live(
            console=out, auto_refresh=False, screen=count is None and out.is_terminal
        ) as live:
            for before, now in looks(service, interval, count):
                live.update(picture(figures(before, now)), refresh=True)


def looks(
    service: ServiceClient, interval: float, count: int | None
) -> Iterator[tuple[Sample, Sample]]:
    """Each look at a service with the one before it, of `count` looks or without an end."""
    before = now = sample(service)
    for look in itertools.count(1):
        yield before, now
        if look == count:
            return
        time.sleep(interval)
        before, now = now, sample(service)


def sample(service: ServiceClient) -> Sample:
    """Look at a service once."""
    totals: defaultdict[tuple[str, str], float] = defaultdict(float)
    for family in text_string_to_metric_families(service.text("/metrics")):
        for one in family.samples:
            totals[one.name, one.labels.get("view") or one.labels.get("table", "")] += one.value
    return Sample(
        time.monotonic(),
        service.get(path("sources"))["sources"],
        service.get(path("views"))["views"],
        totals,
    )


def figures(before: Sample, now: Sample) -> dict[str, Any]:
    """Figures of a service by two looks at it; rates, a second, are those between them."""

    def rate(metric: str, name: str = "") -> float:
        return _rate(metric, name, before, now)

    return {
        "time": now.total("ivm_time"),
        "records": rate("ivm_records_total"),
        "arrangement_bytes": now.total("ivm_arrangement_bytes"),
        "followers": now.total("ivm_followers"),
        "sources": [
            {
                "source": source["name"],
                "status": source["status"],
                "state": state_of(source),
                "lag": lag_of(source),
                "records": rate("ivm_input_records_total", source["name"]),
                "rejected": source["records"]["rejected"],
                "stalled": source.get("stalled"),
            }
            for source in now.sources
        ],
        "views": [
            {
                "view": view["name"],
                "status": view["status"],
                "state": state_of(view),
                "changes": rate("ivm_deltas_total", view["name"]),
                "seconds": rate("ivm_view_seconds_total", view["name"]),
                "errors": view["errors"],
                "why": view["reason"] or view.get("stalled"),
            }
            for view in now.views
        ],
    }


def picture(found: Mapping[str, Any]) -> RenderableType:
    """Figures as tables."""
    return Group(
        _summary(found), Text(), _sources(found["sources"]), Text(), _views(found["views"])
    )


def _rate(metric: str, name: str, before: Sample, now: Sample) -> float:
    seconds = now.moment - before.moment
    grown = now.total(metric, name) - before.total(metric, name)
    return max(grown, 0.0) / seconds if seconds > 0 else 0.0


def _summary(found: Mapping[str, Any]) -> Text:
    return Text(
        f"time {found['time']:,.0f}    "
        f"{found['records']:,.0f} records/s    "
        f"{found['arrangement_bytes'] / 2**20:,.1f} MiB in arrangements    "
        f"{found['followers']:,.0f} followers"
    )


def _sources(found: Iterable[Mapping[str, Any]]) -> Table:
    rows = [
        (
            one["source"],
            Text(one["state"], STYLES[one["status"]]),
            f"{one['lag']:,}",
            f"{one['records']:,.0f}",
            f"{one['rejected']:,}",
            Text(one["stalled"] or "", "bold red"),
        )
        for one in found
    ]
    return _table(("source", "status", "lag", "records/s", "rejected", "stalled"), rows)


def _views(found: Iterable[Mapping[str, Any]]) -> Table:
    rows = [
        (
            one["view"],
            Text(one["state"], STYLES[one["status"]]),
            f"{one['changes']:,.0f}",
            f"{1e3 * one['seconds']:,.1f}",
            f"{one['errors']:,}",
            one["why"] or "",
        )
        for one in found
    ]
    return _table(("view", "status", "changes/s", "ms/s", "errors", "why"), rows)


def _table(columns: Iterable[str], rows: Iterable[tuple[str | Text, ...]]) -> Table:
    """Rows below the names of columns; those that hold numbers are aligned at their right."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        is_text = column in ("source", "view", "status", "stalled", "why")
        table.add_column(column, justify="left" if is_text else "right")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else escape(cell) for cell in row))
    return table
