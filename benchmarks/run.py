"""Our side of a comparison, in a process of its own.

`python -m benchmarks.run NAME FILE WORKERS [PHASE… --] PHASE…` prints a line of JSON for each case,
and one once what is before `--` has run. With several numbers of workers (`2,1`) as many courses
run in turn, and a line tells which one goes on. Python's garbage collector does not run meanwhile:
what it would look through are the outputs that the benchmark keeps, since a pool leaves it nothing.
"""

import gc
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.turns import run_in_turn
from benchmarks.workload import Phase, Workload


def main(name: str, file: str, workers: str, *phases: str) -> None:
    """Run the workload `name` over the input `file`."""
    gc.disable()
    workload: Workload = import_module(f"benchmarks.{name}").WORKLOAD
    each = [int(number) for number in workers.split(",")]

    def announce(course: int) -> None:
        if len(each) > 1:
            print(json.dumps({"course": course}), flush=True)

    def run(phases: Sequence[str]) -> None:
        parsed = [Phase.parse(phase) for phase in phases]
        run_in_turn([workload.run(Path(file), number, parsed) for number in each], announce)

    if "--" in phases:
        end = phases.index("--")
        run(phases[:end])
        gc.collect()
        print(json.dumps({"rehearsed": True}), flush=True)
        phases = phases[end + 1 :]
    run(phases)


if __name__ == "__main__":
    main(*sys.argv[1:])
