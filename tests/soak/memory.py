"""The memory that this process holds."""

import ctypes
import gc
import resource
from pathlib import Path

import pyarrow as pa


def resident() -> int:
    """Bytes in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def resident_at_rest() -> int:
    """Bytes in memory once what is free, but kept for later, has been given back."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    return resident()
