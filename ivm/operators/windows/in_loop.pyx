"""Window functions in loops, as the logic of a reduce over whole groups."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.operators.windows.rows cimport Stretch
from ivm.operators.windows.functions cimport WindowFunction
from ivm.rows.updates cimport Updates, push
from ivm.trace.sorting.sort cimport consolidate


cdef class WindowLogic(Logic):
    """Puts out value words, 0 or an error's word, and `result_words` words of results for each row.

    Values are in the format of `ordering`; the calls order by its first `order_words` words.
    """

    cdef tuple functions
    cdef vector[void*] calls            # the functions
    cdef int stride                     # words of a row's results, with the error
    cdef Stretch rows
    cdef vector[uint64_t] before        # the state before the group: none
    cdef vector[uint64_t] results

    def __init__(self, Ordering ordering, int order_words, tuple functions, int result_words):
        cdef WindowFunction call
        self.ordering = ordering
        self.functions = functions
        self.stride = result_words + 1
        self.out_words = ordering.words + self.stride
        self.rows = Stretch(order_words)
        for call in functions:
            self.calls.push_back(<void*> call)
            self.before.resize(max(self.before.size(), <size_t> call.state_words), 0)

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef Candidate candidate
        cdef Py_ssize_t i
        cdef uint64_t* update
        cdef int words = self.ordering.words
        self.ordering.sort(group)
        self.rows.clear()
        for candidate in group[0]:
            self.rows.append(candidate.val, candidate.count)
        self.rows.close()
        self._evaluate()
        for i in range(self.rows.length()):
            update = push(result)
            if update == NULL:
                self._no_memory()
            memcpy(update, self.rows.rows[i], words * sizeof(uint64_t))
            memcpy(update + words, self.results.data() + i * self.stride,
                   self.stride * sizeof(uint64_t))
            update[self.out_words] = 1
        if self.rows.length() > <Py_ssize_t> group.size() and consolidate(result) < 0:
            self._no_memory()       # copies may have the same results
        return 0

    cdef int _evaluate(self) except -1 nogil:
        cdef void* call
        cdef Py_ssize_t n = self.rows.length()
        self.results.clear()
        self.results.resize(n * self.stride, 0)
        for call in self.calls:
            (<WindowFunction> call).evaluate(
                self.rows, 0, n, self.before.data(), self.results.data(), self.stride)
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for the results of window functions")
