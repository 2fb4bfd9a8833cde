"""The independent judge: plain-Python evaluation of a dataflow over whole collections.

It recomputes everything from the words of `ivm.dataflow` alone and shares no code with the engine,
so that an agreement of the two means something. Rows are tuples of Python values in the types that
pyarrow's `to_pylist` gives; NaN is always `tests.oracle.values.NAN`.
"""

from collections import Counter
from collections.abc import Mapping

from ivm.dataflow.nodes import Node
from tests.oracle.nodes import Evaluator, Result, Row
from tests.oracle.values import canonical

__all__ = ["Result", "Row", "evaluate"]


def evaluate(node: Node, inputs: Mapping[str, Mapping[Row, int]]) -> Result:
    """The collection that `node` denotes when its inputs hold `inputs` (row -> count).

    `rows` has no zero counts. `errors` counts messages of rows that could not be computed; compare
    its emptiness, as messages and their multiplicity are the evaluator's own. Raises NoFixedPoint.
    """
    return Evaluator(
        {
            name: Counter({tuple(canonical(v) for v in row): n for row, n in rows.items() if n})
            for name, rows in inputs.items()
        }
    ).value(node)
