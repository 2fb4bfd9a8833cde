# Threads that share what can be done in parts.

# Does the i-th part of something.
ctypedef int (*Task)(void* context, Py_ssize_t i) except -1 nogil

# Does all of so many parts, each once: the caller does, and up to `threads` - 1 helpers that are awake in time.
# Where one raises, some may not be done; one error is raised once all that were begun have ended. Within
# a part, and while another thread has the helpers, the caller does all.
cdef int share_work(Task task, void* context, Py_ssize_t parts, int threads) except -1 nogil
