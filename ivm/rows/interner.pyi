class Interner:
    """The strings of one pool: equal strings have equal words."""

    def __init__(self) -> None: ...
    @property
    def bytes(self) -> int:
        """Bytes of the contents that are held, and of the table."""

    @property
    def count(self) -> int:
        """Strings that are held; those that fit into a word are not."""

    def open_snapshot(self) -> None:
        """Release no string until the snapshot is closed."""

    def close_snapshot(self) -> None:
        """Close one snapshot."""

    @property
    def snapshots(self) -> int:
        """Readers that hold words outside a step."""

def word_of(interner: Interner, content: bytes) -> int:
    """The word of `content`."""

def pinned_word_of(interner: Interner, content: bytes) -> int:
    """The word of `content`, which is kept as long as the interner."""
