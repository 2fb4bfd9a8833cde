import pyarrow as pa

FORMS: dict[str, int]

def constant(content: bytes) -> Cells: ...

class Cells:
    def __init__(
        self,
        form: str,
        column: pa.Array | None = None,
        *,
        constant: bytes = b"",
        before: bytes = b"",
        absent: bytes | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
