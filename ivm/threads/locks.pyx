"""Locks exclude a pool's steps and changes from one another.

`threading.RLock` reads the clock on every acquisition; a pool acquires twice for each update, and ten
times for a dataflow that is installed and dropped.
"""

from ivm.errors import PoolFailed

cdef extern from "<mutex>" namespace "std" nogil:
    cdef cppclass recursive_mutex:
        bint try_lock()
        void lock()
        void unlock()


cdef class Lock:
    """A re-entrant lock, as a context manager; a thread that waits for it releases the GIL."""

    cdef recursive_mutex mutex

    cdef int take(self) except -1:
        if not self.mutex.try_lock():
            with nogil:
                self.mutex.lock()
        return 0

    def __enter__(self):
        self.take()

    def __exit__(self, kind, error, trace):
        self.mutex.unlock()


cdef class Gate(Lock):
    """A gate is a lock that closes for good on a failure.

    Once `failure` is not empty, entering raises PoolFailed with that text.
    """

    cdef public str failure

    def __init__(self):
        self.failure = ""

    def try_enter(self):
        """Take the lock if it is free and has not failed; True if `leave` must follow."""
        if not self.mutex.try_lock():
            return False
        if self.failure:
            self.mutex.unlock()
            return False
        return True

    def leave(self):
        """Release the lock that `try_enter` took."""
        self.mutex.unlock()

    cdef int take(self) except -1:
        Lock.take(self)
        if self.failure:
            self.mutex.unlock()
            raise PoolFailed(self.failure)
        return 0


cdef class Both:
    """Two locks as one context manager, taken in this order."""

    cdef Lock first
    cdef Gate second

    def __init__(self, Lock first, Gate second):
        self.first = first
        self.second = second

    def __enter__(self):
        self.first.take()
        try:
            self.second.take()
        except BaseException:
            self.first.mutex.unlock()
            raise

    def __exit__(self, kind, error, trace):
        self.second.mutex.unlock()
        self.first.mutex.unlock()
