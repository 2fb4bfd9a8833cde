"""Whether a figure grows: by which part of its level it rises over the second half of a run."""

from collections.abc import Sequence

import numpy as np


def rise(figure: Sequence[float]) -> float:
    """By which part of its level a fitted line rises over the second half."""
    half = np.array(figure[len(figure) // 2 :])
    slope, _ = np.polyfit(np.arange(len(half)), half, 1)
    return float(slope * len(half) / half.mean())
