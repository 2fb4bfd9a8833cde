from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator
from ivm.operators.reductions.agenda cimport Agenda
from ivm.rows.hashing cimport Partitioner
from ivm.rows.updates cimport Updates


# A reduction in a loop: it takes its input, and evaluates keys when the sweep comes to the times at which
# they are due.
cdef class Sweeping(Operator):
    cdef Operator source
    cdef Partitioner partitioner
    cdef Agenda agenda              # touched keys to evaluate, by sweep time
    cdef int key_words
    cdef Updates* into              # where to put changes of the output
    cdef vector[uint32_t] places    # touched keys to evaluate at the present time
    # Adds the input to its keys' histories and puts the keys on the agenda; that of any shard's keys for
    # their owners.
    cdef int take_input(self) except -1 nogil
    cdef int take_for_owners(self, const vector[void*]* shards) except -1 nogil
    # Evaluates every one of `places` at `time`, once, and puts the changes of the output `into`.
    cdef int evaluate_all(self, const uint64_t* time) except -1 nogil
    # Gives memory back at the end of a step.
    cdef void rest_agenda(self) noexcept nogil
    cdef bint _is_due(self) noexcept nogil
    cdef int _hand_out_all(self, const vector[void*]* shards) except -1 nogil
    cdef int _evaluate_due(self, Updates* into) except -1 nogil
