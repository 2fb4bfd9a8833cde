"""Own keeps the rows that this process owns, of a collection that every process has whole."""

from libc.stdint cimport uint64_t

from ivm.operators.base.operator cimport Operator, Region, let_go
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.updates cimport Updates, append, update_at


cdef class Own(Operator):
    """Keeps the rows of `source` whose owner among `members` processes is number `member`."""

    cdef Operator source
    cdef Partitioner partitioner
    cdef size_t member
    cdef size_t members

    def __init__(self, Region region, int row_words, Operator source, Partitioner partitioner,
                 size_t member, size_t members):
        self.source = source
        self.partitioner = partitioner
        self.member = member
        self.members = members

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef const Updates* given = &self.source.out
        cdef const uint64_t* update
        cdef Py_ssize_t i
        self.out.length = 0
        for i in range(given.length):
            update = update_at(given, i)
            if owner_of(update, self.members, self.partitioner) == self.member:
                if append(&self.out, update, 1) < 0:
                    with gil:
                        raise MemoryError("no memory for the rows of this process")
        let_go(self.source)
        return 0
