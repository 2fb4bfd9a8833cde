from ivm.operators.base.operator import Operator, Reader

class TouchedGroups(Operator):
    """Evaluates the whole group of each touched key of `reader`'s trace."""

    @property
    def reader(self) -> Reader: ...
