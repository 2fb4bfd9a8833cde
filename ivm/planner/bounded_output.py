"""Bounded output: finds the plans that bound the output of their stages before they run.

A join of two arrangements that the pool has can count its pairs, and most other operators put out
about as much as they read. So a dataflow that reads little, by such stages alone, is little.
"""

from collections.abc import Iterable

from ivm.physical.loop_operations import LoopOperation
from ivm.physical.operation import Operation
from ivm.planner.join import JoinOperation


def foreseeable(operations: Iterable[Operation | LoopOperation]) -> bool:
    """Whether the inputs of `operations` bound their output before they run."""
    return all(each.puts_out_what_it_reads or _counts_pairs(each) for each in operations)


def _counts_pairs(operation: Operation | LoopOperation) -> bool:
    """Whether it is a join of arrangements that are there before it runs."""
    return isinstance(operation, JoinOperation) and operation.left.found and operation.right.found
