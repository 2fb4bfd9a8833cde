"""Makes one allocation of the engine fail, where `shortage.so` is preloaded (see `shortage.cc`)."""

import ctypes

_library = ctypes.CDLL(None)
_library.shortage_arm.argtypes = [ctypes.c_long]


def arm(n: int) -> None:
    """Let the n-th allocation from now on fail, once."""
    _library.shortage_arm(n)


def disarm() -> bool:
    """Let no allocation fail any more; whether one has."""
    return bool(_library.shortage_disarm())
