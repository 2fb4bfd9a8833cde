"""Our side of a comparison, in a process of its own.

`python -m benchmarks.run NAME FILE WORKERS PHASE… [-- PHASE…]…` prints a line of JSON for each
case, and one once what is before the first `--` has run. With several numbers of workers (`2,1`) as
many courses run in turn, and a line tells which one goes on. Python's garbage collector does not
run meanwhile: what it would look through are the outputs that the benchmark keeps, since a pool
leaves it nothing.
"""

import gc
import json
import sys
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

    parts: list[list[Phase]] = [[]]
    for word in phases:
        if word == "--":
            parts.append([])
        else:
            parts[-1].append(Phase.parse(word))
    for i, part in enumerate(parts):
        run_in_turn([workload.run(Path(file), number, part) for number in each], announce)
        gc.collect()
        if i == 0 and len(parts) > 1:
            print(json.dumps({"rehearsed": True}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
