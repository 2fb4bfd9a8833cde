from collections.abc import Iterable

from ivm.operators.operator import Region
from ivm.workers.stage import Stage

def run_step(region: Region, stages: Iterable[Stage], lower: int, upper: int) -> None:
    """Run the root `stages` to completion on all updates at times from `lower` to below `upper`."""
