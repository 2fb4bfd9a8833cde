import pyarrow as pa

from ivm.operators.aggregates.collect import Gathering

class ArrayAgg(Gathering):
    """Collects values as a list of type `type`; with `distinct`, each value once."""

    def __init__(self, *gathered: object, type: pa.DataType, distinct: bool) -> None: ...
