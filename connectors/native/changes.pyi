from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connectors.native.tokens import Scanner

class Changes:
    tombstones: int
    def __init__(
        self,
        rule: str,
        is_keyed: bool,
        tree: Scanner,
        key_tree: Scanner | None,
        shapes: Sequence[tuple[dict[str, Any], int]],
        images: Sequence[tuple[int, list[int]]],
        marks: list[int],
        wrapping: tuple[int, ...],
        key_wrapping: tuple[int, ...],
        has_transactions: bool,
        unlogged: list[str | bytes],
    ) -> None: ...
    def read(
        self,
        values: Sequence[bytes | None],
        keys: Sequence[bytes | None] | None,
        start: int,
        stop: int,
        prefix: bytes,
        key_prefix: bytes,
    ) -> int: ...
    def rows(self) -> int: ...
    def column(self, index: int) -> tuple[int, list[bytes | None]]: ...
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def left_out(self) -> NDArray[np.int64]: ...
    def stamps(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64], list[str | None] | None]: ...
