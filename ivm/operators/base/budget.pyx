"""A budget bounds a hydration amid its steps, however long one of its activations takes.

Operators whose output is not bounded by their input look at it after so many updates that they have made, and
so does the schedule between any two activations. What it raises there ends the hydration as a shortage of memory
would: nothing is left of it, and nothing else has noticed.
"""

from libc.math cimport INFINITY
from posix.time cimport clock_gettime, timespec

from ivm.memory.process cimport resident_bytes

from ivm.errors import BudgetExceeded
from ivm.memory.huge_pages import waiting_bytes

cdef extern from "<time.h>" nogil:
    enum: CLOCK_MONOTONIC_COARSE

cdef enum:
    WORTH_STOPPING = 64 << 20       # bytes by which the process has grown, where it has too many

cdef double BETWEEN_LOOKS = 0.01    # seconds from one look at the process's memory to the next


# The time by a clock that is read in a few nanoseconds.
cdef inline double seconds_now() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return now.tv_sec + now.tv_nsec * 1e-9


# The bytes that this process has, less those that nobody uses.
cdef size_t used_bytes() except? 0 nogil:
    cdef size_t has = resident_bytes(), waiting
    with gil:
        waiting = waiting_bytes()
    return has - waiting if has > waiting else 0


cdef class Budget:
    """Bounds on a hydration that begins now: `seconds`, and `bytes` by which the process may grow meanwhile.

    Once the process has `process_bytes` in memory, a hydration ends in which it has grown. `stop` ends it
    from any thread.
    """

    def __init__(self, double seconds=INFINITY, *, size_t bytes=<size_t> -1, size_t process_bytes=<size_t> -1):
        self.seconds = seconds
        self.bytes = bytes
        self.process_bytes = process_bytes
        self.looked = seconds_now()
        self.until = self.looked + seconds
        self.before = used_bytes()
        self.stopped = False

    def stop(self) -> None:
        """End the hydration at its next look."""
        self.stopped = True

    cdef int look(self) except -1 nogil:
        cdef double now = seconds_now()
        if self.stopped:
            with gil:
                raise BudgetExceeded("it was stopped")
        if now > self.until:
            with gil:
                raise BudgetExceeded(f"it took more than {self.seconds:,g} seconds")
        if now - self.looked >= BETWEEN_LOOKS:
            self.looked = now
            return self.look_at_memory()
        return 0

    cdef int look_at_memory(self) except -1 nogil:
        cdef size_t has = used_bytes()
        cdef size_t grown = has - self.before if has > self.before else 0
        if grown > self.bytes:
            with gil:
                raise BudgetExceeded(f"memory has grown by more than {self.bytes:,} bytes meanwhile")
        if grown > WORTH_STOPPING and has > self.process_bytes:
            with gil:
                raise BudgetExceeded(f"the process has more than {self.process_bytes:,} bytes in memory")
        return 0
