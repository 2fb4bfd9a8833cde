"""One relational vocabulary: a node of the plan bears the name of the dataflow node it becomes."""

from typing import get_args

from ivm.dataflow.nodes import KINDS
from views.plan.nodes import Plan

ONLY_PLANNED = {
    "Apply": "a rewrite turns it into joins",
    "Except": "a difference, of Negate and Union",
    "Unnest": "a FlatMap of one function",
}


def test_a_plan_node_has_the_name_of_its_dataflow_node() -> None:
    planned = {node.__name__ for node in get_args(Plan)}
    assert planned - {node.__name__ for node in KINDS} == set(ONLY_PLANNED)
