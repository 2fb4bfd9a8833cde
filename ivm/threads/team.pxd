# A team of threads shares a task's parts, and the place where overflows of counts are noted.

# Does part i of a task.
ctypedef int (*Task)(void* context, Py_ssize_t i) except -1 nogil

# Does all of so many parts, each once: the caller does, and the helpers that are awake in time, of which `threads` - 1
# are seen to. Where one raises, some may not be done; one error is raised once all that were begun have ended.
# Within a part, while another thread has the helpers, and of more than 65,535 parts, the caller does all. The GIL
# must not be held: a helper needs it to hand an error on.
cdef int share_work(Task task, void* context, Py_ssize_t parts, int threads) except -1 nogil


# Lets this thread note overflows of counts by setting `flag` to 1 (NULL: nowhere), and those that share work with it
# too, which read the place once for each part. Returns the place before.
cdef int* watch_overflow(int* flag) noexcept nogil

# Notes that a count has overflowed.
cdef void note_overflow() noexcept nogil


# Says that nothing is to be shared for the moment: helpers that have nothing to do may sleep.
cdef void end_step() noexcept nogil


# A chore: parts that helpers do while the caller that began it goes on.
cdef extern from *:
    """
    namespace ivm { struct Chore; }
    """
    cdef cppclass Chore "ivm::Chore"

# Does part i of a task that cannot fail.
ctypedef void (*SafeTask)(void* context, Py_ssize_t i) noexcept nogil

# Begins a chore of at least one part, done by up to `threads` - 1 helpers while the caller goes on. NULL where memory
# is short; then no part is begun.
cdef Chore* begin_chore(SafeTask task, void* context, Py_ssize_t parts, int threads) noexcept nogil

# Does what no helper has begun, waits for the rest, and frees the chore.
cdef void end_chore(Chore* chore) noexcept nogil

# Waits for what helpers have begun, and frees the chore; the rest is not done.
cdef void drop_chore(Chore* chore) noexcept nogil

# True once every part is done.
cdef bint is_over(const Chore* chore) noexcept nogil
