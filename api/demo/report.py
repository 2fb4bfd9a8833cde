"""The report of the demo: its measurements, as a table for people and as JSON for programs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from api.demo.verify import Verdict

MIB = 1 << 20
FLOWING = "while data flows"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure, and the bound that it must reach, if there is one."""

    name: str
    value: float
    form: str
    least: float | None = None
    most: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether it is within its bound."""
        least, most = self.least, self.most
        return (least is None or self.value >= least) and (most is None or self.value <= most)

    @property
    def measured(self) -> str:
        """The figure with its unit."""
        return self.form.format(self.value)

    @property
    def bound(self) -> str:
        """The bound with its unit and its direction."""
        if self.least is not None:
            return f"at least {self.form.format(self.least)}"
        return f"at most {self.form.format(self.most)}" if self.most is not None else ""


def table_of(figures: Sequence[Figure]) -> Table:
    """Figures with their bounds; those that are missed stand out."""
    table = Table("figure", title="Figures")
    for name in ("measured", "must reach"):
        table.add_column(name, justify="right")
    for figure in figures:
        measured = figure.measured if figure.is_met else f"[red]{figure.measured}, missed[/]"
        table.add_row(figure.name, measured, figure.bound)
    return table


@dataclass(slots=True)
class Report:
    """Figures of one run: times in seconds unless named otherwise."""

    changes: int = 0
    changes_per_second: float = 0.0
    recovery_seconds: float = 0.0
    latency_p50: float = 0.0
    latency_p99: float = 0.0
    latency_rate: int = 0
    fifth_view_ms: float = 0.0
    fifth_view_created: list[str] = field(default_factory=list)
    lookup_p50_ms: float = 0.0
    lookup_p99_ms: float = 0.0
    peak_memory: int = 0
    seconds: float = 0.0
    arrangements: list[dict[str, Any]] = field(default_factory=list)
    views: list[Verdict] = field(default_factory=list)

    @property
    def is_verified(self) -> bool:
        """Whether every view is as DuckDB computes it."""
        return bool(self.views) and not any(view.faults for view in self.views)

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        return {**asdict(self), "verified": self.is_verified}

    def show(self, console: Console) -> None:
        """Print the tables."""
        console.print(self._views())
        console.print(table_of(self._measured()))
        console.print(self._arrangements())
        for view in self.views:
            for fault in view.faults:
                console.print(f"[red]{view.view}: {fault}[/]")

    def _views(self) -> Table:
        table = Table("view", title="Views against DuckDB over the topics at the same offsets")
        for name in ("rows", "deltas", "verified"):
            table.add_column(name, justify="right")
        for view in self.views:
            verified = "[red]no[/]" if view.faults else "[green]yes[/]"
            table.add_row(view.view, f"{view.rows:,}", f"{view.deltas:,}", verified)
        return table

    def _measured(self) -> list[Figure]:
        rate = f"{self.latency_rate:,} changes/s"
        p50, p99 = self.latency_p50 * 1000, self.latency_p99 * 1000
        back, memory = self.recovery_seconds, self.peak_memory / MIB
        return [
            Figure("changes", self.changes, "{:,.0f}"),
            Figure("changes/s, end to end", self.changes_per_second, "{:,.0f}", least=100_000),
            Figure(f"record to delta at {rate}, p50", p50, "{:,.0f} ms"),
            Figure(f"record to delta at {rate}, p99", p99, "{:,.0f} ms", most=1_000),
            Figure(f"fifth view registered {FLOWING}", self.fifth_view_ms, "{:,.0f} ms", most=200),
            Figure(f"look-up over HTTP {FLOWING}, p50", self.lookup_p50_ms, "{:.2f} ms", most=3),
            Figure(f"look-up over HTTP {FLOWING}, p99", self.lookup_p99_ms, "{:.2f} ms"),
            Figure("back and caught up after SIGKILL", back, "{:.1f} s"),
            Figure("peak memory, JVM and Python", memory, "{:,.0f} MiB"),
            Figure("the whole demo", self.seconds, "{:.0f} s", most=300),
        ]

    def _arrangements(self) -> Table:
        table = Table("arrangement", title="Memory of the arrangements")
        for name in ("records", "bytes", "bytes/record", "views"):
            table.add_column(name, justify="right")
        for each in self.arrangements:
            records, size = each["records"], each["bytes"]
            per_record = f"{size / records:.0f}" if records else "-"
            users = str(len(each["users"]))
            table.add_row(escape(each["name"]), f"{records:,}", f"{size:,}", per_record, users)
        return table
