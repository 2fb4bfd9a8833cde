"""What the demo measured, as a table for people and as JSON for programs."""

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


@dataclass(frozen=True, slots=True)
class ViewResult:
    """One view at the end; `difference` tells the first rows that differ from DuckDB's, if any."""

    name: str
    title: str
    rows: int
    deltas: int
    verified: bool
    difference: str = ""


@dataclass(slots=True)
class Report:
    """Rates in changes per second, durations in milliseconds or seconds, sizes in bytes."""

    changes: int = 0
    views: list[ViewResult] = field(default_factory=list)
    changes_per_second: float = 0.0
    fifth_view_ms: float = 0.0
    fifth_view_reused: list[str] = field(default_factory=list)
    start_seconds: float = 0.0
    restart_seconds: float = 0.0
    paced_rate: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    lookup_p50_ms: float = 0.0
    lookup_p99_ms: float = 0.0
    peak_bytes: int = 0
    arrangements: list[dict[str, Any]] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether every view equals DuckDB's answer."""
        return bool(self.views) and all(view.verified for view in self.views)

    def to_json(self) -> dict[str, Any]:
        """The report as a JSON object."""
        return asdict(self) | {"verified": self.verified}

    def show(self, console: Console) -> None:
        """Print the tables."""
        console.print(self._views())
        console.print(self._figures())
        console.print(self._arrangements())
        for view in self.views:
            if not view.verified:
                console.print(f"[red]{view.name}: {view.difference}[/red]")

    def _views(self) -> Table:
        table = Table(title=f"Five views of {self.changes:,} changes", title_justify="left")
        for name, justify in (("view", "left"), ("what", "left"), ("rows", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        table.add_column("deltas", justify="right")
        table.add_column("verified")
        for view in self.views:
            mark = "[green]yes[/green]" if view.verified else "[red]NO[/red]"
            table.add_row(view.name, view.title, f"{view.rows:,}", f"{view.deltas:,}", mark)
        return table

    def _figures(self) -> Table:
        table = Table(title="Figures", title_justify="left")
        table.add_column("figure")
        table.add_column("value", justify="right")
        reused = escape(", ".join(self.fifth_view_reused))
        for name, value in (
            ("end to end, four views", f"{self.changes_per_second:,.0f} changes/s"),
            (f"latency at {self.paced_rate:,} changes/s, p50", f"{self.p50_ms:,.0f} ms"),
            (f"latency at {self.paced_rate:,} changes/s, p99", f"{self.p99_ms:,.0f} ms"),
            (f"fifth view registered (over {reused})", f"{self.fifth_view_ms:,.0f} ms"),
            ("look-up over HTTP, p50", f"{self.lookup_p50_ms:.2f} ms"),
            ("look-up over HTTP, p99", f"{self.lookup_p99_ms:.2f} ms"),
            ("first start until ready", f"{self.start_seconds:.1f} s"),
            ("after SIGKILL until ready again", f"{self.restart_seconds:.1f} s"),
            ("peak memory: service, JVM, Python workers", f"{self.peak_bytes / 2**20:,.0f} MiB"),
        ):
            table.add_row(name, value)
        return table

    def _arrangements(self) -> Table:
        table = Table(title="Arrangements", title_justify="left")
        table.add_column("arrangement")
        for name in ("records", "bytes/record"):
            table.add_column(name, justify="right")
        table.add_column("users")
        for a in self.arrangements:
            size = a["bytes"] / max(a["records"], 1)
            table.add_row(
                escape(a["name"]), f"{a['records']:,}", f"{size:.1f}", ", ".join(a["users"])
            )
        return table
