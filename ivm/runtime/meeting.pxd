from ivm.runtime.stage cimport Stage


# A stage that exchanges rows with its like in the other processes of a cluster.
cdef class Meeting(Stage):
    pass
