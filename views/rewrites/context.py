"""The context of rules: fresh column numbers, and the arrangements that exist."""

from collections.abc import Collection
from dataclasses import dataclass

from views.plan.trees import Numbers


@dataclass(frozen=True, slots=True)
class Context:
    """Holds fresh `numbers` for columns, and the `arrangements` that exist (`orders[id]`)."""

    numbers: Numbers
    arrangements: Collection[str] = ()
