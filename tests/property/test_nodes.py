"""The nodes of the laws mean something: each has rows for some inputs."""

from collections import Counter
from random import Random

import pytest

from tests.oracle import Row, evaluate
from tests.property.nodes import NODES


@pytest.mark.parametrize("name", NODES)
def test_a_node_has_rows_for_most_dense_inputs(name: str) -> None:
    random = Random(1)
    filled = 0
    for _ in range(10):
        people = [(i, random.choice("ab"), random.randint(0, 3), None, 0.5) for i in range(5)]
        edges = [(random.randint(0, 6), random.randint(0, 6)) for _ in range(10)]
        inputs: dict[str, Counter[Row]] = {"people": Counter(people), "edges": Counter(edges)}
        filled += bool(evaluate(NODES[name], inputs).rows)
    assert filled >= 5
