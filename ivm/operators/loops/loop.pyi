from ivm.operators.base.operator import Operator, Region
from ivm.rows.packing import Packing

class Enter(Operator):
    """Brings the updates of an outer `source` into the first round of a loop."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...

class EnterAt(Operator):
    """Brings outer updates into the first round of their priority, in word `priority`."""

    def __init__(
        self, region: Region, row_words: int, source: Operator, packing: Packing, priority: int
    ) -> None: ...

class Variable(Operator):
    """The loop variable: the result of the loop's body, one round later."""

    def __init__(self, region: Region, row_words: int) -> None: ...

class Feedback(Operator):
    """Hands `source`'s updates to `variable` for the next one of `rounds` (None: any number)."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        variable: Variable,
        rounds: int | None,
    ) -> None: ...

class Collect(Operator):
    """Gathers `source`'s updates of all rounds."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...

class Leave(Operator):
    """Emits the updates that `collect` gathered, at the times of the enclosing scope."""

    def __init__(self, region: Region, row_words: int, collect: Collect) -> None: ...
