from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector


cdef class Schedule:
    cdef readonly int64_t published
    cdef dict stages                    # of each that was added, in order; values are None
    cdef uint64_t next_place
    cdef int loops                      # stages that are loops
    cdef uint64_t lower                 # of the present step
    cdef uint64_t upper
    cdef object budget                  # of all that it runs, or None
    cdef int timed                      # of its first steps, how many were timed,
    cdef int untimed                    # and how many it has run since one was timed
    cdef int weight                     # of the present step's activations of few updates
    # Borrowed from `stages`:
    cdef vector[void*] inputs           # stages that read nothing
    cdef vector[void*] ready            # stages to run, the next one last
    cdef vector[void*] ran              # stages that have run in the present or last step
    cdef vector[void*] meetings         # stages at which members of a cluster meet, by place
    cdef size_t met                     # how many of these are behind, in the present step
    cdef vector[void*] merging          # stages whose traces helpers merge beside the steps
    cdef size_t settled                 # how many of these are done
    cdef readonly Py_ssize_t passed     # stages that the present or last step has passed, whether anything came or not
    cdef void* running
    cpdef int run(self, uint64_t lower, uint64_t upper) except -1
    cpdef int catch_up(self, list stages, uint64_t lower, uint64_t upper) except -1
    cdef int weight_of_step(self) noexcept nogil
    cdef int append(self, stages) except -1
    cdef int complete(self, uint64_t lower, uint64_t upper) except -1
    cdef void stop(self) noexcept
    cpdef int publish_all(self) except -1
    cdef int call(self, void* stage) except -1 nogil
    cdef int drain(self) except -1 nogil
    cdef int meet(self) except -1 nogil
    cdef int take_merged(self) except -1 nogil
    cdef int read(self, void* stage) except -1 nogil
