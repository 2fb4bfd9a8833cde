"""Guesses: the type of one column, as far as it is known, and what is in doubt."""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Guess:
    """A column's type and whether it may be NULL; without a type no column can take the values.

    `doubt` says what to look at before relying on it, or why there is no type; empty if nothing.
    """

    dtype: pa.DataType | None
    is_nullable: bool
    doubt: str = ""

    def field(self, name: str) -> pa.Field:
        """The column so named; a guess without a type has none."""
        assert self.dtype is not None
        return pa.field(name, self.dtype, nullable=self.is_nullable)
