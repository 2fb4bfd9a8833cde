"""What rules know beside the plan."""

from collections.abc import Collection
from dataclasses import dataclass

from views.plan.trees import Numbers


@dataclass(frozen=True, slots=True)
class Context:
    """Fresh `numbers` for columns, and the `arrangements` that there are (`orders[id]`)."""

    numbers: Numbers
    arrangements: Collection[str] = ()
