"""`python -m benchmarks NAME…`: run workloads, beside a peer if one is named, and report."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import bounds, growth, report, rounds, shards
from benchmarks.comparison import Result, Setting, measure, results
from benchmarks.errors import BenchmarkError
from benchmarks.mentions import SIZES
from benchmarks.pipeline.profile import run_profile
from benchmarks.pipeline.run import run_pipeline
from benchmarks.service.page import draw as draw_service
from benchmarks.service.page import page as service_page
from benchmarks.service.run import run_service
from benchmarks.sides import BUILD, OURS, PEERS, Run, Side
from benchmarks.streams.page import as_json as streams_as_json
from benchmarks.streams.page import draw as draw_streams
from benchmarks.streams.page import page as streams_page
from benchmarks.streams.run import run_streams
from benchmarks.verify import Trial
from benchmarks.workload import Workload

NAMES = (
    "arrange",
    "install",
    "count",
    "bfs",
    "wcc",
    "scc",
    "reach",
    "interactive",
    "interactive_unshared",
    "batch_graph",
    "datalog",
    "graspan",
    "mentions",
    "pagerank",
    "pagerank_rounded",
    "tpch",
)
VERIFIED = ("tpch", "nexmark")
BATCHES = 50
PAIRS = {"tiny": 3, "small": 3, "full": 1}
MORE_PAIRS = 1  # with several workers: as many that begin as that do not
INPUTS = BUILD / "benchmarks"

console = Console(stderr=True)


def main(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help=", ".join(("all", *NAMES)))
    ] = None,
    scale: Annotated[str, typer.Option(help="tiny, small or full")] = "small",
    workers: Annotated[int, typer.Option(min=1)] = 1,
    peer: Annotated[str | None, typer.Option(help=", ".join(PEERS))] = None,
    json: Annotated[Path | None, typer.Option(help="write the results here as JSON")] = None,
    page: Annotated[Path | None, typer.Option(help="write them here as Markdown")] = None,
    up_to: Annotated[float, typer.Option(help="with growth: GiB of memory")] = 4,
    verify: Annotated[bool, typer.Option(help="compare tpch or nexmark with DuckDB")] = False,
    profile: Annotated[bool, typer.Option(help="of pipeline: processor time by part")] = False,
) -> None:
    """Run the workloads NAME (none or `all`: all), and compare them with a peer's."""
    try:
        if verify:
            _verify(names or [])
            return
        if names and names[0] == "growth":
            _growth(names[1:], peer, up_to, page)
            return
        if names == ["rounds"]:
            _rounds(scale, page)
            return
        if names == ["scale"]:
            _scale(scale, json, page)
            return
        if names == ["pipeline"]:
            _pipeline(run_profile if profile else run_pipeline, scale, json)
            return
        if names == ["service"]:
            _service(scale, json, page)
            return
        if names == ["streams"]:
            _streams(scale, peer, json, page)
            return
        names = list(NAMES) if not names or names == ["all"] else names
        _run(names, scale, workers, peer, json, page)
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
        page.write_text(report.page(found, machine, pairs, _charts(runs, found, page)))


def _charts(runs: report.Runs, found: Sequence[Result], page: Path) -> dict[str, str]:
    """Draw what there is to draw beside a page: captions, and the names of the files."""
    latencies, ratios = page.with_suffix(".svg"), page.with_name(f"{page.stem}-ratios.svg")
    charts = {}
    if report.draw_ratios(found, ratios):
        charts["The ratios of each workload, and their geometric mean"] = ratios.name
    if report.draw(runs, latencies):
        charts["How many updates take longer than a time"] = latencies.name
    return charts


def _growth(names: list[str], peer: str | None, up_to: float, page: Path | None) -> None:
    unknown = [name for name in names if name not in growth.GROWING]
    if unknown:
        there = ", ".join(growth.GROWING)
        raise BenchmarkError(f"{', '.join(unknown)}: only {there} can be grown")
    names = names or list(growth.GROWING)
    page = page or INPUTS / "growth.md"
    with _progress() as progress:
        task = progress.add_task("", total=len(names) * (growth.SIZES + 1))
        sides = [OURS, *([_peer(peer, names)] if peer else [])]
        commands = {side: side.prepare() for side in sides}

        def step(what: str) -> None:
            progress.update(task, description=what, advance=1)

        found = [growth.grow(name, commands, up_to, INPUTS, step) for name in names]
    machine = bounds.machine(commands.get(PEERS["differential"]), [])
    chart = page.with_suffix(".svg")
    growth.draw(found, chart)
    page.write_text(growth.page(found, machine, up_to, chart.name))
    Console().print(f"{page} has what the workloads cost as they grow", highlight=False)


def _rounds(scale: str, page: Path | None) -> None:
    if scale not in SIZES:
        raise BenchmarkError(f"rounds has no scale {scale!r}, but {', '.join(SIZES)}")
    found = rounds.figure(scale)
    page = page or INPUTS / "rounds.md"
    chart = page.with_suffix(".svg")
    rounds.draw(found, chart)
    page.write_text(rounds.page(found, scale, chart.name))
    Console().print(f"{page} has the differences in each round", highlight=False)


def _scale(size: str, json: Path | None, page: Path | None) -> None:
    page = page or INPUTS / "scale.md"
    with _progress() as progress:
        task = progress.add_task("", total=len(shards.WORKLOADS) * len(shards.MEMBERS))
        found = shards.measure(
            size, page, lambda what: progress.update(task, description=what, advance=1)
        )
    if json:
        json.write_text(shards.as_json(found))
    Console().print(f"{page} has what a cluster costs as it grows", highlight=False)


def _pipeline(run: Callable[[str, Console], list[Result]], scale: str, json: Path | None) -> None:
    found = run(scale, console)
    Console().print(report.table(found))
    if json:
        json.write_text(report.as_json(found))


def _service(scale: str, json: Path | None, page: Path | None) -> None:
    found = run_service(scale, console)
    if json:
        json.write_text(report.as_json(found.results))
    page = page or INPUTS / "service.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    chart = page.with_suffix(".svg")
    draw_service(found.taken, chart)
    machine = bounds.machine(None, [])
    page.write_text(service_page(found.results, machine, found.load, chart.name))
    Console().print(f"{page} has what the service takes", highlight=False)


def _streams(scale: str, peer: str | None, json: Path | None, page: Path | None) -> None:
    found = run_streams(scale, peer, console)
    if json:
        json.write_text(streams_as_json(found))
    page = page or INPUTS / "streams.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    chart = page.with_suffix(".svg")
    draw_streams(found, chart)
    page.write_text(streams_page(found, bounds.machine(None, []), chart.name))
    Console().print(f"{page} has what each system takes", highlight=False)


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
