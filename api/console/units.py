"""Numbers and states as people read them: bytes, times, and how far it is what fills."""

from api.answers.base import Hydrated


def bytes_text(size: float) -> str:
    """Bytes in the largest unit of which there is one.

    >>> bytes_text(640), bytes_text(3 << 20)
    ('640 B', '3.0 MiB')
    """
    if size < 1024:
        return f"{size:,.0f} B"
    for unit in ("KiB", "MiB"):
        size /= 1024
        if size < 1024:
            return f"{size:,.1f} {unit}"
    return f"{size / 1024:,.1f} GiB"


def seconds_text(seconds: float) -> str:
    """A duration, in milliseconds below a second.

    >>> seconds_text(0.00123), seconds_text(75)
    ('1.230 ms', '75.0 s')
    """
    return f"{1000 * seconds:,.3f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def state_text(status: str, hydrated: Hydrated | None) -> str:
    """A status, with the percentage of what fills.

    >>> state_text("hydrating", Hydrated.part(3, 7)), state_text("running", None)
    ('hydrating 42%', 'running')
    """
    return status if hydrated is None else f"{status} {hydrated.percent}%"
