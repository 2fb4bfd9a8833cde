"""Run the benchmarks and print rates: `python -m benchmarks`."""

import os

import typer
from rich.console import Console
from rich.table import Table

from benchmarks import arrange


def main(keys: int = 2_000_000, rounds: int = 100, per_round: int = 10_000) -> None:
    """Arrange KEYS rows, then change PER_ROUND of them in each of ROUNDS rounds."""
    table = Table("stage", "updates", "seconds", "updates/s", "ns/update")
    for column in table.columns[1:]:
        column.justify = "right"
    for measure in arrange.measure(keys, rounds, per_round):
        table.add_row(
            measure.stage,
            f"{measure.updates:,}",
            f"{measure.seconds:.3f}",
            f"{measure.updates / measure.seconds:,.0f}",
            f"{measure.seconds / measure.updates * 1e9:.0f}",
        )
    console = Console()
    console.print(f"arrange, one worker, {os.cpu_count()} cores on this machine")
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
