"""The pool maintains recursive views of every syntax through insertions and deletions."""

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.pool import Pool
from tests.property.recursive_programs import CATALOG, PROGRAMS, Tables
from tests.property.shop import rows_of
from views.compile import compile_view

VIEWS = [compile_view(p.text, CATALOG, language=p.language) for p in PROGRAMS]

_node = st.integers(1, 6)
_pairs = st.frozensets(st.tuples(_node, _node), max_size=9)
_costs = st.dictionaries(st.tuples(_node, _node), st.integers(1, 3), max_size=9)
_roads = _costs.map(lambda found: frozenset((*pair, cost) for pair, cost in found.items()))
_parts = _roads.map(lambda found: frozenset(row for row in found if row[0] < row[1]))
_triples = st.frozensets(st.tuples(_node, _node, st.integers(1, 2)), max_size=4)
tables = st.fixed_dictionaries({
    "edges": _pairs,
    "roads": _roads,
    "parts": _parts,
    "news": _pairs,
    "copies": _pairs,
    "loads": _triples,
    "stores": _triples.map(lambda rows: frozenset((b, f, s) for b, s, f in rows)),
})  # fmt: skip


def feed(pool: Pool, old: Tables, new: Tables, time: int) -> None:
    """Lead the inputs from `old` to `new` at `time`."""
    for table in CATALOG.tables:
        gone, come = old[table.name] - new[table.name], new[table.name] - old[table.name]
        rows = [*sorted(gone), *sorted(come)]
        columns = [pa.array([r[i] for r in rows], f.type) for i, f in enumerate(table.schema)]
        diffs = np.array([-1] * len(gone) + [1] * len(come), dtype=np.int64)
        pool.feed(table.name, pa.RecordBatch.from_arrays(columns, schema=table.schema), diffs, time)
    pool.advance(time + 1)


@given(history=st.lists(tables, min_size=2, max_size=4))
@settings(max_examples=12, deadline=None)
def test_recursive_views_follow_their_inputs(history: list[Tables]) -> None:
    pool = Pool()
    held: Tables = {table.name: frozenset() for table in CATALOG.tables}
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    for i, view in enumerate(VIEWS):
        pool.install(f"view{i}", view.node, view.key)
    for time, target in enumerate([*history, held]):
        feed(pool, held, target, time)
        held = target
        for i, program in enumerate(PROGRAMS):
            found = pool.scan(f"view{i}")
            rows = rows_of(found.rows, found.counts)
            told = f"{program.name} in {program.language}"
            assert rows == Counter(program.expected(held)), told
