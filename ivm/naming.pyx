"""Saying what memory was too short for. Compiled, since every call of a pool goes through it."""

from ivm.errors import OutOfMemory, out_of_memory


cdef class Naming:
    """A context that raises what runs out of memory within as OutOfMemory, by `kind` and `name`."""

    cdef str kind
    cdef str name

    def __init__(self, str kind, str name):
        self.kind = kind
        self.name = name

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        if isinstance(error, MemoryError) and not isinstance(error, OutOfMemory):
            raise out_of_memory(f"{self.kind} {self.name!r}", error) from error
