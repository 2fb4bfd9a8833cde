from ivm.operators.operator import Region
from ivm.workers.stage import Stage

class StageFailed(MemoryError):
    """Memory was too short for `stage`, one of the root's."""

    stage: Stage

    def __init__(self, stage: Stage, reason: str) -> None: ...

def run_step(region: Region, stages: list[Stage], lower: int, upper: int) -> None:
    """Run the root `stages` to completion on all updates at times from `lower` to below `upper`."""
