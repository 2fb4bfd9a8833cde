"""`python -m tests.fuzz`: many inputs on all processors; fails on a crash or a hang."""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from tests.fuzz.inputs import LANGUAGES
from tests.fuzz.run import Finding, judge

_CHUNK = 500
_SHOWN = 400


def main() -> int:
    """The number of different faults found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="how many, of all languages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    console = Console()
    faults: dict[tuple[str, str], Finding] = {}
    views = 0
    each = -(-given.inputs // len(LANGUAGES))
    with (
        Progress("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                 console=console) as progress,
        ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool,
    ):  # fmt: skip
        task = progress.add_task("inputs", total=each * len(LANGUAGES))
        chunks = {
            pool.submit(judge, language, given.seed, range(start, end)): end - start
            for start in range(0, each, _CHUNK)
            for language in LANGUAGES
            for end in [min(each, start + _CHUNK)]
        }
        for chunk in as_completed(chunks):
            findings, compiled = chunk.result()
            views += compiled
            for finding in findings:
                if (finding.language, finding.where) not in faults:
                    faults[finding.language, finding.where] = finding
                    _show(console, finding)
            progress.advance(task, chunks[chunk])
    console.print(f"{each * len(LANGUAGES)} inputs, {views} views, {len(faults)} faults")
    return min(len(faults), 1)


def _show(console: Console, finding: Finding) -> None:
    console.print(f"[red]{finding.language} {finding.number}:[/] {escape(finding.what)}")
    console.print(f"  {escape(finding.where)}")
    console.print(f"  {escape(repr(finding.text[:_SHOWN]))}")


if __name__ == "__main__":
    sys.exit(main())
