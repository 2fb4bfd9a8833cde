import pyarrow as pa

from ivm.rows.format import Format

def kind_of(type_: pa.DataType) -> int:
    """The kind of a type's words, as in layout.pxd (raises Unsupported)."""

def storage_of(type_: pa.DataType) -> int:
    """Give the physical type of a supported column in Arrow, as in layout.pxd."""

class Layout:
    """A layout maps columns to words of a row; raises Unsupported for a type or too many columns.

    Rows are in `form` if they have another format with NULL bits than that of a row.
    """

    def __init__(self, schema: pa.Schema, form: Format | None = None) -> None: ...
    @property
    def schema(self) -> pa.Schema: ...
    @property
    def words(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def masks(self) -> int: ...
    @property
    def direct(self) -> bool: ...
