# Expressions over updates, evaluated in vectors.

from libc.stdint cimport uint32_t, uint64_t

from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates
from ivm.expressions.kernels.vectors cimport VECTOR, Frame, Instruction, Register

cdef struct Code:
    Instruction* instructions
    Py_ssize_t length
    Register* registers
    Py_ssize_t register_count


# The source of one output column.
cdef struct Output:
    const Register* source  # the values; or NULL: they are copied from the input row
    int from_word           # of the input row
    int from_bit            # its bit in the input's NULL masks, or -1
    int first               # word of the output row
    int width
    int bit                 # its bit in the output's NULL masks, or -1


# Used by one thread at a time.
cdef class Program:
    cdef readonly Layout input
    cdef readonly Layout output          # of the rows that pass
    cdef readonly bint keeps_rows        # outputs None: rows that pass stay as they are
    cdef Interner _interner
    cdef Frame _frame
    cdef Code* _predicates
    cdef Py_ssize_t _predicate_count
    cdef const Register** _conditions    # each predicate's result
    cdef Code _outputs_code
    cdef Output* _outputs
    cdef bint _may_reject                # an output can be an error
    cdef list _messages                  # texts of errors, from number 1 at index 0
    cdef list _routines                  # Python functions that the code calls
    cdef list _pins                      # words that the interner keeps for this program
    cdef uint32_t _selected[VECTOR]      # updates of the block that are left
    cdef uint32_t _picks[VECTOR]         # their positions in the outputs' registers

    # Appends the rows of `source` that pass every predicate, as outputs, to `rows`, and those with an
    # error to `errors` as one non-null utf8 word, the message. Times and diffs stay. Both
    # targets have `source`'s time_words. Raises MemoryError; then both are as before.
    cdef int apply(self, const Updates* source, Updates* rows, Updates* errors) except -1 nogil

    cdef int _apply_block(self, const Updates* source, Updates* rows, Updates* errors) noexcept nogil
    cdef int _filter(self, const Register* condition, Updates* errors, Py_ssize_t tail) noexcept nogil
    cdef int _reject(self, Updates* errors, Py_ssize_t tail) noexcept nogil
    cdef int _store(self, Updates* rows, const uint32_t* picks, Py_ssize_t tail) noexcept nogil
    cdef int _complain(self, Updates* errors, uint32_t row, uint32_t message, Py_ssize_t tail) noexcept nogil
