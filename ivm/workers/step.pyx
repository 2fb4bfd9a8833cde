"""A step: all stages of the root scope, in order, without the GIL."""

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.operator cimport Region
from ivm.workers.stage cimport Stage


def run_step(Region region, stages, uint64_t lower, uint64_t upper):
    """Run the root `stages` to completion on all updates at times from `lower` to below `upper`.

    Stages without input cost a look. Upstream stages come first.
    """
    cdef vector[void*] order
    cdef size_t s
    for stage in stages:
        order.push_back(<void*> (<Stage?> stage))
    region.lower = lower
    region.upper = upper
    with nogil:
        for s in range(order.size()):
            if (<Stage> order[s]).load() > 0:
                (<Stage> order[s]).run()
        for s in range(order.size()):
            (<Stage> order[s]).rest()
            (<Stage> order[s]).settle()
