"""Foresight: which plans tell, before they run, how much their stages put out.

A join of two arrangements that the pool has can count its pairs, and most other operators put out
about as much as they read. So a dataflow that reads little, by such stages alone, is little.
"""

from collections.abc import Sequence

from ivm.operators.accumulate import Accumulate, AccumulateNew
from ivm.operators.arrange import Arrange
from ivm.operators.capture import CaptureArranged, CaptureRows
from ivm.operators.concat import Concat
from ivm.operators.consolidate import Consolidate
from ivm.operators.exchange import Exchange
from ivm.operators.fallible import Evaluate, EvaluateNew, Settle
from ivm.operators.flatten import Flatten
from ivm.operators.join import Join
from ivm.operators.known import Known
from ivm.operators.project import Project
from ivm.operators.reduce import Reduce
from ivm.operators.select import Select
from ivm.render.building import Read, StagePlan

PUTS_OUT_WHAT_IT_READS = frozenset(
    {
        Accumulate,
        AccumulateNew,
        Arrange,
        CaptureArranged,
        CaptureRows,
        Concat,
        Consolidate,
        Evaluate,
        EvaluateNew,
        Exchange,
        Flatten,
        Known,
        Project,
        Reduce,
        Select,
        Settle,
    }
)


def foreseeable(stages: Sequence[StagePlan]) -> bool:
    """Whether what `stages` read tells before they run how much they put out."""
    return all(
        stage.kind in PUTS_OUT_WHAT_IT_READS or (stage.kind is Join and _reads_found(stage))
        for stage in stages
    )


def _reads_found(join: StagePlan) -> bool:
    """Whether the arrangements that `join` reads are there before it runs."""
    return all(argument.found for argument in join.arguments if isinstance(argument, Read))
