"""The report of the mentions' demonstration: its figures, and what the judge found at each cut."""

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from api.demo.report import MIB, Figure, table_of
from api.mentions.judge import Verdict

MS = 1000


@dataclass(slots=True)
class Report:
    """Figures of one run: times in seconds, but the window, which is in seconds of the stream."""

    users: int = 0
    mentions: int = 0
    window: int = 0
    steps: int = 0
    pace: float = 1.0
    load_seconds: float = 0.0
    latency_p50: float = 0.0
    latency_p99: float = 0.0
    most_lag: int = 0
    components: int = 0
    largest: int = 0
    deltas: int = 0
    peak_memory: int = 0
    seconds: float = 0.0
    cuts: list[Verdict] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def is_verified(self) -> bool:
        """Whether the delta topics were right at every cut, and the answers at the last."""
        return bool(self.cuts) and not self.faults and not any(cut.faults for cut in self.cuts)

    @property
    def keeps_up(self) -> bool:
        """Whether a step was reflected before the next was due, in 99 cases of 100."""
        return self.latency_p99 <= 1 / self.pace

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        return {**asdict(self), "verified": self.is_verified, "keeps_up": self.keeps_up}

    def show(self, console: Console) -> None:
        """Print the tables."""
        console.print(self._cuts())
        console.print(table_of(self._measured()))
        for fault in [*self.faults, *(fault for cut in self.cuts for fault in cut.faults)]:
            console.print(f"[red]{fault}[/]")

    def _cuts(self) -> Table:
        table = Table("time", title="Delta topics against networkx at random cuts")
        for name in ("window", "mentions", "components", "verified"):
            table.add_column(name, justify="right")
        for cut in self.cuts:
            first, last = cut.window
            verified = "[red]no[/]" if cut.faults else "[green]yes[/]"
            numbers = f"{cut.mentions:,}", f"{cut.components:,}"
            table.add_row(str(cut.time), f"{first} to {last}", *numbers, verified)
        return table

    def _measured(self) -> list[Figure]:
        step = f"a step, {self.pace:g} in a second"
        return [
            Figure("users", self.users, "{:,.0f}"),
            Figure("mentions", self.mentions, "{:,.0f}"),
            Figure("window", self.window, "{:,.0f} s"),
            Figure("the first window", self.load_seconds, "{:.1f} s"),
            Figure("components", self.components, "{:,.0f}"),
            Figure("members of the largest", self.largest, "{:,.0f}"),
            Figure("steps", self.steps, "{:,.0f}"),
            Figure(f"{step}, p50", self.latency_p50 * MS, "{:,.0f} ms"),
            Figure(
                f"{step}, p99",
                self.latency_p99 * MS,
                "{:,.0f} ms",
                most=MS / self.pace,
            ),
            Figure("steps behind, at most", self.most_lag, "{:,.0f}"),
            Figure("peak memory, JVM and Python", self.peak_memory / MIB, "{:,.0f} MiB"),
            Figure("the whole demonstration", self.seconds, "{:.0f} s"),
        ]
