"""Deep stacks: work that recurses beyond Python's default runs on a thread with a stack for it.

Python's own bound on recursion is one for all threads, and so only one piece of work at a time has
a deep stack.

>>> def depth(n: int) -> int:
...     return n and 1 + depth(n - 1)
>>> on_deep_stack(lambda: depth(10_000))
10000
"""

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
_STACK_BYTES = 512 * 1024 * 1024  # of address space; only what is used takes memory
_FRAMES = 200_000  # of Python on that stack
_ONE_AT_A_TIME = threading.Lock()


def on_deep_stack(work: Callable[[], Answer]) -> Answer:
    """Run `work`, and give its answer (raises what it raises, RecursionError among them)."""
    outcome: list[Answer | BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    with _ONE_AT_A_TIME:
        frames, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
        sys.setrecursionlimit(max(frames, _FRAMES))
        try:
            thread = threading.Thread(target=run, name="deep")
            thread.start()
            thread.join()
        finally:
            threading.stack_size(stack)
            sys.setrecursionlimit(frames)
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result
