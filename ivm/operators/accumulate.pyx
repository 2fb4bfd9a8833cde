"""Reduction at the root by an accumulation: a state for each group, and no history.

Updates are taken time by time. A group that a time touches emits the retraction of its old output
and its new output, if they differ.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset
from libcpp.vector cimport vector

from ivm.operators.accumulation cimport Accumulation
from ivm.operators.groups cimport Groups
from ivm.operators.operator cimport Operator, Region
from ivm.rows.updates cimport Updates, empty_updates, push, release, reserve
from ivm.trace.sort cimport consolidate
from ivm.trace.times cimport compare_words

cdef enum:
    TOGETHER = 1 << 16      # updates whose groups are compared with before at once
    PREFETCHED = 32         # updates whose groups are asked for at once
    FEW_RUNS = 32
    KNOWN = 16              # groups whose last output is kept


cdef class Accumulate(Operator):
    """Key words, then the output words of `logic`, for each group of `source`.

    Rows of `source` are `key_words` words of key, then the logic's input value.
    """

    cdef Operator source
    cdef Accumulation logic
    cdef readonly Groups groups         # state: the logic's, then 1 + the entry's place in `touched`
    cdef int key_words
    cdef vector[uint32_t] touched       # entries that the present time changes
    cdef vector[uint64_t] before        # their outputs before it: a presence word, then the logic's words
    cdef vector[uint64_t] now
    cdef Updates order                  # (time, index) of the input, if it is not in order of times
    cdef uint32_t known[KNOWN]          # entries whose present output is in `outputs`, from 1, or 0
    cdef vector[uint64_t] outputs
    cdef Py_ssize_t emitted             # by the activation before

    def __init__(self, Region region, int row_words, Operator source, int key_words,
                 Accumulation logic, tuple strings):
        self.source = source
        self.logic = logic
        self.key_words = key_words
        self.groups = Groups(key_words, logic.state_words + 1, strings)
        self.order = empty_updates(1, 1)
        self.now.resize(logic.out_words + 1, 0)
        self.outputs.resize(KNOWN * (logic.out_words + 1), 0)
        memset(self.known, 0, sizeof(self.known))

    def __dealloc__(self):
        release(&self.order)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t j = 0, asked = 0, end, keys
        cdef uint64_t time
        cdef uint32_t entry
        self.out.length = 0
        if given.length == 0:
            return 0
        self._sort_by_time()
        if reserve(&self.out, min(self.emitted, 2 * given.length)) < 0:
            self._no_memory()
        if given.length >= TOGETHER:
            keys = self._keys_in_runs()
            self.groups.reserve(keys)
            if reserve(&self.out, keys) < 0:
                self._no_memory()
        while j < given.length:
            time = self._time(j)
            end = min(given.length, j + TOGETHER)
            while j < end and self._time(j) == time:
                if j >= asked and end - j >= PREFETCHED:
                    self._prefetch(j)
                    asked = j + PREFETCHED
                entry = self.groups.find(self._update(j))
                self._touch(entry)
                self._add(entry, j)
                j += 1
                # Most often, a group's updates lie together.
                while j < given.length and self._time(j) == time and compare_words(
                        self._update(j - 1), self._update(j), self.key_words) == 0:
                    self._add(entry, j)
                    j += 1
            self._emit(time)
        self.emitted = self.out.length
        return 0

    # Asks for the memory that the updates from the j-th on will need.
    cdef void _prefetch(self, Py_ssize_t j) noexcept nogil:
        cdef size_t slots[PREFETCHED]
        cdef int i
        for i in range(PREFETCHED):
            slots[i] = self.groups.prefetch_slot(self._update(j + i))
        for i in range(PREFETCHED):
            self.groups.prefetch_entry(slots[i])

    # How many keys at most the input has if it is a few sorted runs, as an arrangement's layers are;
    # else 0.
    cdef Py_ssize_t _keys_in_runs(self) noexcept nogil:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i, keys = 1
        cdef int order, runs = 1
        for i in range(1, given.length):
            order = compare_words(given.words + (i - 1) * given.stride,
                                  given.words + i * given.stride, self.key_words)
            runs += order > 0
            if runs > FEW_RUNS:
                return 0
            keys += order != 0
        return keys

    # The j-th update in the order of times.
    cdef inline const uint64_t* _update(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t i = (<Py_ssize_t> self.order.words[j * self.order.stride + 1]
                             if self.order.length else j)
        return self.source.out.words + i * self.source.out.stride

    cdef inline uint64_t _time(self, Py_ssize_t j) noexcept nogil:
        if self.order.length > 0:
            return self.order.words[j * self.order.stride]
        return self.source.out.words[j * self.source.out.stride + self.source.out.row_words]

    # Fills `order` if the input is not in the order of times.
    cdef int _sort_by_time(self) except -1 nogil:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i
        cdef uint64_t last = 0, time
        cdef uint64_t* entry
        self.order.length = 0
        for i in range(given.length):
            time = given.words[i * given.stride + given.row_words]
            if time < last:
                break
            last = time
        else:
            return 0
        for i in range(given.length):
            entry = push(&self.order)
            if entry == NULL:
                self._no_memory()
            entry[0] = given.words[i * given.stride + given.row_words]
            entry[1] = <uint64_t> i
            entry[2] = 1
        if consolidate(&self.order) < 0:
            self._no_memory()
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for an aggregation")

    # Keeps the output that a group has before the present time changes it.
    cdef int _touch(self, uint32_t entry) except -1 nogil:
        cdef uint64_t* state = self.groups.state(entry)
        cdef size_t place = self.before.size(), width = self.logic.out_words + 1
        if state[self.logic.state_words] == 0:
            self.touched.push_back(entry)
            state[self.logic.state_words] = self.touched.size()
            self.before.resize(place + width)
            if self.known[entry % KNOWN] == entry + 1:
                memcpy(self.before.data() + place, self.outputs.data() + entry % KNOWN * width,
                       width * sizeof(uint64_t))
            else:
                self._output(state, self.before.data() + place)
        return 0

    cdef inline void _add(self, uint32_t entry, Py_ssize_t j) noexcept nogil:
        cdef const uint64_t* update = self._update(j)
        self.logic.add(self.groups.state(entry), update + self.key_words,
                       <int64_t> update[self.source.out.stride - 1])

    # A presence word, then the output of a group in this state.
    cdef void _output(self, const uint64_t* state, uint64_t* output) noexcept nogil:
        output[0] = <int64_t> state[0] > 0
        if output[0]:
            self.logic.finish(state, output + 1)

    # Rows with negative counts may leave a count of no rows beside sums that later rows settle.
    cdef inline bint _is_empty(self, const uint64_t* state) noexcept nogil:
        cdef int i
        for i in range(self.logic.state_words):
            if state[i] != 0:
                return False
        return True

    # Emits what has changed for the touched groups at `time`, and forgets those that are empty.
    cdef int _emit(self, uint64_t time) except -1 nogil:
        cdef size_t i, width = self.logic.out_words + 1
        cdef uint32_t entry
        cdef uint64_t* state
        cdef const uint64_t* before
        for i in range(self.touched.size()):
            entry = self.touched[i]
            state = self.groups.state(entry)
            state[self.logic.state_words] = 0
            before = self.before.data() + i * width
            self._output(state, self.now.data())
            if before[0] != self.now[0] or (before[0] and memcmp(
                    before + 1, self.now.data() + 1, self.logic.out_words * sizeof(uint64_t)) != 0):
                if before[0]:
                    self._push(entry, before + 1, time, -1)
                if self.now[0]:
                    self._push(entry, self.now.data() + 1, time, 1)
            self.known[entry % KNOWN] = entry + 1
            memcpy(self.outputs.data() + entry % KNOWN * width, self.now.data(),
                   width * sizeof(uint64_t))
            if self._is_empty(state):
                self.known[entry % KNOWN] = 0
                self.groups.remove(entry)
        self.touched.clear()
        self.before.clear()
        return 0

    cdef int _push(self, uint32_t entry, const uint64_t* output, uint64_t time,
                   int64_t diff) except -1 nogil:
        cdef uint64_t* update = push(&self.out)
        if update == NULL:
            self._no_memory()
        memcpy(update, self.groups.key(entry), self.key_words * sizeof(uint64_t))
        update += self.key_words
        memcpy(update, output, self.logic.out_words * sizeof(uint64_t))
        update[self.logic.out_words] = time
        update[self.logic.out_words + 1] = <uint64_t> diff
        return 0
