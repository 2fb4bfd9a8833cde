"""An ordered walk goes through the values of a group in order, to either side of a place.

The values lie in several batches, sorted by their words. Values that agree in their first `together` words,
whose order only their contents tell, are taken together, so that they can be sorted first. A subclass may
want more to be together.
"""

from libc.stdint cimport uint64_t
from libcpp.algorithm cimport reverse

from ivm.operators.reductions.touched_groups cimport Run, TouchedGroups, add_counts
from ivm.operators.aggregates.ordering cimport Candidate
from ivm.trace.batch cimport val_at
from ivm.trace.times cimport compare_words


cdef class OrderedWalk(TouchedGroups):
    """Walks through the present key's group; a subclass sets `ordering` and `together`."""

    # Starts a stretch before the first value that is taken together with `val`, or at the beginning.
    cdef int start_at(self, const uint64_t* val) except -1 nogil:
        cdef size_t i
        self.steps.clear()
        self.behind.assign(self.runs.begin(), self.runs.end())
        self.ahead.assign(self.runs.begin(), self.runs.end())
        for i in range(self.runs.size() if val != NULL else 0):
            self.ahead[i].val = self.place_in(&self.runs[i], val)
            self.behind[i].end = self.ahead[i].val
        return 0

    # Finds the first value of `run` that does not lie before those taken together with `val`.
    cdef Py_ssize_t place_in(self, const Run* run, const uint64_t* val) noexcept nogil:
        cdef Py_ssize_t low = run.val, high = run.end, middle
        while low < high:
            middle = (low + high) // 2
            if compare_words(val_at(run.batch, middle), val, self.together) < 0:
                low = middle + 1
            else:
                high = middle
        return low

    cdef bint lies_ahead(self, const uint64_t* val) noexcept nogil:
        cdef size_t i
        for i in range(self.ahead.size()):
            if self.ahead[i].val > self.runs[i].val and compare_words(
                    val, val_at(self.runs[i].batch, self.ahead[i].val - 1), self.together) <= 0:
                return False
        return True

    # The first value after the stretch, or NULL.
    cdef const uint64_t* first_ahead(self) noexcept nogil:
        cdef const uint64_t* val = NULL
        cdef Run run
        for run in self.ahead:
            if run.val < run.end and (val == NULL or compare_words(
                    val_at(run.batch, run.val), val, self.ordering.words) < 0):
                val = val_at(run.batch, run.val)
        return val

    # The last value before the stretch, or NULL.
    cdef const uint64_t* last_behind(self) noexcept nogil:
        cdef const uint64_t* val = NULL
        cdef Run run
        for run in self.behind:
            if run.val < run.end and (val == NULL or compare_words(
                    val_at(run.batch, run.end - 1), val, self.ordering.words) > 0):
                val = val_at(run.batch, run.end - 1)
        return val

    # Adds the next values that belong together to `steps`; False if there are none.
    cdef bint take_ahead(self, uint64_t time) except -1 nogil:
        cdef Step step
        cdef const uint64_t* head = self.first_ahead()
        cdef size_t first = self.steps.size(), i
        cdef Run* run
        step.val = head
        while step.val != NULL and compare_words(step.val, head, self.together) == 0:
            step.old = step.new = 0
            for i in range(self.ahead.size()):
                run = &self.ahead[i]
                if run.val < run.end and compare_words(
                        val_at(run.batch, run.val), step.val, self.ordering.words) == 0:
                    add_counts(run, time, self.region.lower, &step.old, &step.new)
                    run.val += 1
            self.add_step(&step)
            step.val = self.first_ahead()
        self.order_ties(first)
        return head != NULL

    # Adds the values before that belong together to `steps`, last first.
    cdef int take_behind(self, uint64_t time) except -1 nogil:
        cdef Step step
        cdef const uint64_t* head = self.last_behind()
        cdef size_t first = self.steps.size(), i
        cdef Run run
        step.val = head
        while step.val != NULL and compare_words(step.val, head, self.together) == 0:
            step.old = step.new = 0
            for i in range(self.behind.size()):
                run = self.behind[i]
                if run.val < run.end and compare_words(
                        val_at(run.batch, run.end - 1), step.val, self.ordering.words) == 0:
                    run.val = run.end - 1
                    add_counts(&run, time, self.region.lower, &step.old, &step.new)
                    self.behind[i].end -= 1
            self.add_step(&step)
            step.val = self.last_behind()
        reverse(self.steps.begin() + first, self.steps.end())
        self.order_ties(first)
        reverse(self.steps.begin() + first, self.steps.end())
        return 0

    cdef int add_step(self, Step* step) except -1 nogil:
        step.old = max(step.old, 0)
        step.new = max(step.new, 0)
        if step.old > 0 or step.new > 0:
            self.steps.push_back(step[0])
        return 0

    # Sorts the steps from `first` on, which ascend by their words.
    cdef int order_ties(self, size_t first) except -1 nogil:
        cdef size_t i = first, j, k
        if self.ordering.exact:
            return 0
        while i < self.steps.size():
            j = i + 1
            while j < self.steps.size() and compare_words(
                    self.steps[i].val, self.steps[j].val, self.ordering.exact_words) == 0:
                j += 1
            if j > i + 1:
                self.tied.clear()
                for k in range(i, j):
                    self.tied.push_back(Candidate(self.steps[k].val, k))
                self.ordering.sort(&self.tied)
                self.moved.clear()
                for k in range(j - i):
                    self.moved.push_back(self.steps[self.tied[k].count])
                for k in range(i, j):
                    self.steps[k] = self.moved[k - i]
            i = j
        return 0
