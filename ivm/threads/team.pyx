"""A team of threads shares the parts of a step: each thread that is free takes the next part.

The caller takes parts as its helpers do. At the end it waits for the parts that helpers have begun, not
for helpers that have begun none: one that sleeps, or waits for a processor, costs nothing. A parallel loop
of OpenMP waits for each of its threads twice; with a busy process beside, a step took six times as long by
two threads as by one.

A helper that finds nothing to do stays awake for two milliseconds within a step that has shared something: to
wake it takes the caller longer than many a part does. After such a step it stays awake for a fifth of one if the
next one has come as soon lately, and else falls asleep: its waiting takes from the caller's pace where both
have one core of the machine. While it waits it lets others have the processor, the caller first of all. Helpers
need the GIL only to hand an error on.

A chore is done beside its caller, by helpers that have nothing else to do: the caller waits for it only when its
result is needed, and then does the parts that no helper has begun. It needs no GIL, and raises nothing.

A thread says where it notes overflows of counts: sums are made far below those who know whose they are. Threads
that share its work note them there as well.

There is one team, which one thread has at a time: one that shares a large step meanwhile does it alone.
"""


cdef extern from "team.hpp" namespace "ivm":
    cdef cppclass Team:
        int run(Task task, void* context, Py_ssize_t tasks, int threads) except -1 nogil
        void rest() noexcept nogil
        Chore* post(SafeTask task, void* context, Py_ssize_t parts, int threads) noexcept nogil
        void finish(Chore* chore) noexcept nogil
        void drop(Chore* chore) noexcept nogil
        bint is_over(const Chore* chore) noexcept nogil
    Team& team() noexcept nogil
    int* watch "ivm::watch_overflow"(int* flag) noexcept nogil
    void note "ivm::note_overflow"() noexcept nogil


cdef int share_work(Task task, void* context, Py_ssize_t parts, int threads) except -1 nogil:
    return team().run(task, context, parts, threads)


cdef int* watch_overflow(int* flag) noexcept nogil:
    return watch(flag)


cdef void note_overflow() noexcept nogil:
    note()


cdef void end_step() noexcept nogil:
    team().rest()


cdef Chore* begin_chore(SafeTask task, void* context, Py_ssize_t parts, int threads) noexcept nogil:
    return team().post(task, context, parts, threads)


cdef void end_chore(Chore* chore) noexcept nogil:
    team().finish(chore)


cdef void drop_chore(Chore* chore) noexcept nogil:
    team().drop(chore)


cdef bint is_over(const Chore* chore) noexcept nogil:
    return team().is_over(chore)
