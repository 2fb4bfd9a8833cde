from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

KERNELS: dict[str, int]

class Objects:
    """Values of one type as Python objects and as words."""

    def __init__(self, type_: pa.DataType) -> None: ...

class Search:
    """A condition on texts that `function` decides for a vector at once: of Arrow's arrays."""

    def __init__(self, function: Callable[[pa.StringArray], pa.BooleanArray]) -> None: ...
    @property
    def function(self) -> Callable[[pa.StringArray], pa.BooleanArray]: ...

class Routine:
    """A Python function of any number of values; `strict`: it is not called where one is NULL."""

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[pa.DataType],
        result: pa.DataType,
        strict: bool,
    ) -> None: ...
    @property
    def function(self) -> Callable[..., Any]: ...
