"""The locks under which a pool's steps and changes exclude one another.

`threading.RLock` reads the clock whenever it is taken, which a pool does twice for each update and ten
times for a dataflow that comes and goes.
"""

from ivm.errors import PoolFailed

cdef extern from "<mutex>" namespace "std" nogil:
    cdef cppclass recursive_mutex:
        bint try_lock()
        void lock()
        void unlock()


cdef class Lock:
    """A re-entrant lock, as a context; whoever waits for it lets other threads run Python."""

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
    """A lock that nobody passes any more once `failure` says what went wrong.

    Entering it then raises PoolFailed.
    """

    cdef public str failure

    def __init__(self):
        self.failure = ""

    def try_enter(self):
        """Take it if it is free and nothing went wrong; whether it is now to be left."""
        if not self.mutex.try_lock():
            return False
        if self.failure:
            self.mutex.unlock()
            return False
        return True

    def leave(self):
        """Give back what `try_enter` took."""
        self.mutex.unlock()

    cdef int take(self) except -1:
        Lock.take(self)
        if self.failure:
            self.mutex.unlock()
            raise PoolFailed(self.failure)
        return 0


cdef class Both:
    """Two locks as one context, taken in this order."""

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
