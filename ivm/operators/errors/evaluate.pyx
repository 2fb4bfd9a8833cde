"""Fallible operators: expressions and aggregates whose results may be row errors.

An error is an update of the error collection with the row's own time and diff, so that it goes away when the
row does.
"""

from libc.stdint cimport uint64_t

from ivm.operators.base.flatten cimport Place, find_part, read_updates
from ivm.operators.base.operator cimport WORTH_LOOKING, Operator, Reader, Region, let_go, spend
from ivm.operators.errors.split_errors cimport Settling
from ivm.rows.packing cimport Packing
from ivm.expressions.program cimport Program
from ivm.rows.updates cimport Updates, empty_updates, release, reserve
from ivm.expressions.kernels.vectors cimport VECTOR
from ivm.trace.batch cimport Batch


cdef class Fallible(Operator):
    """An operator with an error collection beside its output."""

    def __cinit__(self, Region region, int row_words, *args):
        self.errors = empty_updates(1, region.depth)

    def __dealloc__(self):
        release(&self.errors)

    cdef bint troubled(self) noexcept nogil:
        return self.errors.length > 0

    cdef void abandon(self) noexcept nogil:
        self.out.length = 0
        self.errors.length = 0


cdef class Evaluate(Fallible):
    """Filters and maps each update of `source` by `program`.

    The source may hand over its rows while it is at work (`take`), so that they stay in the cache.
    """

    def __init__(self, Region region, int row_words, Operator source, Program program):
        self.source = source
        self.program = program
        self.taken = 0
        source.evaluated_by(self)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length + self.taken

    cdef int take(self) except -1 nogil:
        if self.taken == 0:
            self.out.length = 0
        self.taken += self.source.out.length
        self.program.apply(&self.source.out, &self.out, &self.errors)
        self.source.out.length = 0
        return 0

    cdef int step(self) except -1 nogil:
        if self.taken == 0:
            self.out.length = 0
        if self.source.out.length > 0:
            self._evaluate()
            let_go(self.source)
        self.taken = 0
        return 0

    # Evaluates the source's updates: where there is a budget, some at a time, to look at it between.
    cdef int _evaluate(self) except -1 nogil:
        cdef Updates some = self.source.out
        cdef Py_ssize_t left = some.length, most = left if self.region.budget == NULL else <Py_ssize_t> WORTH_LOOKING
        while left > 0:
            some.length = min(left, most)
            self.program.apply(&some, &self.out, &self.errors)
            spend(self, some.length)
            some.words += some.length * some.stride
            left -= some.length
        return 0

    cdef void abandon(self) noexcept nogil:
        Fallible.abandon(self)
        self.taken = 0


cdef class EvaluateNew(Fallible):
    """Filters and maps the new updates of an arrangement by `program`; `packing` makes a row of (key, value).

    Few rows are whole at a time, so that they stay in the cache.
    """

    cdef readonly Reader reader
    cdef Packing packing
    cdef Program program
    cdef Updates whole

    def __init__(self, Region region, int row_words, Reader reader, Packing packing,
                 Program program):
        self.slices = True
        self.reader = reader
        self.packing = packing
        self.program = program
        self.whole = empty_updates(packing.words, region.depth)

    def __dealloc__(self):
        release(&self.whole)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        cdef Place place
        cdef Py_ssize_t left
        self.out.length = 0
        self.reader.look(self.region)
        for b in self.reader.delta:
            left = find_part(b, self, &place)
            if reserve(&self.whole, min(left, <Py_ssize_t> VECTOR)) < 0:
                with gil:
                    raise MemoryError("no memory to read an arrangement")
            while left > 0:
                left -= read_updates(b, &place, min(left, <Py_ssize_t> VECTOR), self.region, self.packing,
                                     &self.whole)
                self.program.apply(&self.whole, &self.out, &self.errors)
                spend(self, self.whole.length)
                self.whole.length = 0
        return 0


cdef class Settle(Fallible):
    """Splits rows of (key, error, value) into rows and errors by `settling`; the key has `key_words`
    words.
    """

    cdef Operator source
    cdef Settling settling
    cdef int key_words

    def __init__(self, Region region, int row_words, Operator source, int key_words,
                 Settling settling):
        self.source = source
        self.settling = settling
        self.key_words = key_words

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef const uint64_t* update
        self.out.length = 0
        if reserve(&self.out, self.source.out.length) < 0:
            with gil:
                raise MemoryError("no memory for the output of an aggregate or a window")
        for i in range(self.source.out.length):
            update = self.source.out.words + i * self.source.out.stride
            self.settling.settle(update, update + self.key_words,
                                 update + self.source.out.row_words, &self.out, &self.errors)
        return 0
