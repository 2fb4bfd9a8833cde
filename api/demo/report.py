"""The report of the demo: its measurements, as a table for people and as JSON for programs."""

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from api.demo.verify import Verdict

MIB = 1 << 20


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
        console.print(self._figures())
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

    def _figures(self) -> Table:
        table = Table("figure", title="Figures")
        for name in ("measured", "must reach"):
            table.add_column(name, justify="right")
        rate = f"{self.latency_rate:,} changes/s"
        rows = (
            ("changes", f"{self.changes:,}", "500,000"),
            ("changes/s, end to end", f"{self.changes_per_second:,.0f}", "100,000"),
            (f"record to delta at {rate}, p50", f"{self.latency_p50 * 1000:,.0f} ms", ""),
            (f"record to delta at {rate}, p99", f"{self.latency_p99 * 1000:,.0f} ms", "1,000 ms"),
            ("fifth view registered while data flows", f"{self.fifth_view_ms:,.0f} ms", "200 ms"),
            ("look-up over HTTP while data flows, p50", f"{self.lookup_p50_ms:.2f} ms", "3 ms"),
            ("look-up over HTTP while data flows, p99", f"{self.lookup_p99_ms:.2f} ms", ""),
            ("back and caught up after SIGKILL", f"{self.recovery_seconds:.1f} s", ""),
            ("peak memory, JVM and Python", f"{self.peak_memory / MIB:,.0f} MiB", ""),
            ("the whole demo", f"{self.seconds:.0f} s", "300 s"),
        )
        for row in rows:
            table.add_row(*row)
        return table

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
