"""A program filters and maps updates by straight-line code, over vectors of 1024 rows.

One predicate after another narrows a vector; outputs are computed only for the rows that pass all of
them, so a row that a predicate removed cannot fail.
"""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import pyarrow as pa

from ivm.dataflow.expressions import Column
from ivm.expressions import functions
from ivm.expressions.compiler import Assembly

from ivm.rows.codec cimport decode, encode, encode_key
from ivm.expressions.error_text cimport complain
from ivm.rows.layout cimport STRING, Layout, Slot
from ivm.rows.interner cimport NO_STRING, Interner
from ivm.rows.updates cimport Updates, empty_updates, release, reserve
from ivm.expressions.kernels.vectors cimport VECTOR, Frame, Instruction, Kernel, Register, has_error


cdef inline uint64_t null_bit(const uint64_t* row, int64_t bit) noexcept nogil:
    """Gives bit `bit`, not below 0, of the masks with which `row` begins."""
    return (row[bit >> 6] >> (bit & 63)) & 1


cdef inline void note_null(uint64_t* row, int64_t bit, uint64_t is_null) noexcept nogil:
    """Sets bit `bit` of the masks of `row`, which is 0 so far, to `is_null`, which is 0 or 1."""
    row[bit >> 6] |= is_null << (bit & 63)


cdef void load(Frame* f, const Instruction* it) noexcept nogil:
    """Loads word `p` of the rows; NULL where bit `q` of the masks is set, if `q` is not -1."""
    cdef const uint64_t* row
    cdef Py_ssize_t i
    if f.selected == NULL:
        for i in range(f.n):
            it.out.words[i] = f.rows[i * f.stride + it.p]
        if it.q >= 0:
            for i in range(f.n):
                it.out.nulls[i] = null_bit(f.rows + i * f.stride, it.q)
        return
    for i in range(f.n):
        row = f.rows + f.selected[i] * f.stride
        it.out.words[i] = row[it.p]
        if it.q >= 0:
            it.out.nulls[i] = null_bit(row, it.q)


cdef void load_wide(Frame* f, const Instruction* it) noexcept nogil:
    """Loads the words `p` and `p` + 1, as `load` does one."""
    cdef const uint64_t* row
    cdef Py_ssize_t i
    for i in range(f.n):
        row = f.rows + (i if f.selected == NULL else f.selected[i]) * f.stride
        it.out.words[2 * i] = row[it.p]
        it.out.words[2 * i + 1] = row[it.p + 1]
        if it.q >= 0:
            it.out.nulls[i] = null_bit(row, it.q)


LOADS = {"load": <uintptr_t> <Kernel> load, "load_wide": <uintptr_t> <Kernel> load_wide}


cdef int make_register(Register* register, object cell, Interner interner, list pins) except -1:
    """Allocates a register, and fills it if its cell is a literal."""
    cdef uint64_t words[3]      # of a row of one column
    cdef const uint64_t* value
    cdef Layout layout
    cdef Py_ssize_t i
    register.width = cell.width
    register.words = <uint64_t*> calloc(VECTOR * register.width, sizeof(uint64_t))
    if cell.nullable:
        register.nulls = <uint8_t*> calloc(VECTOR, 1)
    if cell.fallible:
        register.errors = <uint32_t*> calloc(VECTOR, sizeof(uint32_t))
    if register.words == NULL or (cell.nullable and register.nulls == NULL) \
            or (cell.fallible and register.errors == NULL):
        raise MemoryError
    if cell.literal is None:
        return 0
    layout = Layout(pa.schema([pa.field("literal", cell.literal.type, cell.nullable)]))
    encode_key([cell.literal.value], layout, interner, words)
    value = words + layout.slots[0].first
    if layout.slots[0].kind == STRING:
        pin(value[0], interner, pins)
    for i in range(VECTOR):
        memcpy(register.words + i * register.width, value, register.width * sizeof(uint64_t))
        if cell.nullable:
            register.nulls[i] = 1
    return 0


cdef int pin(uint64_t word, Interner interner, list pins) except -1:
    interner.pin(word)
    pins.append(word)
    return 0


cdef const Register* register_at(const Code* code, object numbers, int position) except? NULL:
    if position >= len(numbers):
        return NULL
    return &code.registers[<Py_ssize_t> numbers[position]]


cdef int make_code(
    Code* code, object assembly, dict numbers, Interner interner, list pins, list routines
) except -1:
    """The code of an assembly; `numbers` collects the messages, numbered from 1."""
    cdef Instruction* it
    cdef Py_ssize_t i
    code.registers = <Register*> calloc(len(assembly.cells) + 1, sizeof(Register))
    code.instructions = <Instruction*> calloc(len(assembly.steps) + 1, sizeof(Instruction))
    if code.registers == NULL or code.instructions == NULL:
        raise MemoryError
    for cell in assembly.cells:
        code.register_count += 1
        make_register(&code.registers[code.register_count - 1], cell, interner, pins)
    for step in assembly.steps:
        it = &code.instructions[code.length]
        it.run = <Kernel> <uintptr_t> (LOADS.get(step.kernel) or functions.KERNELS[step.kernel])
        it.out = &code.registers[<Py_ssize_t> step.out]
        it.a = register_at(code, step.arguments, 0)
        it.b = register_at(code, step.arguments, 1)
        it.c = register_at(code, step.arguments, 2)
        it.given = <const Register**> calloc(len(step.arguments) + 1, sizeof(Register*))
        if it.given == NULL:
            raise MemoryError
        for i in range(len(step.arguments)):
            it.given[i] = register_at(code, step.arguments, i)
        it.count = len(step.arguments)
        it.p = step.p
        it.q = step.q
        if step.routine is not None:
            routines.append(step.routine)
            it.p = <int64_t> <uintptr_t> <void*> step.routine
        it.message = number_of(step.message, numbers)
        it.overflow = number_of(step.overflow, numbers)
        code.length += 1
    return 0


def number_of(message, dict numbers):
    """Number a message, from 1; 0 for None."""
    if message is None:
        return 0
    return numbers.setdefault(message, len(numbers) + 1)


cdef void run(const Code* code, Frame* frame) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(code.length):
        code.instructions[i].run(frame, &code.instructions[i])


cdef void free_code(Code* code) noexcept:
    cdef Py_ssize_t i
    for i in range(code.register_count):
        free(code.registers[i].words)
        free(code.registers[i].nulls)
        free(code.registers[i].errors)
    for i in range(code.length):
        free(code.instructions[i].given)
    free(code.registers)
    free(code.instructions)


@cython.no_gc_clear  # the interner is needed until the pins are gone
cdef class Program:
    """A program filters and maps rows of `schema`; raises Unsupported for an expression that it cannot run.

    `outputs` are (name, expression) pairs, or None to keep the rows. Literals stay interned while
    the program lives.
    """

    def __cinit__(self, schema, predicates, outputs, Interner interner):
        numbers = {}
        self._interner = interner
        self._pins = []
        self._routines = []
        self._frame.strings = interner.strings
        self.input = Layout(schema)
        self.keeps_rows = outputs is None
        self._make_predicates(schema, predicates, numbers)
        if self.keeps_rows:
            self.output = self.input
        else:
            self._make_outputs(schema, outputs, numbers)
        self._messages = list(numbers)

    def _make_predicates(self, schema, predicates, numbers):
        cdef Py_ssize_t i
        self._predicates = <Code*> calloc(len(predicates) + 1, sizeof(Code))
        self._conditions = <const Register**> calloc(len(predicates) + 1, sizeof(Register*))
        if self._predicates == NULL or self._conditions == NULL:
            raise MemoryError
        for i, predicate in enumerate(predicates):
            assembly = Assembly(schema, functions.FUNCTIONS)
            number = assembly.register(predicate)
            self._predicate_count += 1
            make_code(
                &self._predicates[i], assembly, numbers, self._interner, self._pins, self._routines
            )
            self._conditions[i] = &self._predicates[i].registers[<Py_ssize_t> number]

    def _make_outputs(self, schema, outputs, numbers):
        cdef Output* out
        cdef Slot* slot
        fields = [pa.field(name, e.type, e.nullable) for name, e in outputs]
        self.output = Layout(pa.schema(fields))
        self._outputs = <Output*> calloc(len(outputs) + 1, sizeof(Output))
        if self._outputs == NULL:
            raise MemoryError
        assembly = Assembly(schema, functions.FUNCTIONS)
        registers = [
            None if isinstance(e, Column) else assembly.register(e) for _, e in outputs
        ]
        make_code(
            &self._outputs_code, assembly, numbers, self._interner, self._pins, self._routines
        )
        for i, (_, expression) in enumerate(outputs):
            out = &self._outputs[i]
            slot = &self.output.slots[i]
            out.first = slot.first
            out.width = slot.width
            out.bit = 64 * slot.null_word + slot.null_bit if slot.nullable else -1
            if registers[i] is None:
                slot = &self.input.slots[<Py_ssize_t> expression.index]
                out.from_word = slot.first
                out.from_bit = 64 * slot.null_word + slot.null_bit if slot.nullable else -1
            else:
                out.source = &self._outputs_code.registers[<Py_ssize_t> registers[i]]
                self._may_reject |= out.source.errors != NULL

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self._predicate_count):
            free_code(&self._predicates[i])
        free_code(&self._outputs_code)
        for word in self._pins:
            self._interner.unpin(word)
        free(self._predicates)
        free(self._conditions)
        free(self._outputs)

    cdef int apply(self, const Updates* source, Updates* rows, Updates* errors) except -1 nogil:
        cdef Py_ssize_t rows_before = rows.length, errors_before = errors.length, start = 0
        cdef int failed = 0
        self._frame.stride = source.stride
        self._frame.out_of_memory = False
        if self._predicate_count == 0 and reserve(rows, source.length) < 0:
            failed = -1
        while start < source.length and not failed:
            self._frame.rows = source.words + start * source.stride
            self._frame.selected = NULL
            self._frame.n = min(<Py_ssize_t> VECTOR, source.length - start)
            failed = self._apply_block(source, rows, errors)
            start += VECTOR
        if failed or self._frame.out_of_memory:
            rows.length = rows_before
            errors.length = errors_before
            with gil:
                raise MemoryError
        return 0

    cdef int _apply_block(self, const Updates* source, Updates* rows, Updates* errors) noexcept nogil:
        cdef Py_ssize_t tail = source.row_words, i
        cdef const uint32_t* picks = NULL
        cdef int rejected
        for i in range(self._predicate_count):
            run(&self._predicates[i], &self._frame)
            if self._filter(self._conditions[i], errors, tail) < 0:
                return -1
            if self._frame.n == 0:
                return 0
        if not self.keeps_rows:
            run(&self._outputs_code, &self._frame)
            if self._may_reject:
                rejected = self._reject(errors, tail)
                if rejected < 0:
                    return -1
                if rejected:
                    picks = self._picks
        return self._store(rows, picks, tail)

    cdef int _filter(self, const Register* condition, Updates* errors, Py_ssize_t tail) noexcept nogil:
        """Keeps the updates for which the condition is true."""
        cdef Py_ssize_t kept = 0, i
        cdef uint32_t row
        for i in range(self._frame.n):
            row = <uint32_t> i if self._frame.selected == NULL else self._selected[i]
            self._selected[kept] = row
            if condition.errors != NULL and condition.errors[i]:
                if self._complain(errors, row, condition.errors[i], tail) < 0:
                    return -1
            else:
                kept += condition.words[i] & (condition.nulls == NULL or not condition.nulls[i])
        self._frame.selected = self._selected
        self._frame.n = kept
        return 0

    cdef int _reject(self, Updates* errors, Py_ssize_t tail) noexcept nogil:
        """Drops the updates with an error in an output; 1 if there were any, -1 where memory is short."""
        cdef Py_ssize_t kept = 0, i
        cdef uint32_t row, message
        cdef int c
        for i in range(self._frame.n):
            row = <uint32_t> i if self._frame.selected == NULL else self._selected[i]
            message = 0
            for c in range(self.output.columns):
                if self._outputs[c].source != NULL and has_error(self._outputs[c].source, i):
                    message = self._outputs[c].source.errors[i]
                    break
            if message:
                if self._complain(errors, row, message, tail) < 0:
                    return -1
            else:
                self._selected[kept] = row
                self._picks[kept] = <uint32_t> i
                kept += 1
        if kept == self._frame.n:
            return 0
        self._frame.selected = self._selected
        self._frame.n = kept
        return 1

    cdef int _complain(
        self, Updates* errors, uint32_t row, uint32_t message, Py_ssize_t tail
    ) noexcept nogil:
        cdef const uint64_t* given = self._frame.rows + row * self._frame.stride
        cdef uint64_t* target
        if reserve(errors, 1) < 0:
            return -1
        target = errors.words + errors.length * errors.stride
        with gil:
            try:
                target[0] = complain(self._messages[message - 1], given, self.input, self._interner)
            except MemoryError:
                return -1
        memcpy(target + 1, self._frame.rows + row * self._frame.stride + tail,
               (errors.time_words + 1) * sizeof(uint64_t))
        errors.length += 1
        return 0

    cdef int _store(self, Updates* rows, const uint32_t* picks, Py_ssize_t tail) noexcept nogil:
        """Appends the selected updates; `picks` are their positions in the registers, or NULL: in order."""
        cdef const Frame* f = &self._frame
        cdef uint64_t* target
        cdef Py_ssize_t i
        cdef int c, w
        if reserve(rows, f.n) < 0:
            return -1
        target = rows.words + rows.length * rows.stride
        rows.length += f.n
        if self.keeps_rows:
            copy_words(f, 0, target, rows.stride, rows.stride)
            return 0
        copy_words(f, tail, target + rows.row_words, rows.stride, rows.time_words + 1)
        for w in range(self.output.masks):
            for i in range(f.n):
                target[i * rows.stride + w] = 0
        for c in range(self.output.columns):
            if self._outputs[c].source == NULL:
                store_copy(f, &self._outputs[c], target, rows.stride)
            else:
                store_values(f, &self._outputs[c], picks, target, rows.stride)
        return 0


cdef void copy_words(
    const Frame* f, Py_ssize_t first, uint64_t* target, Py_ssize_t stride, int width
) noexcept nogil:
    """Copies `width` words of each selected update from word `first` on."""
    cdef const uint64_t* given
    cdef Py_ssize_t i
    cdef int w
    if f.selected == NULL and width == f.stride == stride:
        memcpy(target, f.rows, f.n * stride * sizeof(uint64_t))
        return
    for i in range(f.n):
        given = f.rows + (i if f.selected == NULL else f.selected[i]) * f.stride + first
        for w in range(width):
            target[i * stride + w] = given[w]


cdef void store_copy(
    const Frame* f, const Output* out, uint64_t* target, Py_ssize_t stride
) noexcept nogil:
    cdef const uint64_t* row
    cdef Py_ssize_t i
    copy_words(f, out.from_word, target + out.first, stride, out.width)
    if out.from_bit >= 0 and out.bit >= 0:
        for i in range(f.n):
            row = f.rows + (i if f.selected == NULL else f.selected[i]) * f.stride
            note_null(target + i * stride, out.bit, null_bit(row, out.from_bit))


cdef void store_values(
    const Frame* f, const Output* out, const uint32_t* picks, uint64_t* target, Py_ssize_t stride
) noexcept nogil:
    cdef const Register* source = out.source
    cdef Py_ssize_t i, at
    cdef uint64_t present
    cdef int w
    for i in range(f.n):
        at = i if picks == NULL else picks[i]
        present = <uint64_t> 0 - <uint64_t> (source.nulls == NULL or source.nulls[at] == 0)
        for w in range(out.width):
            target[i * stride + out.first + w] = source.words[at * out.width + w] & present
        if out.bit >= 0:
            note_null(target + i * stride, out.bit, ~present & 1)


def evaluate(schema, predicates, outputs, batch, Interner interner=None):
    """Give the outputs of the rows of `batch` that pass, and the errors' messages."""
    cdef Program program = Program(schema, predicates, outputs, interner or Interner())
    cdef Layout messages = Layout(pa.schema([pa.field("error", pa.string(), False)]))
    cdef Updates source = empty_updates(program.input.words, 1)
    cdef Updates rows = empty_updates(program.output.words, 1)
    cdef Updates errors = empty_updates(1, 1)
    try:
        encode(batch, program.input, program._interner, NULL, 0, NULL, 1, &source)
        with nogil:
            program.apply(&source, &rows, &errors)
        return (
            decode(rows.words, rows.length, rows.stride, program.output, program._interner),
            decode(errors.words, errors.length, errors.stride, messages, program._interner)
            .column(0).to_pylist(),
        )
    finally:
        release(&source)
        release(&rows)
        release(&errors)
