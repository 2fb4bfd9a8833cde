from collections.abc import Iterable

from ivm.operators.arranging.capture import Capture
from ivm.operators.arranging.input import Input
from ivm.operators.base.state_table import Groups
from ivm.operators.reductions.histories import Curves
from ivm.rows.interner import Interner
from ivm.trace.spine import Trace

def sweep(
    interner: Interner,
    traces: Iterable[Trace],
    groups: Iterable[Groups],
    curves: Iterable[Curves],
    inputs: Iterable[tuple[Input, tuple[tuple[int, bool], ...]]],
    captures: Iterable[tuple[Capture, tuple[tuple[int, bool], ...]]],
) -> bool:
    """Release the strings that none of these uses; False, and nothing done, during a snapshot."""
