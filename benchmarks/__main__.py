"""`python -m benchmarks NAME…`: run workloads, beside a peer if one is named, and report."""

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import bounds, report
from benchmarks.comparison import Result, Setting, measure, results
from benchmarks.errors import BenchmarkError
from benchmarks.pipeline.run import run_pipeline
from benchmarks.sides import BUILD, OURS, PEERS, Run, Side
from benchmarks.verify import Trial
from benchmarks.workload import Workload

NAMES = ("arrange", "install", "count", "bfs", "wcc", "scc", "reach", "tpch")
VERIFIED = ("tpch", "nexmark")
BATCHES = 50
PAIRS = {"tiny": 3, "small": 3, "full": 1}
MORE_PAIRS = 1  # with several workers: as many that begin as that do not
INPUTS = BUILD / "benchmarks"

console = Console(stderr=True)


def main(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help=", ".join(NAMES))
    ] = None,
    scale: Annotated[str, typer.Option(help="tiny, small or full")] = "small",
    workers: Annotated[int, typer.Option(min=1)] = 1,
    peer: Annotated[str | None, typer.Option(help=", ".join(PEERS))] = None,
    json: Annotated[Path | None, typer.Option(help="write the results here as JSON")] = None,
    page: Annotated[Path | None, typer.Option(help="write them here as Markdown")] = None,
    verify: Annotated[bool, typer.Option(help="compare tpch or nexmark with DuckDB")] = False,
) -> None:
    """Run the workloads NAME (none: all), and compare them with a peer's."""
    try:
        if verify:
            _verify(names or [])
            return
        if names == ["pipeline"]:
            _pipeline(scale, json)
            return
        _run(names or list(NAMES), scale, workers, peer, json, page)
    except BenchmarkError as error:
        console.print(f"[red]{error}[/red]", highlight=False)
        sys.exit(1)


def _run(
    names: list[str],
    scale: str,
    workers: int,
    peer: str | None,
    json: Path | None,
    page: Path | None,
) -> None:
    settings = _settings(names, scale, workers)
    sides = [OURS, *([_peer(peer, names)] if peer else [])]
    runs: dict[str, dict[str, list[Run]]] = {}
    at_once: list[float] = []
    found: list[Result] = []
    pairs = PAIRS[scale] + (MORE_PAIRS if workers > 1 else 0)
    with _progress() as progress:
        task = progress.add_task("", total=len(settings) * len(sides) * pairs)
        commands = {}
        for side in sides:
            progress.update(task, description=f"building {side.name}")
            commands[side] = side.prepare()
        for setting in settings:
            name = setting.workload.name
            progress.update(task, description=f"{name}: generating the input")
            setting.generate()

            def step(side: str, name: str = name) -> None:
                progress.update(task, description=f"{name}: {side}", advance=1)
                if workers > 1 and side == OURS.name:
                    at_once.append(bounds.at_once(workers))

            runs[name] = measure(setting, commands, pairs, step)
            found += results(setting, runs[name])
    machine = bounds.machine(commands.get(PEERS["differential"]), at_once)
    Console().print(report.table(found), f"Measured on {machine}.", highlight=False)
    if json:
        json.write_text(report.as_json(found))
    if page:
        chart = page.with_suffix(".svg")
        drawn = report.draw(runs, chart)
        page.write_text(report.page(found, machine, pairs, chart.name if drawn else None))


def _pipeline(scale: str, json: Path | None) -> None:
    found = run_pipeline(scale, console)
    Console().print(report.table(found))
    if json:
        json.write_text(report.as_json(found))


def _verify(names: list[str]) -> None:
    unknown = [name for name in names if name not in VERIFIED]
    if unknown:
        raise BenchmarkError(f"{', '.join(unknown)}: only {', '.join(VERIFIED)} can be verified")
    trials: list[Trial] = [
        trial for name in names or VERIFIED for trial in import_module(f"benchmarks.{name}").TRIALS
    ]
    with _progress() as progress:
        for trial in trials:
            task = progress.add_task(trial.name, total=BATCHES + 1)
            done = trial.verify(INPUTS, BATCHES, partial(progress.advance, task))
            slowest = max(done.registered, key=lambda query: done.registered[query])
            progress.print(
                f"{trial.name}: {done.compared:,} answers are DuckDB's, {BATCHES} batches; "
                f"slowest to register: {slowest} in {1000 * done.registered[slowest]:.0f} ms"
            )


def _settings(names: list[str], scale: str, workers: int) -> list[Setting]:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise BenchmarkError(f"no workload {', '.join(unknown)}: there are {', '.join(NAMES)}")
    settings = []
    for name in dict.fromkeys(names):
        workload: Workload = import_module(f"benchmarks.{name}").WORKLOAD
        if scale not in workload.scales:
            scales = ", ".join(workload.scales)
            raise BenchmarkError(f"{name} has no scale {scale!r}, but {scales}")
        settings.append(Setting(workload, scale, workers, INPUTS))
    return settings


def _peer(name: str, workloads: list[str]) -> Side:
    if name not in PEERS:
        raise BenchmarkError(f"no peer {name!r}: there are {', '.join(PEERS)}")
    missing = [w for w in workloads if w not in PEERS[name].workloads]
    if missing:
        offered = ", ".join(sorted(PEERS[name].workloads))
        raise BenchmarkError(f"{', '.join(missing)}: not offered for {name}, which has {offered}")
    return PEERS[name]


def _progress() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, TimeElapsedColumn(), console=console)


if __name__ == "__main__":
    typer.run(main)
