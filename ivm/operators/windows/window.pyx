"""The window operator gives every row of a partition the results of its calls on the rows around it.

At time t emit F(R + ΔR) − F(R), with F the calls' results on a partition's rows R. The input is arranged by
partition and then in order, and no output is kept: the old output is computed from the old rows. So for a
touched partition old and new rows are laid out in order, and the difference of their results is emitted.

That need not take the whole partition. Rows are taken from as far before a change as the calls reach to as
far behind it, or to the end if a call looks back without bound. Such a call must know the number of rows
before and their state: the state of the whole partition, which is kept for large ones (`totals`), less that
of the rows from there to the end. A call for the nearest values that are not NULL reaches as far as so many
were there and still are.

The rows that a change can reach are taken first, and then as many again, which determine their results.
Changes within these are taken together; so no row is reached from two sides: with a frame of 2 rows on both
sides, a change of row 10 takes rows 6 to 14.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset
from libcpp.algorithm cimport reverse
from libcpp.vector cimport vector

from ivm.operators.reductions.touched_groups cimport Run
from ivm.operators.base.state_table cimport Groups
from ivm.operators.base.operator cimport KEPT_UPDATES, Reader, Region
from ivm.operators.aggregates.ordering cimport Ordering
from ivm.operators.windows.measures cimport Measure
from ivm.operators.windows.rows cimport MOST_COPIES, Stretch
from ivm.operators.reductions.ordered_walk cimport OrderedWalk, Step
from ivm.operators.windows.functions cimport NEAR, ONWARD, WHOLE, WindowFunction, has_null
from ivm.rows.hashing cimport Partitioner
from ivm.rows.updates cimport Updates, bytes_of, empty_updates, push, release
from ivm.threads.team cimport note_overflow
from ivm.trace.batch cimport first_update, time_of, val_at
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words

cdef enum:
    SMALL = 128         # values of a partition that is always taken whole
    TOTALS = 2          # words of a partition's total before the functions': its numbers of rows and of groups of peers


cdef class Window(OrderedWalk):
    """Puts out key, value, 0 or an error's word, and `result_words` words of results for each row.

    Values are in the format of `ordering`; the calls order by its first `order_words` words. `partitioner`
    finds the shard of a partition by the trace's key.
    """

    cdef readonly Groups totals
    cdef tuple functions
    cdef vector[void*] calls            # the functions
    cdef int stride                     # words of a row's results, with the error
    cdef bint near                      # no call looks back without bound
    cdef bint whole                     # or some must see all of the partition
    cdef bint asks_head                 # some must know the first row
    cdef int64_t reach                  # rows that a change can reach, to either side
    cdef int64_t reach_groups           # and groups of peers
    cdef vector[void*] measures         # of frames by distance that a change can reach besides
    cdef vector[void*] seekers          # functions that a change can reach up to some values away
    cdef vector[int64_t] sought         # for each of these, the values met since
    cdef vector[const uint64_t*] changed    # values with an update at the present time, ascending
    cdef size_t from_step               # steps that the change can reach
    cdef size_t to_step
    cdef Stretch old
    cdef Stretch new
    cdef vector[uint64_t] old_results
    cdef vector[uint64_t] new_results
    cdef vector[uint64_t] before        # state of the rows before the stretch
    cdef Updates changes                # results of one value

    def __init__(self, Region region, int row_words, Reader reader,
                 Partitioner partitioner, Ordering ordering,
                 int order_words, tuple functions, int result_words):
        cdef WindowFunction call
        cdef int state_words = TOTALS
        self.seeks = self.owns = True
        self.reader = reader
        self.partitioner = partitioner
        self.ordering = ordering
        self.functions = functions
        self.stride = result_words + 1
        self.near = True
        self.together = ordering.exact_words
        for call in functions:
            self.calls.push_back(<void*> call)
            self.near = self.near and call.scope == NEAR
            self.whole = self.whole or call.scope == WHOLE
            self.asks_head = self.asks_head or call.asks_head
            self.reach = max(self.reach, call.reach)
            self.reach_groups = max(self.reach_groups, call.reach_groups)
            if call.measured is not None:
                self.measures.push_back(<void*> call.measured)
            if call.reach_values > 0:
                self.seekers.push_back(<void*> call)
            state_words += call.state_words
            if call.asks_peers:
                self.together = min(self.together, order_words)
        self.before.resize(state_words, 0)
        self.totals = Groups(reader.trace.key_words, state_words, tuple(
            (word, flipped) for word, flipped in reader.trace.strings
            if word < reader.trace.key_words))
        self.old, self.new = Stretch(order_words), Stretch(order_words)
        self.changes = empty_updates(self.stride, 0)

    def __dealloc__(self):
        release(&self.changes)

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + bytes_of(&self.changes) + self.totals.room

    cdef int rest(self) except -1 nogil:
        if self.steps.capacity() > KEPT_UPDATES:
            self.steps = vector[Step]()
            self.old_results = vector[uint64_t]()
            self.new_results = vector[uint64_t]()
            self.old.release()
            self.new.release()
        return OrderedWalk.rest(self)

    cdef int change_key(self, const uint64_t* key) except -1 nogil:
        cdef uint64_t time
        for time in self.times:
            if self.whole or self.size <= SMALL:
                self._change_whole(key, time)
                continue
            self._find_changed(time)
            if self.changed.empty():
                continue
            if self.asks_head and not self._find_head(time):
                self._change_whole(key, time)
            elif not self.near:
                self._change_onward(key, time)
            elif <Py_ssize_t> self.changed.size() * 4 > self.size:
                self._change_whole(key, time)
            else:
                self._change_near(key, time)
        return 0

    # --- the part of the partition that is read ---

    cdef int _change_whole(self, const uint64_t* key, uint64_t time) except -1 nogil:
        self.start_at(NULL)
        while self.take_ahead(time):
            pass
        self.from_step, self.to_step = 0, self.steps.size()
        self.old.head = self.new.head = NULL
        memset(self.before.data(), 0, self.before.size() * sizeof(uint64_t))
        self._lay_out()
        if not self.near and not self.whole:
            self._keep_total(key)
        return self._emit_changes(key, time)

    # Goes from the first change to the end.
    cdef int _change_onward(self, const uint64_t* key, uint64_t time) except -1 nogil:
        cdef uint32_t total = self.totals.look_up(key)
        if total == 0:
            return self._change_whole(key, time)
        self.start_at(self.changed[0])
        self._look_back(self.changed[0], time)
        while self.take_ahead(time):
            pass
        self.to_step = self.steps.size()
        memcpy(self.before.data(), self.totals.state(total - 1),
               self.before.size() * sizeof(uint64_t))
        self._lay_out()
        self._add_rows(self.before.data(), self.old, True, -1)
        self._keep_total(key)
        return self._emit_changes(key, time)

    # Takes each cluster of changes by itself.
    cdef int _change_near(self, const uint64_t* key, uint64_t time) except -1 nogil:
        cdef size_t i = 0
        while i < self.changed.size():
            self.start_at(self.changed[i])
            self._look_back(self.changed[i], time)
            self._look_ahead(time)
            self._lay_out()
            self._emit_changes(key, time)
            while i < self.changed.size() and not self.lies_ahead(self.changed[i]):
                i += 1
        return 0

    # Finds the partition's first row; False if that may change.
    cdef bint _find_head(self, uint64_t time) except -1 nogil:
        self.start_at(NULL)
        while self.steps.empty() and self.take_ahead(time):
            pass
        if self.steps.empty() or compare_words(
                self.changed[0], self.steps[0].val, self.together) <= 0:
            return False
        self.old.head = self.new.head = self.steps[0].val
        return True

    # Finds the values that have an update at `time`, in the order of their words.
    cdef int _find_changed(self, uint64_t time) except -1 nogil:
        cdef Run run
        cdef Py_ssize_t v, u
        cdef size_t sorted_to
        self.changed.clear()
        for run in self.runs:
            if not run.is_new:
                continue
            sorted_to = self.changed.size()
            for v in range(run.val, run.end):
                for u in range(first_update(run.batch, v), first_update(run.batch, v + 1)):
                    if max(time_of(run.batch, u)[0], self.region.lower) == time:
                        self.changed.push_back(val_at(run.batch, v))
                        break
            self._merge_changed(sorted_to)
        return 0

    # Merges two ascending parts of the changed values, before `middle` and from there on.
    cdef int _merge_changed(self, size_t middle) except -1 nogil:
        cdef vector[const uint64_t*] merged
        cdef size_t i = 0, j = middle, end = self.changed.size()
        if middle == 0 or middle == end:
            return 0
        while i < middle or j < end:
            if j == end or (i < middle and compare_words(
                    self.changed[i], self.changed[j], self.ordering.words) <= 0):
                merged.push_back(self.changed[i])
                i += 1
            else:
                merged.push_back(self.changed[j])
                j += 1
        self.changed.swap(merged)
        return 0

    # Takes the rows that the change of `val` ahead can reach back to, and those that determine their results.
    cdef int _look_back(self, const uint64_t* val, uint64_t time) except -1 nogil:
        cdef size_t reached
        self._take_reach_behind(val, time)
        reached = self.steps.size()
        self._take_reach_behind(self.steps.back().val if reached > 0 else val, time)
        reverse(self.steps.begin(), self.steps.end())
        self.from_step = self.steps.size() - reached
        return 0

    # Takes the rows that `val`, which lies ahead of them, can reach.
    cdef int _take_reach_behind(self, const uint64_t* val, uint64_t time) except -1 nogil:
        cdef int64_t rows = 0, groups = 0
        cdef const uint64_t* next
        cdef size_t first, i
        self.sought.clear()
        self.sought.resize(self.seekers.size())
        while True:
            next = self.last_behind()
            if next == NULL or (rows >= self.reach and groups >= self.reach_groups
                                and self._found_sought() and not self._measures_reach(next, val)):
                return 0
            first = self.steps.size()
            self.take_behind(time)
            groups += self.steps.size() > first
            for i in range(first, self.steps.size()):
                rows += self.steps[i].new
                self._seek(&self.steps[i])

    # Takes the changes ahead, until there was none for so long that none can reach these rows.
    cdef int _look_ahead(self, uint64_t time) except -1 nogil:
        cdef int64_t rows = 0, groups = 0
        cdef const uint64_t* reaching = NULL    # a change, or the last row that it can reach
        cdef const uint64_t* next
        cdef size_t first, i
        cdef bint beyond = False
        self.sought.clear()
        self.sought.resize(self.seekers.size())
        while True:
            next = self.first_ahead()
            if next == NULL:
                break
            if reaching != NULL and rows >= self.reach and groups >= self.reach_groups and (
                    self._found_sought() and not self._measures_reach(reaching, next)):
                if beyond:
                    return 0
                beyond, rows, groups, self.to_step = True, 0, 0, self.steps.size()
                self.sought.clear()
                self.sought.resize(self.seekers.size())
                reaching = self.steps.back().val
                continue
            first = self.steps.size()
            self.take_ahead(time)
            groups += self.steps.size() > first
            for i in range(first, self.steps.size()):
                rows += self.steps[i].new
                self._seek(&self.steps[i])
                if self.steps[i].old != self.steps[i].new:
                    beyond, rows, groups, reaching = False, 0, 0, self.steps[i].val
                    self.sought.clear()
                    self.sought.resize(self.seekers.size())
        if not beyond:
            self.to_step = self.steps.size()
        return 0

    # Counts the copies of a value that were there and still are, where they are among those sought.
    cdef void _seek(self, const Step* step) noexcept nogil:
        cdef size_t i
        for i in range(self.seekers.size()):
            if not has_null(&(<WindowFunction> self.seekers[i]).argument, step.val):
                self.sought[i] += min(step.old, step.new)

    cdef bint _found_sought(self) noexcept nogil:
        cdef size_t i
        for i in range(self.seekers.size()):
            if self.sought[i] < (<WindowFunction> self.seekers[i]).reach_values:
                return False
        return True

    cdef bint _measures_reach(self, const uint64_t* earlier, const uint64_t* later) noexcept nogil:
        cdef void* measure
        for measure in self.measures:
            if (<Measure> measure).reaches(earlier, later):
                return True
        return False

    # --- totals ---

    # Copies of a row that are too many to be laid out are an overflow; then one of them stands for all.
    cdef void _refuse_many(self) noexcept nogil:
        cdef size_t i
        for i in range(self.steps.size()):
            if self.steps[i].old > MOST_COPIES or self.steps[i].new > MOST_COPIES:
                note_overflow()
                self.steps[i].old = min(self.steps[i].old, <int64_t> 1)
                self.steps[i].new = min(self.steps[i].new, <int64_t> 1)

    # Lays the steps out as rows, old and new.
    cdef int _lay_out(self) except -1 nogil:
        cdef Step step
        self.old.clear()
        self.new.clear()
        self._refuse_many()
        for step in self.steps:
            if step.old > 0:
                self.old.append(step.val, step.old)
            if step.new > 0:
                self.new.append(step.val, step.new)
        self.old.close()
        self.new.close()
        return 0

    # Adds `sign` times the state of a stretch's rows, the old or the new ones.
    cdef int _add_rows(self, uint64_t* total, Stretch stretch, bint of_old, int64_t sign) except -1 nogil:
        cdef Step step
        cdef void* call
        cdef uint64_t* state
        cdef int64_t count
        total[0] += <uint64_t> (sign * stretch.length())
        total[1] += <uint64_t> (sign * (<int64_t> stretch.groups.size() - 1))
        for step in self.steps:
            count = step.old if of_old else step.new
            if count > 0:
                state = total + TOTALS
                for call in self.calls:
                    if (<WindowFunction> call).state_words > 0:
                        (<WindowFunction> call).add(state, step.val, sign * count)
                        state += (<WindowFunction> call).state_words
        return 0

    # Keeps the state of a large partition: of the rows before the stretch and the new ones in it.
    cdef int _keep_total(self, const uint64_t* key) except -1 nogil:
        cdef uint32_t held
        cdef uint64_t* total
        cdef int64_t rows = <int64_t> self.before[0] + self.new.length()
        if rows <= SMALL:
            held = self.totals.look_up(key)
            if held != 0:
                self.totals.remove(held - 1)
            return 0
        total = self.totals.state(self.totals.find(key))
        memcpy(total, self.before.data(), self.before.size() * sizeof(uint64_t))
        return self._add_rows(total, self.new, False, 1)

    # --- output ---

    # Emits the difference of the results of old and new rows that the change can reach.
    cdef int _emit_changes(self, const uint64_t* key, uint64_t time) except -1 nogil:
        cdef Step step
        cdef Py_ssize_t i = 0, j = 0, old_to, new_to
        cdef size_t s
        for s in range(self.from_step):
            i += self.steps[s].old
            j += self.steps[s].new
        old_to, new_to = i, j
        for s in range(self.from_step, self.to_step):
            old_to += self.steps[s].old
            new_to += self.steps[s].new
        self._evaluate(self.old, i, old_to, &self.old_results)
        self._evaluate(self.new, j, new_to, &self.new_results)
        for s in range(self.from_step, self.to_step):
            step = self.steps[s]
            if step.old + step.new == 1 or (step.old == 1 and step.new == 1):
                self._emit_single(key, time, &step, i, j)
            else:
                self._emit_copies(key, time, &step, i, j)
            i += step.old
            j += step.new
        return 0

    # Fills `results` with those of the rows from `first` to `last`, behind unused ones of the others.
    cdef int _evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                       vector[uint64_t]* results) except -1 nogil:
        cdef void* call
        cdef const uint64_t* state = self.before.data() + TOTALS
        results.clear()
        results.resize(last * self.stride, 0)
        if first == last:
            return 0
        s.rows_before = <int64_t> self.before[0]
        s.groups_before = <int64_t> self.before[1]
        for call in self.calls:
            (<WindowFunction> call).evaluate(s, first, last, state, results.data(), self.stride)
            state += (<WindowFunction> call).state_words
        return 0

    # Emits the step whose at most one old row is the i-th and whose at most one new row is the j-th.
    cdef int _emit_single(self, const uint64_t* key, uint64_t time, const Step* step, Py_ssize_t i,
                          Py_ssize_t j) except -1 nogil:
        cdef const uint64_t* was = self.old_results.data() + i * self.stride
        cdef const uint64_t* now = self.new_results.data() + j * self.stride
        if step.old and step.new and memcmp(was, now, self.stride * sizeof(uint64_t)) == 0:
            return 0
        if step.old:
            self._push(key, step.val, was, time, -1)
        if step.new:
            self._push(key, step.val, now, time, 1)
        return 0

    # Emits a value with copies, of which some may have the same results.
    cdef int _emit_copies(self, const uint64_t* key, uint64_t time, const Step* step, Py_ssize_t i,
                          Py_ssize_t j) except -1 nogil:
        cdef int64_t k
        cdef const uint64_t* change
        self.changes.length = 0
        for k in range(step.old):
            self._note(self.old_results.data() + (i + k) * self.stride, -1)
        for k in range(step.new):
            self._note(self.new_results.data() + (j + k) * self.stride, 1)
        if consolidate(&self.changes) < 0:
            self._no_memory()
        for k in range(self.changes.length):
            change = self.changes.words + k * self.changes.stride
            self._push(key, step.val, change, time, <int64_t> change[self.stride])
        return 0

    cdef int _note(self, const uint64_t* results, int64_t diff) except -1 nogil:
        cdef uint64_t* change = push(&self.changes)
        if change == NULL:
            self._no_memory()
        memcpy(change, results, self.stride * sizeof(uint64_t))
        change[self.stride] = <uint64_t> diff
        return 0

    cdef int _push(self, const uint64_t* key, const uint64_t* val, const uint64_t* results,
                   uint64_t time, int64_t diff) except -1 nogil:
        cdef uint64_t* update = push(&self.out)
        if update == NULL:
            self._no_memory()
        memcpy(update, key, self.reader.trace.key_words * sizeof(uint64_t))
        update += self.reader.trace.key_words
        memcpy(update, val, self.reader.trace.val_words * sizeof(uint64_t))
        update += self.reader.trace.val_words
        memcpy(update, results, self.stride * sizeof(uint64_t))
        update[self.stride] = time
        update[self.stride + 1] = <uint64_t> diff
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for the results of window functions")
