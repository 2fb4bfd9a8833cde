from collections.abc import Iterable

from ivm.operators.capture import Capture
from ivm.operators.curves import Curves
from ivm.operators.groups import Groups
from ivm.operators.input import Input
from ivm.rows.strings import Interner
from ivm.trace.trace import Trace

def sweep(
    interner: Interner,
    traces: Iterable[Trace],
    groups: Iterable[Groups],
    curves: Iterable[Curves],
    inputs: Iterable[tuple[Input, tuple[tuple[int, bool], ...]]],
    captures: Iterable[tuple[Capture, tuple[tuple[int, bool], ...]]],
) -> bool:
    """Release the strings that none of these uses; False, and nothing done, during a snapshot."""
