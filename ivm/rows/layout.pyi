import pyarrow as pa

def kind_of(type_: pa.DataType) -> int:
    """The kind of a type's words, as in layout.pxd (raises Unsupported)."""

class Layout:
    """Which words of a row hold which column; raises Unsupported for a type or too many columns."""

    def __init__(self, schema: pa.Schema) -> None: ...
    @property
    def schema(self) -> pa.Schema: ...
    @property
    def words(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def has_mask(self) -> bool: ...
