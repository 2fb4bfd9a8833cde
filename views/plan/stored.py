"""Recognises plans that read one stored collection, all rows or some, under other numbers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import assert_never

from ivm.dataflow.expressions import Column, Expression
from views.plan.nodes import (
    Apply,
    Constant,
    Distinct,
    Except,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
    remembered,
)

MAX_ORDERED = 4  # keys of a join whose orders are tried


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows of the collection `name`, all of them if `whole`; `columns` maps numbers to names."""

    name: str
    whole: bool
    columns: Mapping[int, str]

    def arrangement(self, keys: Sequence[Expression]) -> str | None:
        """Names the collection's arrangement by `keys` for the pool, if these are its columns."""
        names = [self.columns[k.index] for k in keys if isinstance(k, Column)]
        return f"{self.name}[{', '.join(names)}]" if len(set(names)) == len(keys) else None

    def arranged_order(
        self, keys: Sequence[Expression], arrangements: Collection[str]
    ) -> tuple[int, ...] | None:
        """Orders the indices of `keys` as one of `arrangements` does; None if none has these."""
        if len(keys) > MAX_ORDERED:
            return None
        for order in permutations(range(len(keys))):
            if self.arrangement([keys[i] for i in order]) in arrangements:
                return order
        return None


@remembered
def stored(plan: Plan) -> Stored | None:
    """Recognises the collection that `plan` keeps rows of, if it does nothing else."""
    match plan:
        case Get():
            return Stored(plan.name, True, {a.number: a.name for a in plan.attributes})
        case Filter():
            below = stored(plan.input)
            return None if below is None else Stored(below.name, False, below.columns)
        case Map() if all(isinstance(e, Column) for _, e in plan.outputs):
            below = stored(plan.input)
            if below is None:
                return None
            pairs = ((a.number, e.index) for a, e in plan.outputs if isinstance(e, Column))
            return Stored(below.name, below.whole, {n: below.columns[i] for n, i in pairs})
        case Map() | Constant() | Recursive() | TemporalFilter() | Join() | Apply() | Reduce():
            return None
        case Distinct() | Union() | Except() | TopK() | Window() | Unnest() | Iterate():
            return None
        case _:
            assert_never(plan)
