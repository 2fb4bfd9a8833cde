import pyarrow as pa

def storage_of(type_: pa.DataType) -> int:
    """How Arrow stores columns of a supported type."""
