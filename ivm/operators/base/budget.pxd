# The bound of a hydration, which operators at work look at now and then.
cdef class Budget:
    cdef readonly double seconds
    cdef readonly size_t bytes
    cdef readonly size_t process_bytes
    cdef double until               # by the coarse clock
    cdef double looked              # when it was last seen what the process has
    cdef size_t before              # bytes that the process had at the beginning
    cdef readonly bint stopped
    # Raises BudgetExceeded if it is used up or was stopped.
    cdef int look(self) except -1 nogil
    cdef int look_at_memory(self) except -1 nogil
