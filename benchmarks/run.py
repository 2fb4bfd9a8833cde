"""Our side of a comparison, in a process of its own.

`python -m benchmarks.run NAME FILE WORKERS [PHASE… --] PHASE…` prints a line of JSON for each case,
and one once what is before `--` has run. It may take turns with another one (`benchmarks.turns`).
Python's garbage collector does not run meanwhile: what it would look through are the outputs that
the benchmark keeps, since a pool leaves it nothing.
"""

import gc
import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.turns import TURNS
from benchmarks.workload import Phase, Workload


def main(name: str, file: str, workers: str, *phases: str) -> None:
    """Run the workload `name` over the input `file`."""
    gc.disable()
    TURNS.begin()
    workload: Workload = import_module(f"benchmarks.{name}").WORKLOAD
    if "--" in phases:
        end = phases.index("--")
        workload.run(Path(file), int(workers), [Phase.parse(phase) for phase in phases[:end]])
        gc.collect()
        print(json.dumps({"rehearsed": True}), flush=True)
        phases = phases[end + 1 :]
    workload.run(Path(file), int(workers), [Phase.parse(phase) for phase in phases])


if __name__ == "__main__":
    main(*sys.argv[1:])
