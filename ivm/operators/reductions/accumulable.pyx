"""Accumulable reduce, at the root: a state for each group, and no history.

Updates are accumulated time by time. At time t a touched group emits −L(S) + L(S + ΔS), if they differ, with
S its state and L the output: of a count from 2 to 3, the rows (key, 2) with diff −1 and (key, 3) with +1, in
the order of their rows.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset
from libcpp.vector cimport vector

from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.errors.evaluate cimport Fallible
from ivm.operators.base.flatten cimport Place, read_updates
from ivm.operators.base.state_table cimport ASKED, Groups
from ivm.operators.base.operator cimport KEPT_UPDATES, Operator, Reader, Region
from ivm.operators.base.ownership cimport OwnKeys, first_own, next_own
from ivm.operators.errors.split_errors cimport Settling
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport Updates, bytes_of, copy_few, empty_updates, push, release, reserve, update_at
from ivm.trace.batch cimport (
    Batch, diff_of, first_update, first_val, key_at, val_at,
)
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words

cdef enum:
    TOGETHER = 1 << 16      # updates, in no order of groups, whose groups are compared with before at once
    PREFETCHED = 32         # updates whose groups are prefetched at once
    FEW_RUNS = 32
    KNOWN = 16              # groups whose last output is kept
    PIECE = 1 << 12         # updates, in the order of groups, that are whole at a time


cdef class Accumulate(Fallible):
    """Reduces each group of `source` to a row, made by `settling` of its key and the output of `logic`.

    Rows of `source` are `key_words` words of key, then the logic's input value. `partitioner` finds the shard
    of a row's group.
    """

    cdef Operator source
    cdef Partitioner partitioner
    cdef const Updates* given           # the updates being accumulated
    cdef Accumulation logic
    cdef Settling settling
    cdef readonly Groups groups         # state: the logic's, then 1 + the entry's place in `touched`
    cdef int key_words
    cdef vector[uint32_t] touched       # entries that the present time changes
    cdef vector[uint64_t] before        # their outputs before it: a presence word, then the logic's words
    cdef vector[uint64_t] now
    cdef Py_ssize_t asked               # updates whose entries were prefetched
    cdef uint32_t hashes[PREFETCHED]    # of the keys whose slots were prefetched
    cdef Updates order                  # (time, index) of the input, if it is not in order of times
    cdef uint32_t known[KNOWN]          # entries whose present output is in `outputs`, from 1, or 0
    cdef vector[uint64_t] outputs
    cdef Py_ssize_t emitted             # updates emitted by the activation before

    def __init__(self, Region region, int row_words, Operator source, Partitioner partitioner,
                 int key_words, Accumulation logic, tuple strings, Settling settling):
        self.seeks = self.keeps = True
        self.source = source
        self.partitioner = partitioner
        self.given = NULL
        self.logic = logic
        self.settling = settling
        self.key_words = key_words
        self.groups = Groups(key_words, logic.state_words + 1, strings)
        self.order = empty_updates(1, 1)
        self.now.resize(logic.out_words + 1, 0)
        self.outputs.resize(KNOWN * (logic.out_words + 1), 0)
        memset(self.known, 0, sizeof(self.known))

    def __dealloc__(self):
        release(&self.order)

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + bytes_of(&self.order) + self.groups.room

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        self.out.length = 0
        self.take(&self.source.out, False)
        self.emitted = self.out.length
        return 0

    cdef int step_all(self, const vector[void*]* shards) except -1 nogil:
        cdef size_t s
        self.out.length = 0
        for s in range(shards.size()):
            if (<Accumulate> shards[0][s]).source.out.length > 0:
                self.take_for_owners(&(<Accumulate> shards[0][s]).source.out, shards)
        return 0

    # Accumulates few updates, of any shard's groups, and puts out the output of all.
    cdef int take_for_owners(self, const Updates* given, const vector[void*]* shards) except -1 nogil:
        cdef Py_ssize_t j = 0, end
        cdef uint64_t time
        self.given = given
        self._sort_by_time()
        while j < given.length:
            time = self._time(j)
            end = min(given.length, j + PREFETCHED)
            end = self._add_for_owners(j, end, time, shards)
            if end == given.length or self._time(end) != time:
                self._emit_all(time, shards)
            j = end
        return 0

    # Accumulates the updates from the j-th to before `end` that are at `time`; returns the next one.
    cdef Py_ssize_t _add_for_owners(self, Py_ssize_t j, Py_ssize_t end, uint64_t time,
                                    const vector[void*]* shards) except -1 nogil:
        cdef void* owners[PREFETCHED]
        cdef Py_ssize_t first = j, i
        for i in range(first, end):
            owners[i - first] = shards[0][owner_of(self._update(i), shards.size(), self.partitioner)]
            if end > first + 1:
                self.hashes[i - first] = (<Accumulate> owners[i - first]).groups.prefetch_slot(
                    self._update(i))
        for i in range(first, end if end > first + 1 else first):
            (<Accumulate> owners[i - first]).groups.prefetch_entry(self.hashes[i - first])
        while j < end and self._time(j) == time:
            (<Accumulate> owners[j - first])._add_update(self._update(j), self.given.stride)
            j += 1
        return j

    cdef inline int _add_update(self, const uint64_t* update, int stride) except -1 nogil:
        cdef uint32_t entry = self.groups.find(update)
        self._touch(entry)
        self.logic.add(self.groups.state(entry), update + self.key_words, <int64_t> update[stride - 1])
        return 0

    cdef int _emit_all(self, uint64_t time, const vector[void*]* shards) except -1 nogil:
        cdef size_t s
        for s in range(shards.size()):
            (<Accumulate> shards[0][s]).emit(time, False, &self.out)
        return 0

    # Accumulates updates; with `more`, others follow at the last one's time, maybe of the last one's group.
    cdef int take(self, const Updates* given, bint more) except -1 nogil:
        cdef Py_ssize_t j = 0, end
        cdef uint64_t time
        cdef uint32_t entry
        if given.length == 0:
            return 0
        self.given = given
        self.asked = 0
        self._sort_by_time()
        if reserve(&self.out, min(self.emitted, 2 * given.length)) < 0:
            self._no_memory()
        if given.length >= TOGETHER:
            self.expect(self._keys_in_runs())
        while j < given.length:
            time = self._time(j)
            end = min(given.length, j + TOGETHER)
            while j < end and self._time(j) == time:
                if given.length > 1 and j + PREFETCHED > self.asked:
                    self._prefetch(j)
                entry = self.groups.find(self._update(j))
                self._touch(entry)
                self._add(entry, j)
                j += 1
                # Most often, a group's updates lie together.
                while j < given.length and self._time(j) == time and compare_words(
                        self._update(j - 1), self._update(j), self.key_words) == 0:
                    self._add(entry, j)
                    j += 1
            self.emit(time, more, &self.out)
        return 0

    # Makes room for `keys` groups that are new.
    cdef int expect(self, Py_ssize_t keys) except -1 nogil:
        self.groups.reserve(keys)
        if reserve(&self.out, keys) < 0:
            self._no_memory()
        return 0

    # Prefetches the entries of updates after the j-th, whose slots were prefetched before, and then the slots
    # of those after them.
    cdef void _prefetch(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t i, first = self.asked
        if first <= j:
            first = j
            self._prefetch_slots(first)
        for i in range(first, min(first + PREFETCHED, self.given.length)):
            self.groups.prefetch_entry(self.hashes[i % PREFETCHED])
        self.asked = first + PREFETCHED
        self._prefetch_slots(self.asked)

    cdef void _prefetch_slots(self, Py_ssize_t first) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(first, min(first + PREFETCHED, self.given.length)):
            self.hashes[i % PREFETCHED] = self.groups.prefetch_slot(self._update(i))

    # The greatest number of keys in the input if it is a few sorted runs, as an arrangement's layers are;
    # else 0.
    cdef Py_ssize_t _keys_in_runs(self) noexcept nogil:
        cdef const Updates* given = self.given
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
        return self.given.words + i * self.given.stride

    cdef inline uint64_t _time(self, Py_ssize_t j) noexcept nogil:
        if self.order.length > 0:
            return self.order.words[j * self.order.stride]
        return self.given.words[j * self.given.stride + self.given.row_words]

    # Fills `order` if the input is not in the order of times.
    cdef int _sort_by_time(self) except -1 nogil:
        cdef const Updates* given = self.given
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

    # Keeps the output of a group from before the present time changes it.
    cdef int _touch(self, uint32_t entry) except -1 nogil:
        cdef uint64_t* state = self.groups.state(entry)
        cdef size_t place = self.before.size(), width = self.logic.out_words + 1
        if state[self.logic.state_words] == 0:
            self.touched.push_back(entry)
            state[self.logic.state_words] = self.touched.size()
            self.before.resize(place + width)
            if self.known[entry % KNOWN] == entry + 1:
                copy_few(self.before.data() + place, self.outputs.data() + entry % KNOWN * width,
                         <int> width)
            else:
                self._output(state, self.before.data() + place)
        return 0

    cdef inline void _add(self, uint32_t entry, Py_ssize_t j) noexcept nogil:
        cdef const uint64_t* update = self._update(j)
        self.logic.add(self.groups.state(entry), update + self.key_words,
                       <int64_t> update[self.given.stride - 1])

    # Writes a presence word, then the output of a group in this state.
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

    cdef int rest(self) except -1 nogil:
        if self.touched.empty() and self.groups.shrink():
            memset(self.known, 0, sizeof(self.known))       # its entries have moved
        return Fallible.rest(self)

    # Appends the changes of the touched groups at `time` to `into`, and drops groups that are empty; with
    # `more` the last group waits.
    cdef int emit(self, uint64_t time, bint more, Updates* into) except -1 nogil:
        cdef size_t i, n = self.touched.size(), width = self.logic.out_words + 1
        cdef Py_ssize_t emitted
        cdef uint32_t entry
        cdef uint64_t* state
        cdef const uint64_t* before
        if more and n > 0:
            n -= 1
        for i in range(n):
            if i + ASKED < n:
                self.groups.prefetch_all(self.touched[i + ASKED])
            entry = self.touched[i]
            state = self.groups.state(entry)
            state[self.logic.state_words] = 0
            before = self.before.data() + i * width
            self._output(state, self.now.data())
            if before[0] != self.now[0] or (before[0] and compare_words(
                    before + 1, self.now.data() + 1, self.logic.out_words) != 0):
                emitted = into.length
                if before[0]:
                    self._settle(entry, before + 1, time, -1, into)
                if self.now[0]:
                    self._settle(entry, self.now.data() + 1, time, 1, into)
                if into.length == emitted + 2:
                    _order(into, emitted)
            if n <= KNOWN:
                self.known[entry % KNOWN] = entry + 1
                copy_few(self.outputs.data() + entry % KNOWN * width, self.now.data(), <int> width)
            elif self.known[entry % KNOWN] == entry + 1:
                self.known[entry % KNOWN] = 0
            if self._is_empty(state):
                self.known[entry % KNOWN] = 0
                self.groups.remove(entry)
        for i in range(n, self.touched.size()):
            self.touched[0] = self.touched[i]
            self.groups.state(self.touched[i])[self.logic.state_words] = 1
            memmove(self.before.data(), self.before.data() + i * width, width * sizeof(uint64_t))
        self.touched.resize(self.touched.size() - n)
        self.before.resize(self.touched.size() * width)
        return 0

    cdef inline int _settle(self, uint32_t entry, const uint64_t* output, uint64_t time,
                            int64_t diff, Updates* into) except -1 nogil:
        cdef uint64_t[2] when
        when[0] = time
        when[1] = <uint64_t> diff
        return self.settling.settle(self.groups.key(entry), output, when, into, &self.errors)


# Orders two updates of one time by their rows. Sorted input then makes sorted output, which need not be
# sorted again.
cdef inline void _order(Updates* updates, Py_ssize_t first) noexcept nogil:
    cdef uint64_t* one = update_at(updates, first)
    cdef uint64_t* other = update_at(updates, first + 1)
    cdef int i
    if compare_words(one, other, updates.row_words) > 0:
        for i in range(updates.stride):
            one[i], other[i] = other[i], one[i]


cdef class AccumulateNew(Accumulate):
    """Accumulates the new updates of an arrangement, of which `packing` makes rows of key and value.

    `by_key` says that the arrangement's keys are those of the groups; with several shards, they are. Where
    all is of one time, few rows are whole at a time, so that they stay in the cache. The first groups are not
    even looked up: each is whole before the next one.
    """

    cdef readonly Reader reader
    cdef Packing packing
    cdef bint by_key
    cdef Py_ssize_t piece               # updates that are whole at a time
    cdef uint64_t time                  # of all new updates, if it is one
    cdef Updates whole

    def __init__(self, Region region, int row_words, Reader reader, Packing packing,
                 bint by_key, Partitioner partitioner, int key_words, Accumulation logic,
                 tuple strings, Settling settling):
        self.owns = True
        Accumulate.__init__(self, region, row_words, None, partitioner, key_words, logic, strings, settling)
        self.reader = reader
        self.packing = packing
        self.by_key = by_key
        self.piece = PIECE if by_key else TOGETHER
        self.whole = empty_updates(packing.words, region.depth)

    def __dealloc__(self):
        release(&self.whole)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        cdef Py_ssize_t updates = 0, keys = 0
        cdef bint once
        self.out.length = 0
        self.reader.look(self.region)
        for b in self.reader.delta:
            updates += b.updates
            keys += b.keys
        keys //= self.shards        # about those that are this shard's
        once = self._is_of_one_time()
        if once and self.by_key and self.groups.length() == 0:
            return self._found(keys)
        if once and self.by_key and updates >= TOGETHER:
            self.expect(keys)
        if reserve(&self.whole, min(updates, self.piece) if once else updates) < 0:
            self._no_memory()
        for b in self.reader.delta:
            self._read(b, once)
        self.take(&self.whole, once)
        self.whole.length = 0
        if once:
            self.emit(self.time, False, &self.out)
        self.emitted = self.out.length
        return 0

    cdef int step_all(self, const vector[void*]* shards) except -1 nogil:
        cdef Batch* b
        cdef Place place
        self.out.length = 0
        self.reader.look(self.region)
        for b in self.reader.delta:
            place.key = place.val = place.update = 0
            if reserve(&self.whole, b.updates) < 0:
                self._no_memory()
            read_updates(b, &place, b.updates, self.region, self.packing, &self.whole)
        self.take_for_owners(&self.whole, shards)
        self.whole.length = 0
        return 0

    # Reads this shard's part of the new updates of a batch: all of it, or, of one time, a piece at a time.
    cdef int _read(self, const Batch* b, bint once) except -1 nogil:
        cdef OwnKeys own
        cdef Place place
        cdef Py_ssize_t end
        place.key = place.val = place.update = 0
        if self.shards == 1:
            return self._read_from(b, &place, b.updates, once)
        first_own(&own, b, self, self.partitioner)
        while own.key < b.keys:
            place.key = own.key
            place.val = first_val(b, place.key)
            place.update = first_update(b, place.val)
            end = first_update(b, first_val(b, place.key + 1))
            self._read_from(b, &place, end - place.update, once)
            next_own(&own, self, self.partitioner)
        return 0

    # Reads `updates` updates from `place` on.
    cdef inline int _read_from(self, const Batch* b, Place* place, Py_ssize_t updates,
                               bint once) except -1 nogil:
        if not once and reserve(&self.whole, updates) < 0:
            self._no_memory()
        while updates > 0:
            updates -= read_updates(
                b, place, min(updates, self.piece - self.whole.length) if once else updates,
                self.region, self.packing, &self.whole)
            if once and self.whole.length == self.piece:
                self.take(&self.whole, True)
                self.whole.length = 0
        return 0

    # Makes the first groups, about `keys`, and emits their rows.
    cdef int _found(self, Py_ssize_t keys) except -1 nogil:
        cdef vector[OwnKeys] own
        cdef Py_ssize_t d
        cdef uint64_t* group
        own.resize(self.reader.delta.size())
        for d in range(<Py_ssize_t> own.size()):
            first_own(&own[d], self.reader.delta[d], self, self.partitioner)
        if reserve(&self.groups.rows, keys) < 0 or reserve(&self.out, keys) < 0 or (
                reserve(&self.whole, 1) < 0):
            self._no_memory()
        while True:
            d = _least(own.data(), own.size())
            if d < 0:
                break
            if reserve(&self.groups.rows, 1) < 0:
                self._no_memory()
            group = self.groups.append()
            self._gather(key_at(own[d].b, own[d].key), own.data(), own.size(), group)
            if self._is_empty(group + self.key_words):
                self.groups.rows.length -= 1
                continue
            self._output(group + self.key_words, self.now.data())
            if self.now[0]:
                self._settle(self.groups.length() - 1, self.now.data() + 1, self.time, 1, &self.out)
        self.emitted = self.out.length
        return self.groups.index()

    # Accumulates all new updates of `key` in a group, and moves on past it in each batch.
    cdef inline void _gather(self, const uint64_t* key, OwnKeys* own, size_t batches,
                             uint64_t* group) noexcept nogil:
        cdef uint64_t* row = self.whole.words
        cdef const Batch* b
        cdef Py_ssize_t k, v, u
        cdef size_t d
        cdef bint of_key = self.packing.of_first
        if of_key:
            pack(self.packing, key, NULL, NULL, row)
        for d in range(batches):
            b = own[d].b
            k = own[d].key
            if k == b.keys or compare_words(key_at(b, k), key, b.key_words) != 0:
                continue
            for v in range(first_val(b, k), first_val(b, k + 1)):
                if not of_key:
                    pack(self.packing, key, val_at(b, v), NULL, row)
                for u in range(first_update(b, v), first_update(b, v + 1)):
                    self.logic.add(group + self.key_words, row + self.key_words, diff_of(b, u))
            next_own(&own[d], self, self.partitioner)
        memcpy(group, row, self.key_words * sizeof(uint64_t))

    # True if all new updates are of one time, which is noted.
    cdef bint _is_of_one_time(self) noexcept nogil:
        cdef Batch* b
        cdef uint64_t first, last
        cdef size_t i
        for i in range(self.reader.delta.size()):
            b = self.reader.delta[i]
            first = max(b.times[0], self.region.lower)
            last = max(b.times[b.time_count - 1], self.region.lower)
            if i == 0:
                self.time = first
            if first != self.time or last != self.time:
                return False
        return True

    cdef int rest(self) except -1 nogil:
        Accumulate.rest(self)
        if self.whole.capacity > KEPT_UPDATES:
            release(&self.whole)
        return 0


# Finds the batch with the least next key among `count`; -1 if none has one left.
cdef inline Py_ssize_t _least(const OwnKeys* own, size_t count) noexcept nogil:
    cdef Py_ssize_t least = -1
    cdef const uint64_t* key = NULL
    cdef const Batch* b
    cdef size_t d
    for d in range(count):
        b = own[d].b
        if own[d].key < b.keys and (
                key == NULL or compare_words(key_at(b, own[d].key), key, b.key_words) < 0):
            key = key_at(b, own[d].key)
            least = d
    return least
