cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Region
from ivm.rows.interner cimport Interner
from ivm.runtime.account cimport RoundAccount
from ivm.runtime.stage cimport Stage

# The causes for which a loop is stopped.
cdef enum Failure:
    NONE = 0
    ROUNDS      # more than the pool's bound
    LIMIT       # more than its own
    UPDATES
    SECONDS
    BYTES
    PROCESS     # more bytes than the process may have
    OVERFLOW


# The stages of a loop's body, run round by round. Those that nothing has reached are not looked at.
cdef class Loop(Stage):
    cdef readonly Region region
    cdef readonly tuple stages
    cdef vector[void*] body             # borrowed from `stages`
    cdef vector[void*] entrances        # those of the body that read what is outside
    cdef vector[void*] exits            # those of the body that are read outside
    cdef vector[void*] parking          # those that may hold updates back
    cdef vector[void*] variables        # those that are its names
    cdef vector[size_t] meetings        # numbers of those at which members of a cluster meet
    cdef RoundAccount rounds
    cdef readonly tuple names           # of the bindings: for each stage of the body, the one that it is of
    cdef readonly uint64_t max_rounds
    cdef readonly bint limited          # whether these are its own limit, and not the pool's
    cdef readonly uint64_t max_updates
    cdef readonly uint64_t max_bytes
    cdef readonly uint64_t max_process_bytes
    cdef readonly double max_seconds
    cdef Interner interner              # of the strings in its names' rows; None if these have none
    cdef int unchecked                  # rounds of the outermost loop since its other bounds were checked, in this step
    cdef uint64_t checked               # and what it was given when its memory was weighed
    cdef double began                   # when they were first checked, or a negative number
    cdef uint64_t before                # and the bytes that it held then
    cdef uint64_t strings               # and the bytes of all strings when the step began
    cdef Failure failed                 # why it was stopped, if it was, and will not run again,
    cdef uint64_t failed_at             # in which round,
    cdef size_t failed_in               # and in which stage of its body
    cdef void enter(self) noexcept nogil
    cdef bint round(self) except -1 nogil
    @cython.final
    cdef uint64_t variable_rows(self) noexcept nogil
    cdef int rest_body(self) except -1 nogil
    cdef bint next_round(self) except -1 nogil
    # The number of the meeting at stage `s` of the body, or at its end.
    cdef uint64_t place_of(self, size_t s) noexcept nogil
    cdef uint64_t next_work(self, size_t s) noexcept nogil
    cdef bint meet_at(self, size_t* meeting) except -1 nogil
    cdef int tell_failure(self, size_t meeting) except -1 nogil
    cdef void stop_at_bounds(self) noexcept nogil
    cdef tuple bound(self)
    cdef void check(self) noexcept nogil
    cdef Failure weigh(self, Interner interner) noexcept nogil
    cdef size_t changing(self) noexcept nogil
    cdef void fail(self, Failure cause, size_t stage) noexcept nogil


# Lets `stage` follow the stages of `owner`, a schedule or a loop, that `part` of it reads: itself, or a
# stage of its body; whether that reads others as well.
cdef bint follow(Stage stage, Stage part, void* owner) except -1
