"""The lock under which a pool's steps and changes exclude one another."""

import threading

from ivm.errors import PoolFailed


cdef class Gate:
    """A re-entrant lock that nobody passes any more once `failure` says what went wrong.

    Entering it then raises PoolFailed. Compiled, since it is passed twice for each update.
    """

    cdef public str failure
    cdef object acquire
    cdef object release

    def __init__(self):
        lock = threading.RLock()
        self.acquire = lock.acquire
        self.release = lock.release
        self.failure = ""

    def __enter__(self):
        self.acquire()
        if self.failure:
            self.release()
            raise PoolFailed(self.failure)

    def __exit__(self, kind, error, trace):
        self.release()
