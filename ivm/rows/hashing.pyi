from collections.abc import Sequence

import pyarrow as pa

from ivm.rows.strings import Interner

def hash_of(
    values: Sequence[object], schema: pa.Schema, key: Sequence[int], interner: Interner
) -> int:
    """The hash of the columns at positions `key` of one row of Python values."""

def hash_of_first(values: Sequence[object], schema: pa.Schema, n: int, interner: Interner) -> int:
    """The hash of the first `n` columns of one row of Python values."""
