"""A step: all stages of the root scope, in order, without the GIL."""

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.operator cimport Region
from ivm.workers.stage cimport Stage


class StageFailed(MemoryError):
    """Memory was too short for `stage`, one of the root's."""

    def __init__(self, stage, reason):
        super().__init__(reason)
        self.stage = stage


def run_step(Region region, list stages, uint64_t lower, uint64_t upper):
    """Run the root `stages` to completion on all updates at times from `lower` to below `upper`.

    Stages without input cost a look. Upstream stages come first. Raises StageFailed; then some
    stages have run and some have not.
    """
    cdef vector[void*] order
    cdef size_t s = 0
    for stage in stages:
        order.push_back(<void*> (<Stage?> stage))
    region.lower = lower
    region.upper = upper
    try:
        with nogil:
            for s in range(order.size()):
                if (<Stage> order[s]).load() > 0:
                    (<Stage> order[s]).run()
            for s in range(order.size()):
                (<Stage> order[s]).rest()
                (<Stage> order[s]).settle()
    except MemoryError as shortage:
        raise StageFailed(stages[s], str(shortage)) from shortage
