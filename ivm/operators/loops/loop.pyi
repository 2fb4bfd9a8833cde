from ivm.operators.base.operator import Operator, Region
from ivm.rows.packing import Packing

class Enter(Operator):
    """The updates of an outer `source`, in the first round of a loop."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...

class EnterAt(Operator):
    """The updates of an outer `source`, in the first round of the priority in word `priority`."""

    def __init__(
        self, region: Region, row_words: int, source: Operator, packing: Packing, priority: int
    ) -> None: ...

class Variable(Operator):
    """What a loop's body reads of its own result, one round later."""

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
    """What `collect` gathered, at the times of the enclosing scope."""

    def __init__(self, region: Region, row_words: int, collect: Collect) -> None: ...
