"""Workloads of `benchmarks/` computed anew by DuckDB: `WORKLOAD FILE WORKERS PHASE…`.

That is what one does without views: a query with a recursive CTE, which is run again after each
change. Of a case with many rounds only the last few are run, with the changes of all. It prints no
differences. Not here is what DuckDB cannot say: mutual recursion, and loops in loops.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter_ns

import duckdb
import numpy as np

from benchmarks.digest import Answer
from benchmarks.inputs import Pairs
from benchmarks.programs import Replacing
from benchmarks.workload import Phase
from ivm.dataflow.nodes import Node

TIMED = 3  # rounds of a case

REACHED = """
with recursive reached(node) as (
    select src from roots
    union select e.dst from reached r join edges e on r.node = e.src
)
select node, 0 from reached
"""
DISTANCES = """
with recursive distances(node, distance) using key (node) as (
    select src, 0 from roots
    union select e.dst, min(d.distance) + 1 from distances d join edges e on d.node = e.src
    where not exists (select 1 from recurring.distances k where k.node = e.dst)
    group by e.dst
)
select node, distance from distances
"""
COMPONENTS = """
with recursive links as (select src, dst from edges union select dst, src from edges),
labels(node, label) using key (node) as (
    select src, src from links group by src
    union select e.dst, min(l.label) from labels l join links e on l.node = e.src
    join recurring.labels k on k.node = e.dst
    where l.label < k.label group by e.dst
)
select node, label from labels
"""
CLOSURE = """
with recursive closure(x, y) as (
    select src, dst from edges
    union select c.x, e.dst from closure c join edges e on c.y = e.src
)
select x, y from closure
"""
DESCENDANTS = """
with recursive found(x, y) as (
    select a.x, e.dst from asked a join edges e on a.x = e.src
    union select f.x, e.dst from found f join edges e on f.y = e.src
)
select x, y from found
"""
ANCESTORS = """
with recursive found(y, x) as (
    select e.src, a.x from asked a join edges e on a.x = e.dst
    union select e.src, f.x from found f join edges e on f.y = e.dst
)
select y, x from found
"""
SAME = """
with recursive same(x, y) as (
    select a.dst, b.dst from edges a join edges b on a.src = b.src where a.dst <> b.dst
    union select a.dst, b.dst from same s join edges a on s.x = a.src join edges b on s.y = b.src
)
select x, y from same
"""
NULLS = """
with recursive may_be_null(origin, variable) as (
    select origin, variable from nulls
    union select n.origin, a.target from may_be_null n join assigned a on n.variable = a.source
)
select origin, variable from may_be_null
"""
QUERIES = {
    "reach": REACHED,
    "distances": DISTANCES,
    "components": COMPONENTS,
    "tc": CLOSURE,
    "sg": SAME,
    "tc(x,?)": DESCENDANTS,
    "tc(?,x)": ANCESTORS,
    "sg(x,?)": f"{SAME} where x in (select x from asked)",
    "dataflow": NULLS,
}


class Recomputed:
    """A course whose program is a query: tables have no index."""

    def __init__(
        self, workers: int, tables: Mapping[str, Sequence[str]], _: Mapping[str, Node | str]
    ) -> None:
        self._db = duckdb.connect(config={"threads": workers})
        self._tables = tables
        self._query: str | None = None
        self._answer = Answer()
        for name, columns in tables.items():
            self._db.execute(f"create table {name} ({', '.join(f'{c} integer' for c in columns)})")

    def load(self, **tables: Pairs) -> int:
        """Insert rows."""
        began = perf_counter_ns()
        for name, rows in tables.items():
            self._db.execute(f"insert into {name} from {self._view(name, rows)}")
        self._query = None
        return perf_counter_ns() - began

    def start(self, program: str) -> int:
        """Run a query for the first time."""
        self._query = QUERIES.get(program)
        return self._run()

    def arrange(self, name: str, node: Node, key: str) -> int:
        """Arrange nothing: an index serves look-ups, and joins of all rows have no use for one."""
        self._query = None
        return 0

    def follow(self, phase: Phase, *tables: Replacing) -> Iterator[None]:
        """Run the query again after each of the last rounds."""
        timed = min(TIMED, phase.rounds)
        for table in tables:
            self._replace(table, (phase.rounds - timed) * phase.size)
        took = []
        for _ in range(timed):
            for table in tables:
                self._replace(table, phase.size)
            took.append(self._run())
            yield
        self.report(phase.case, took)

    def report(self, case: str, took: list[int]) -> None:
        """Print a case of a query."""
        if self._query:
            line = {"case": case, "ns": took, "rows": self._answer.rows, "sum": self._answer.sum}
            print(json.dumps(line | {"differences": None}), flush=True)

    def _run(self) -> int:
        if self._query is None:
            return 0
        began = perf_counter_ns()
        found = self._db.sql(self._query).to_arrow_table()
        took = perf_counter_ns() - began
        words = [c.to_numpy().astype(np.int64).view(np.uint64) for c in found.columns]
        self._answer = Answer()
        self._answer.absorb(words, np.ones(len(found), np.int64))
        return took

    def _replace(self, table: Replacing, count: int) -> None:
        removed, inserted = table.next(count)
        name, columns = table.table, ", ".join(self._tables[table.table])
        self._db.execute(f"insert into {name} from {self._view(name, inserted)}")
        numbered = f"row_number() over (partition by {columns}) as copy"
        self._db.execute(f"""
            delete from {name} where rowid in (
                select there.place
                from (select rowid as place, {columns}, {numbered} from {name}) there
                join (select *, {numbered} from {self._view(name, removed)}) gone
                using ({columns}, copy)
            )
        """)

    def _view(self, name: str, rows: Pairs) -> str:
        """The name of a view of `rows`, with the columns of table `name`."""
        columns = rows.T.astype(np.int32)
        self._db.register("given", dict(zip(self._tables[name], columns, strict=True)))
        return "given"


def main(name: str, file: str, workers: str, *phases: str) -> None:
    """Run the workload `name` over the input `file`."""
    course = import_module(f"benchmarks.{name}").run(
        Path(file), int(workers), [Phase.parse(text) for text in phases], Recomputed
    )
    for _ in course:
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
